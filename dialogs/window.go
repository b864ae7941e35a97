package dialogs

import (
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy/config"
)

// title is the constant title of the window, because a requester's text in a title could look like the window system's.
const title = "nod"

// window is the one window that shows all prompts, one at a time. It is made once and hidden between prompts. Use it
// only on the UI goroutine.
type window struct {
	p    *Prompter
	win  fyne.Window
	root *fyne.Container // holds the page; its layout notices when the window is resized
	arm  *arming

	page *page  // nil while nothing is shown
	menu *layer // nil while none is open

	measuring bool      // the page is laid out only to measure it
	settlesAt time.Time // until then the window manager may still change the window

	lastSize    fyne.Size      // the size that the window last got from nod or the user
	userSize    fyne.Size      // the size that it last got from the user, also in an earlier process; zero for none
	movingFocus bool           // nod itself moves the focus: the window neither gets nor loses it
	lostFocus   fyne.Focusable // lost the focus just now, possibly because the window did

	lastKey       fyne.KeyName   // last key that went down
	lastKeyAt     time.Time      // when it went down
	pressed       bool           // a key went down that has not decided anything yet
	handlingKey   bool           // the action of a key is running
	pressedOn     fyne.Focusable // had the focus when a key last went down
	typedAt       time.Time      // when a key last reached a field or a choice
	interruptedAt time.Time      // when a prompt was last withdrawn while the user was typing
	keyHold       *keyHold
	holdUntil     time.Time                // unless more keys come
	typedShortcut func(fyne.Shortcut) bool // runs a chord: see [Chords]

	armTimer, tickTimer, holdTimer *time.Timer
	keyboardFree                   time.Time // since when no window has the keyboard; zero if one has it
}

func newWindow(p *Prompter) *window {
	w := &window{p: p, arm: newArming(p.now)}
	w.win = p.app.NewWindow(title)
	w.win.SetPadded(false)
	w.root = container.New(&watchSize{changed: w.resized})
	w.userSize = savedSize(p.app)
	w.win.SetContent(w.root)
	w.win.SetCloseIntercept(w.close)
	w.installKeys()
	w.keyHold = newKeyHold(w)
	onResize(w.win, func() { p.after(time.Second, w.regainSight) }) // the window manager goes first
	return w
}

type watchSize struct {
	fixed
	size    fyne.Size
	changed func()
}

func (l *watchSize) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	l.fixed.Layout(objects, size)
	if l.size != size {
		l.size = size
		l.changed()
	}
}

// update shows the current entry of the queue, or hides the window. Nothing else switches to another prompt.
func (w *window) update() {
	e := w.p.queue.current
	if e == nil {
		w.hide()
		return
	}
	if w.shows(e) {
		w.page.renew()
	} else {
		w.show(e)
	}
	if w.page.head.setPosition(w.p.queue.position()) {
		w.fit() // the head may need another row
	}
	w.tick()
	w.rearm()
	w.release()
}

// noteInterrupted records that the prompt in the window was withdrawn while the user may be typing.
func (w *window) noteInterrupted() {
	if w.p.now().Sub(w.typedAt) < recently {
		w.interruptedAt = w.p.now()
	}
	if w.p.queue.current != nil {
		w.arm.block()
	}
}

func (w *window) show(e *entry) {
	w.closeMenu()
	if e.page == nil {
		e.page = w.build(e)
	}
	pg := e.page
	pg.renew()
	w.saveDraft()
	wasInSight := w.page != nil && isOnScreen(w.win)
	w.page = pg
	w.root.Objects = []fyne.CanvasObject{newWheel(w.wheeled), w.keyHold, pg.object}
	pg.head.setPosition(w.p.queue.position())
	size := w.measure(pg)
	w.root.Refresh()
	after := w.p.options.Config().ArmAfter
	if pg.approval != nil && pg.approval.isRed() {
		after = max(after, redArmAfter)
	}
	w.arm.begin(after, pg.ownAnswer)
	if wasInSight {
		w.resize(size)
	} else {
		w.appear(size, w.takesFocus())
	}
	w.focus(pg.start())
	if w.p.now().Sub(w.interruptedAt) < recently {
		w.hold()
	}
	if pg.shownAt.IsZero() {
		pg.shownAt = w.p.now()
	}
}

// resize makes the window large enough for its prompt, but not smaller while it is visible, since that would move the
// buttons under the pointer. A size from the user or the window manager stays.
func (w *window) resize(wanted fyne.Size) {
	now := w.win.Canvas().Size()
	if !w.hasLastSize() || w.page.userSize != (fyne.Size{}) {
		return
	}
	if wanted = wanted.Max(now); sameSize(wanted, now) {
		return
	}
	w.startSettling()
	w.lastSize = wanted
	keepCorner(w.win, func() { w.win.Resize(wanted) })
}

// handTime is how long after a change by nod a new size does not count as the user's.
const handTime = 2 * time.Second

func sameSize(a, b fyne.Size) bool {
	const rounding = 2
	return math.Abs(float64(a.Width-b.Width)) <= rounding && math.Abs(float64(a.Height-b.Height)) <= rounding
}

// resized handles a new size of the window: the user's, if nod has changed nothing for a while.
func (w *window) resized() {
	w.disturb()
	if w.page == nil || !w.inView() || w.hasLastSize() || w.p.now().Before(w.settlesAt.Add(handTime)) {
		return
	}
	w.lastSize, w.userSize = w.win.Canvas().Size(), w.page.object.Size()
	w.page.userSize = w.userSize
	saveSize(w.p.app, w.userSize)
}

func (w *window) hasLastSize() bool {
	return sameSize(w.win.Canvas().Size(), w.lastSize)
}

func (w *window) fit() {
	if w.page != nil {
		w.resize(w.measure(w.page))
		w.root.Refresh()
	}
}

// changed lays the prompt out again and restarts the wait after a change by the user.
func (w *window) changed() {
	w.fit()
	w.disturb()
}

// measure returns the best size for the page: the user's for this page, or the preferred one, enlarged to fit.
func (w *window) measure(pg *page) (size fyne.Size) {
	screen := w.p.screen(w.win)
	if pg.userSize != (fyne.Size{}) {
		return pg.userSize.Min(screen)
	}
	least, most := usualSize, screenShare(screen)
	if w.userSize != (fyne.Size{}) {
		least = w.userSize.Min(screen).Max(fyne.NewSize(minPageWidth, leastHeight))
		most = most.Max(least)
	}
	w.offscreen(func() { size = pg.size(least.Min(most), most) })
	return size
}

func (w *window) offscreen(f func()) {
	before := w.measuring
	w.measuring = true
	f()
	w.measuring = before
}

// inView reports whether the user sees the page as it is laid out. Just after the window was shown or resized the
// answer is no, since the window manager may still change its size.
func (w *window) inView() bool {
	return w.arm.visible && !w.measuring && !w.p.now().Before(w.settlesAt)
}

func (w *window) startSettling() { w.settlesAt = w.p.now().Add(settleTime) }

// settleTime is the longest time that a window manager takes to size a window.
const settleTime = 250 * time.Millisecond

func (w *window) raise() {
	switch {
	case w.page == nil:
	case isOnScreen(w.win):
		focusWindow(w.win)
	default:
		w.showAgain(true)
	}
}

func (w *window) showAgain(focus bool) {
	w.disturb()
	given := w.lastSize
	w.appear(w.win.Canvas().Size(), focus) // the size may be the user's
	w.lastSize = given
}

// restore shows the window again if it is minimized or on another workspace, so that it does not hide later prompts.
func (w *window) restore() {
	if w.page != nil && !isOnScreen(w.win) {
		w.showAgain(w.takesFocus())
	}
}

// regainSight shows the window anew if the screen has become so small that a part of it is outside.
func (w *window) regainSight() {
	if w.page != nil && isOnScreen(w.win) && !isInside(w.win) {
		w.closeMenu()
		w.disturb()
		w.appear(w.measure(w.page), w.arm.focused)
	}
}

func (w *window) takesFocus() bool { return w.p.options.Config().Appear == config.AppearFocused }

func (w *window) appear(size fyne.Size, focus bool) {
	HideWindow(w.win)
	w.startSettling()
	scale := w.win.Canvas().Scale()
	w.win.Resize(size)
	w.lastSize = size
	CenterOnScreen(w.win)
	if top, ok := w.win.(desktop.Window); ok && w.p.options.Config().OnTop {
		top.RequestAlwaysOnTop()
	}
	showWindow(w.win, focus)
	if w.win.Canvas().Scale() != scale { // the scale is known only once the window exists
		size = w.measure(w.page)
		w.lastSize = size
		w.win.Resize(size)
	}
	center(w.win, size)
	w.startSettling() // again: showing it the first time takes a while
	w.arm.setVisible(true)
}

func (w *window) hide() {
	w.closeMenu()
	w.saveDraft()
	w.page = nil
	w.keyHold.Hide()
	w.win.Canvas().Unfocus() // a key that is held down must not reach a removed widget
	w.root.Objects = nil
	w.arm.setVisible(false)
	w.setFocused(false) // GLFW does not report that a window loses the focus by being hidden
	w.rearm()
	HideWindow(w.win)
}

// saveDraft saves the draft of the current page, before another one replaces it.
func (w *window) saveDraft() {
	if w.page != nil {
		w.page.saveDraft()
	}
}

func (w *window) build(e *entry) *page {
	p := newPage(w, e)
	switch b := e.request.Body.(type) {
	case interact.Approve:
		newApprovePage(p, b)
	case api.Confirm:
		newConfirmPage(p, b)
	case api.Form:
		newFormPage(p, b, nil)
	default:
		newAskPage(p, b.(api.Ask))
	}
	p.restore(w.p.options.Draft(e.request.ID))
	return p
}

// finish answers the request of a page. If the answer is invalid, it shows that on the page instead. A page that is no
// longer in the window decides nothing, since its request has ended.
func (w *window) finish(pg *page, a interact.Answer) {
	if w.page != pg {
		return
	}
	if err := pg.entry.request.Check(a); err != nil {
		w.p.options.Log.Warn("prompt: answer refused", "id", pg.entry.request.ID, "err", err)
		pg.setProblem(tr("Not every answer is valid yet."))
		return
	}
	w.arm.block()
	w.p.answer(pg.entry, a)
}

func (w *window) affirm() {
	switch {
	case w.menu != nil:
		w.menu.press(affirmativeHint())
	case w.page == nil:
	default:
		w.decide(w.page.kind.affirm)
	}
}

func (w *window) affirmAlternative() {
	if w.menu == nil && w.page != nil && w.page.approval != nil && w.page.approval.alternative != nil {
		w.decide(func() { w.page.approval.carryOut(w.page.approval.letEditsPass) })
	}
}

func (w *window) decide(affirm func()) {
	switch {
	case w.page.refusing:
		w.refuse()
	case w.arm.press():
		affirm()
	default:
		w.explainTooFast()
		w.rearm()
	}
}

func (w *window) explainTooFast() {
	if w.arm.checked && !w.arm.seen {
		w.page.showNotice(tr("Not sent: read it to the end first."))
		return
	}
	w.page.showNotice(tr("Not sent: that was too fast. Press again."))
}

func (w *window) refuse() {
	if w.mayRefuse() && (w.menu == nil || !w.menu.press(negativeHint())) {
		w.closeMenu()
		w.page.kind.refuse()
	}
}

// mayRefuse reports whether a press of the negative decides. It does not right after another answer, for which it may
// have been meant.
func (w *window) mayRefuse() bool {
	if w.page == nil {
		return false
	}
	if w.arm.isQuiet() {
		w.explainTooFast()
		return false
	}
	return true
}

func (w *window) escape() {
	switch {
	case w.menu != nil:
		w.closeMenu()
	case w.page == nil:
	case w.page.kind.stepBack():
		w.disturb()
	default:
		w.dismiss()
	}
}

// close closes an open menu and then does what Escape does: it asks before it discards an answer.
func (w *window) close() {
	w.closeMenu()
	if w.page == nil {
		HideWindow(w.win)
		return
	}
	w.escape()
}

func (w *window) dismiss() {
	if w.mayRefuse() {
		w.finish(w.page, userAnswer(api.Dismissed, "the user closed the prompt without deciding"))
	}
}

// onApproval returns do for the approval in the window, if nothing covers it.
func (w *window) onApproval(do func(*approvePage)) func() {
	return func() {
		if w.page != nil && w.menu == nil && w.page.approval != nil && !w.page.refusing {
			do(w.page.approval)
		}
	}
}

func (w *window) step(by int) {
	w.p.queue.step(by)
	w.p.notifyShowing()
	w.update()
}

func (w *window) disturb() {
	w.arm.disturb()
	w.rearm()
}

// rearm shows whether the affirmative is armed, now and whenever that changes.
func (w *window) rearm() {
	stop(w.armTimer)
	if w.page == nil {
		return
	}
	now := w.p.now() // once: a wait that ends meanwhile must still get its timer
	if w.inView() {
		w.arm.setSeen(w.page.isRead())
	}
	w.arm.heartbeat()
	if w.arm.armed() && w.page.armedAt.IsZero() {
		w.page.armedAt = w.p.now()
	}
	w.page.yes.setReady(w.arm.armed(), w.note())
	if a := w.page.approval; a != nil && a.alternative != nil {
		a.alternative.setReady(w.arm.armed(), a.alternative.hint)
	}
	if w.page.no != nil {
		w.page.no.setReady(!w.arm.isQuiet(), "")
	}
	left, possible := w.arm.remaining()
	for _, end := range []time.Time{w.settlesAt, w.arm.quietUntil} {
		if wait := end.Sub(now); wait > 0 {
			left, possible = wait, true
		}
	}
	if possible && left > 0 {
		w.armTimer = w.p.after(min(left, beat), w.rearm)
	}
}

// note returns the note on the affirmative: why it does not work yet, or how much was not shown.
func (w *window) note() string {
	unread := 0
	if w.page.approval != nil {
		unread = w.page.approval.input.block.unread
	}
	switch {
	case !w.arm.checked:
		return ""
	case !w.arm.seen:
		return tr("Read to the end first")
	case unread == 1:
		return tr("1 line unread")
	case unread > 1:
		return tr("{{.Lines}} lines unread", values{"Lines": prompt.Number(unread)})
	}
	return ""
}

// settling is how long after a disturbance the window checks once a second whether it needs the keyboard. Later it
// checks when the keyboard has moved.
const settling = 10 * time.Second

func (w *window) tick() {
	stop(w.tickTimer)
	if w.page == nil {
		return
	}
	next := w.page.tick(w.p.now())
	w.regainKeyboard()
	if !w.keyboardFree.IsZero() || !w.arm.focused && w.p.now().Sub(w.arm.since) < settling {
		next = time.Second
	}
	w.tickTimer = w.p.after(next, w.tick)
}

// regainKeyboard takes the keyboard if no other window has had it for a second: this one may have it and not have been
// told. Before that, the keyboard may be on its way to another window or, when the user changes the workspace, to one
// that is not visible yet.
func (w *window) regainKeyboard() {
	const onItsWay = time.Second
	free := w.arm.visible && !w.arm.focused &&
		isKeyboardFree(w.win, func() { w.p.after(onItsWay, w.tick) })
	switch now := w.p.now(); {
	case !free:
		w.keyboardFree = time.Time{}
	case w.keyboardFree.IsZero():
		w.keyboardFree = now
	case now.Sub(w.keyboardFree) >= onItsWay && takeKeyboard(w.win):
		w.setFocused(true)
		w.rearm()
	}
}

func stop(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

func (w *window) focus(f fyne.Focusable) {
	w.movingFocus = true
	defer func() { w.movingFocus = false }()
	w.win.Canvas().Focus(f)
	w.lostFocus = nil
}

// focusMoved is called when a widget gets or loses the focus. Fyne reports it to the widget in the same way when the
// whole window gets or loses the focus, and does not tell the window. The difference: within the window, a loss is
// followed by a gain, or the canvas has no focus afterwards; if the window loses it, the widget stays focused.
func (w *window) focusMoved(f fyne.Focusable, gained bool) {
	switch {
	case w.movingFocus:
	case !gained:
		w.lostFocus = f
		w.p.later(func() { w.p.post(w.settleFocus) })
	default: // the window got the focus, or it moved between widgets
		if w.lostFocus == f { // the window lost it so briefly that settleFocus has not run yet
			w.arm.setFocused(false)
		}
		w.lostFocus = nil
		w.setFocused(true)
		w.rearm()
	}
}

func (w *window) setFocused(v bool) {
	if w.arm.focused != v {
		w.arm.setFocused(v)
		w.p.options.Changed(v)
	}
}

// settleFocus finds out why a widget lost the focus. Some widget always has it, so nod learns from it whether the
// window has the focus.
func (w *window) settleFocus() {
	f := w.lostFocus
	w.lostFocus = nil
	switch {
	case f == nil:
	case w.win.Canvas().Focused() == f:
		w.setFocused(false)
		w.rearm()
		w.tick()
	case w.win.Canvas().Focused() == nil && w.page != nil && w.menu == nil:
		w.focus(w.page.text)
	}
}

func (w *window) enter(f fyne.Focusable) { w.win.Canvas().Focus(f) }

// noteTyping records that the user types, or picks by key. A user who is already typing may have meant another window
// and not read the question, so the answer cannot be sent before a pause.
func (w *window) noteTyping() {
	w.typedAt = w.p.now()
	if w.page != nil && w.page.ownAnswer {
		w.disturb()
	}
}

func (w *window) reveal(o fyne.CanvasObject) {
	if w.page != nil && w.page.column != nil {
		w.page.column.scroll.reveal(o)
	}
}

// shows reports whether the window shows the prompt of e. A key or a click may still reach an earlier one.
func (w *window) shows(e *entry) bool { return w.page != nil && w.page.entry == e }

// openMenu shows items under anchor in the prompt of e, unless that prompt has just ended.
func (w *window) openMenu(e *entry, anchor fyne.CanvasObject, items []menuItem) {
	if !w.shows(e) {
		return
	}
	w.closeMenu()
	w.menu = newLayer(w, anchor, items)
	w.win.Canvas().Overlays().Add(w.menu)
	w.menu.Resize(w.win.Canvas().Size())
	w.arm.setVisible(false)
	w.rearm()
	w.focus(w.menu.start())
	w.menu.scroll.reveal(w.menu.start())
}

func (w *window) closeMenu() {
	CloseMenus(w.win) // Fyne's own menu of a text must not cover the next prompt
	if w.menu == nil {
		return
	}
	w.menu = nil
	w.arm.setVisible(w.page != nil)
	w.rearm()
}

func (w *window) openQueue(current *entry) {
	var items []menuItem
	snoozed := slices.DeleteFunc(slices.Clone(w.p.queue.entries), func(e *entry) bool { return !e.isSnoozed() })
	for _, e := range append(w.p.queue.bySession(), snoozed...) {
		items = append(items, menuItem{
			text: prompt.SummaryOf(e.request), marked: e == current,
			small:  prompt.SessionOf(e.request.Requester) + " · " + w.ageOf(e) + " · " + riskOf(e),
			parted: len(snoozed) > 0 && e == snoozed[0], do: func() { w.p.show(e) },
		})
	}
	items = append(items, menuItem{
		text: tr("Deny all from this session"), chord: negativeHint(), danger: true, parted: true,
		do: func() { w.denySession(current) },
	})
	w.openMenu(current, current.page.head.queue, items)
}

func riskOf(e *entry) string {
	switch e.request.Body.Kind() {
	case api.KindApprove:
		// Looking through thirty of a megabyte each would take longer than the windows may hang.
		if e.said == nil && len(e.request.Body.(interact.Approve).Input) > maxGrantInput {
			return prompt.ClassName(e.why.Class)
		}
		if headlines, _ := e.view().Said(); len(headlines) > 0 {
			return headlines[0].Text
		}
		return e.view().Class.Text
	case api.KindConfirm:
		return tr("yes or no")
	case api.KindForm:
		return tr("form")
	}
	return tr("question")
}

func (w *window) ageOf(e *entry) string {
	if e.isSnoozed() {
		return tr("back at {{.Time}}", values{"Time": e.request.Snoozed.Format("15:04")})
	}
	age, _ := clock(w.p.now().Sub(e.request.Created))
	return age
}

func (w *window) denySession(e *entry) {
	w.arm.block()
	others := slices.DeleteFunc(w.p.queue.ofSession(e), func(x *entry) bool { return x == e })
	for _, x := range append(others, e) { // e last: it stays in the window, so that no other gets there
		a := userAnswer(api.Dismissed, "the user closed every prompt of this session")
		if x.request.Body.Kind() == api.KindApprove {
			a = userAnswer(api.Denied, "the user denied everything that this session was waiting for")
		}
		w.p.answer(x, a)
	}
}

func (w *window) openMore(e *entry) {
	items := w.snoozeItems(e)
	if s, isText := e.page.text.(*sheet); isText {
		items = append(items, menuItem{text: tr("Open in my editor"), parted: true, do: func() {
			if err := openText(s.original); err != nil {
				e.page.showNotice(err.Error())
			}
		}})
	}
	if text := elsewhere(e.request); text != "" {
		items = append(items, menuItem{
			text: text, chord: affirmativeHint(), parted: true,
			do: func() {
				if e.page.ownAnswer && e.page.kind.stepBack() {
					return
				}
				const why = "nobody decided: the user leaves it to the agent, ask there"
				w.finish(e.page, userAnswer(api.Dismissed, why))
			},
		})
	}
	if len(items) == 0 {
		w.page.showNotice(waitsUntil(e))
		return
	}
	w.openMenu(e, e.page.head.more, items)
}
