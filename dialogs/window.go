package dialogs

import (
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy/config"
)

// title is the window's title, whoever asks for whatever: no word of a requester gets into a title, where
// it could pass for the window system's own.
const title = "nod"

// window is the one window in which all prompts are shown, one at a time. It is made once and hidden
// between prompts. All of it belongs to the UI goroutine.
type window struct {
	p    *Prompter
	win  fyne.Window
	root *fyne.Container // holds the page; its layout notices when the window is resized
	arm  *arming

	undos  *undoRow
	column *queueColumn // beside the page, where there is room

	page *page  // nil when nothing is shown
	menu *layer // nil when none is open

	measuring bool      // the page is laid out only to learn its size
	settled   time.Time // until then the window manager may still change the window

	given   fyne.Size      // the size that nod, or the person, gave the window last
	byHand  fyne.Size      // the size that the person gave it last, also before nod was started; zero for none
	placing bool           // nod itself moves the focus: that says nothing about the window's
	left    fyne.Focusable // lost the focus just now; nobody knows yet whether the window did

	lastKey   fyne.KeyName   // went down last
	lastDown  time.Time      // when it did
	pressed   bool           // a key went down whose press has decided nothing yet
	byKeys    bool           // what a key does is under way
	pressedOn fyne.Focusable // had the focus when a key last went down
	typed     time.Time      // when a key last came to a field or a choice
	cutShort  time.Time      // when a prompt last ended by itself while the person was typing
	held      *keyHold
	heldUntil time.Time // if no key comes

	armTimer, tickTimer, holdTimer *time.Timer
}

func newWindow(p *Prompter) *window {
	w := &window{p: p, arm: newArming(p.now)}
	w.win = p.app.NewWindow(title)
	w.win.SetPadded(false)
	w.root = container.New(&watchSize{changed: w.resized})
	w.byHand = savedSize(p.app)
	w.win.SetContent(w.root)
	w.win.SetCloseIntercept(w.dismiss)
	w.installKeys()
	w.held = newKeyHold(w)
	w.column = newQueueColumn(w)
	w.undos = newUndoRow(w)
	return w
}

// warm lays out a prompt that nobody sees: it loads the fonts, which takes a while the first time.
func (w *window) warm() {
	body := interact.Approve{Tool: "warm", Input: []byte(`{"command":"true"}`)}
	w.measure(w.build(&entry{request: interact.Request{Body: body}}))
}

// watchSize fills its container, and tells when that changes size.
type watchSize struct {
	size    fyne.Size
	changed func()
}

func (l *watchSize) MinSize(objects []fyne.CanvasObject) fyne.Size { return fixed{}.MinSize(objects) }

func (l *watchSize) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	fixed{}.Layout(objects, size)
	if l.size != size {
		l.size = size
		l.changed()
	}
}

// update shows what the queue says: the current entry, or nothing. It is the only way in which the window
// changes to another prompt.
func (w *window) update() {
	e := w.p.queue.current
	if e == nil {
		w.hide()
		return
	}
	if w.shows(e) {
		w.page.renew()
		if w.sizeIsOurs() && w.column.decide(w.page.object.Size()) {
			w.changed()
		}
	} else {
		w.show(e)
	}
	if w.page.head.setPosition(w.p.queue.position()) {
		w.page.object.Refresh()
	}
	w.tick()
	w.rearm()
	w.release()
}

// endedByItself says that the person did not end the prompt that is in the window, so may be in the middle of a word,
// or about to press a button.
func (w *window) endedByItself() {
	if w.p.now().Sub(w.typed) < recently {
		w.cutShort = w.p.now()
	}
	if w.p.queue.current != nil {
		w.arm.block()
	}
}

// show puts an entry's page into the window, and the window on the screen.
func (w *window) show(e *entry) {
	w.closeMenu()
	if e.page == nil {
		e.page = w.build(e)
	}
	pg := e.page
	pg.renew()
	w.leave()
	wasInSight := w.page != nil && isOnScreen(w.win)
	w.page = pg
	w.put(pg)
	pg.head.setPosition(w.p.queue.position())
	size := w.measure(pg)
	w.column.decide(size)
	size = w.column.widen(size)
	w.root.Refresh()
	w.arm.begin(w.p.options.Config().ArmAfter, pg.own)
	if wasInSight {
		w.resize(size)
	} else {
		w.appear(size, w.takesFocus())
	}
	if w.win.Canvas().Focused() != w.column { // where the person goes through the queue
		w.focus(pg.start())
	}
	if w.p.now().Sub(w.cutShort) < recently {
		w.hold()
	}
	pg.noteShown(w.p.now())
}

// put puts a page into the window, with what is around it.
func (w *window) put(pg *page) {
	w.root.Objects = []fyne.CanvasObject{newWheel(w), w.held, w.column.with(w.undos.under(pg.object))}
}

// resize makes the window large enough for the prompt in it, but no smaller while it is in sight, where the buttons
// would move under the pointer. A size by the person's hand, or the window manager's, stays.
func (w *window) resize(wanted fyne.Size) {
	now := w.win.Canvas().Size()
	if !w.sizeIsOurs() || w.page.byHand != (fyne.Size{}) {
		return
	}
	if wanted = wanted.Max(now); sameSize(wanted, now) {
		return
	}
	w.settling()
	w.given = wanted
	keepCorner(w.win, func() { w.win.Resize(wanted) })
}

// handTime is how long after nod has resized the window, and it has settled, no size is taken for the person's.
const handTime = 2 * time.Second

// sameSize reports whether two sizes of a window, which has whole pixels, are the same.
func sameSize(a, b fyne.Size) bool {
	const rounding = 2
	return math.Abs(float64(a.Width-b.Width)) <= rounding && math.Abs(float64(a.Height-b.Height)) <= rounding
}

// resized follows a new size of the window. One that comes when nod has done nothing for a while is by the person's
// hand: before, it may be the window manager's, or be told late.
func (w *window) resized() {
	w.disturb()
	if w.page == nil || !w.inView() || w.sizeIsOurs() || w.p.now().Before(w.settled.Add(handTime)) {
		return
	}
	w.given, w.byHand = w.win.Canvas().Size(), w.page.object.Size()
	w.page.byHand = w.byHand
	saveSize(w.p.app, w.byHand)
}

// sizeIsOurs reports whether the window is as large as nod made it.
func (w *window) sizeIsOurs() bool {
	return sameSize(w.win.Canvas().Size(), w.given)
}

// fit lays the prompt out again after something in it has changed its size.
func (w *window) fit() {
	if w.page != nil {
		w.resize(w.column.widen(w.measure(w.page)))
		w.root.Refresh()
	}
}

// changed lays the prompt out again, and starts the wait again, because the person has changed something in it.
func (w *window) changed() {
	w.fit()
	w.disturb()
}

// measure learns the size at which the page looks best: as the person made the window while it showed this page; else
// as the person likes it, but large enough for the page, as far as the screen goes.
func (w *window) measure(pg *page) (size fyne.Size) {
	screen := w.p.screen(w.win)
	if pg.byHand != (fyne.Size{}) {
		return pg.byHand.Min(screen)
	}
	under := w.undos.height()
	least, most := usualSize, screenShare(screen, under)
	if w.byHand != (fyne.Size{}) {
		least = w.byHand.Min(screen).Max(fyne.NewSize(minPageWidth, leastHeight))
		most = most.Max(least)
	}
	w.unseen(func() { size = pg.size(least.Min(most), most) })
	size.Height += under
	return size
}

// unseen runs f, which lays something out only to learn its size: nobody sees that.
func (w *window) unseen(f func()) {
	before := w.measuring
	w.measuring = true
	f()
	w.measuring = before
}

// inView reports whether the human sees the page as it is laid out. A window that was just shown or resized
// may still get another size from the window manager, so it does not count at once.
func (w *window) inView() bool {
	return w.arm.visible && !w.measuring && !w.p.now().Before(w.settled)
}

// settling says that the window manager has something to do.
func (w *window) settling() { w.settled = w.p.now().Add(settleTime) }

// settleTime is how long a window manager takes at most to give a window its size.
const settleTime = 250 * time.Millisecond

// raise brings what the window shows before the person's eyes, if it shows anything.
func (w *window) raise() {
	switch {
	case w.page == nil:
	case isOnScreen(w.win):
		focusWindow(w.win)
	default:
		w.again(true)
	}
}

// again puts the window on the screen once more.
func (w *window) again(focus bool) {
	w.disturb()
	given := w.given
	w.appear(w.win.Canvas().Size(), focus) // which may be the person's
	w.given = given
}

// comeBack brings the window back when it is out of sight: a prompt that was minimized or left on another workspace
// must not hide those that come after it.
func (w *window) comeBack() {
	if w.page != nil && !isOnScreen(w.win) {
		w.again(w.takesFocus())
	}
}

// takesFocus reports whether a prompt that comes by itself takes the focus.
func (w *window) takesFocus() bool { return w.p.options.Config().Appear == config.AppearFocused }

// appear puts the window on the screen, also when it is minimized or on another workspace.
func (w *window) appear(size fyne.Size, focus bool) {
	HideWindow(w.win)
	w.settling()
	scale := w.win.Canvas().Scale()
	w.win.Resize(size)
	w.given = size
	w.win.CenterOnScreen()
	if top, ok := w.win.(desktop.Window); ok && w.p.options.Config().OnTop {
		top.RequestAlwaysOnTop()
	}
	showWindow(w.win, focus)
	if w.win.Canvas().Scale() != scale { // is known only once the window has been made
		size = w.column.widen(w.measure(w.page))
		w.given = size
		keepCorner(w.win, func() { w.win.Resize(size) })
	}
	w.settling() // again: the first time the window is made here, which takes a while
	w.arm.setVisible(true)
}

func (w *window) hide() {
	w.closeMenu()
	w.leave()
	w.page = nil
	w.column.shown = false
	w.held.Hide()
	w.win.Canvas().Unfocus() // a key that is held down must not reach what is gone
	w.root.Objects = nil
	w.arm.setVisible(false)
	w.setFocused(false) // GLFW does not tell of a window that loses the focus because it goes
	w.rearm()
	HideWindow(w.win)
}

// leave keeps what was typed into the page in the window, which another one takes the place of.
func (w *window) leave() {
	if w.page != nil {
		w.page.saveDraft()
	}
}

// build makes the page of an entry, with what was typed into an earlier one.
func (w *window) build(e *entry) *page {
	p := w.newPage(e)
	p.restore(w.p.options.Draft(e.request.ID))
	return p
}

// newPage makes the page of an entry by its kind.
func (w *window) newPage(e *entry) *page {
	h := newHead(w, e)
	switch b := e.request.Body.(type) {
	case interact.Approve:
		return newApprovePage(w, e, h, b)
	case interact.Confirm:
		return newConfirmPage(w, e, h, b)
	case interact.Form:
		return newFormPage(w, e, h, b)
	default:
		return newAskPage(w, e, h, b.(interact.Ask))
	}
}

// finish answers the page's request, unless a is no answer to it. A page that is no
// longer in the window, because its request ended a moment ago, decides nothing.
func (w *window) finish(pg *page, a interact.Answer) {
	if w.page != pg {
		return
	}
	if err := pg.entry.request.Check(a); err != nil {
		w.p.options.Log.Warn("prompt: answer refused", "id", pg.entry.request.ID, "err", err)
		pg.complain(tr("One answer isn't valid yet."))
		return
	}
	if a.Outcome == interact.Denied {
		pg.saveDraft() // it can be taken back
	}
	w.arm.block()
	w.p.answer(pg.entry, a)
}

// affirm is a press of the affirmative, by click or by chord.
func (w *window) affirm() {
	switch {
	case w.menu != nil:
		w.menu.affirm()
	case w.page == nil:
	default:
		w.decide(w.page.affirm)
	}
}

// affirmOtherwise is a press of the other affirmative, where there is one.
func (w *window) affirmOtherwise() {
	if w.menu == nil && w.page != nil && w.page.otherwise != nil {
		w.decide(w.page.affirmOtherwise)
	}
}

// decide is a press of an affirmative that works if it is armed.
func (w *window) decide(affirm func()) {
	switch {
	case w.page.refusing:
		w.refuse()
	case w.arm.press():
		affirm()
	default:
		w.sayTooFast()
		w.rearm()
	}
}

// sayTooFast says why a press decided nothing.
func (w *window) sayTooFast() {
	if w.arm.looked && !w.arm.seen {
		w.page.tell(tr("Not sent: read it to the end first."))
		return
	}
	w.page.tell(tr("Not sent: that was too fast. Press again."))
}

// refuse is a press of the negative.
func (w *window) refuse() {
	if w.mayRefuse() {
		w.closeMenu()
		w.page.refuse()
	}
}

// mayRefuse reports whether a press of a negative decides: always, but in the moment after another answer, of which it
// can only be an echo.
func (w *window) mayRefuse() bool {
	if w.page == nil {
		return false
	}
	if w.arm.isQuiet() {
		w.sayTooFast()
		return false
	}
	return true
}

// escape takes back one step; when there is none left, it closes the window.
func (w *window) escape() {
	switch {
	case w.menu != nil:
		w.closeMenu()
	case w.page == nil:
	case w.page.unwind():
		w.disturb()
	default:
		w.dismiss()
	}
}

// dismiss closes the prompt undecided.
func (w *window) dismiss() {
	if w.page == nil {
		HideWindow(w.win)
		return
	}
	if w.mayRefuse() {
		w.finish(w.page, human(interact.Dismissed, "the person closed the prompt without deciding"))
	}
}

// nextScope chooses the next thing that the affirmative keeps.
func (w *window) nextScope() {
	if w.page != nil && w.menu == nil && w.page.scope != nil && !w.page.refusing {
		w.page.scope()
	}
}

// step goes to the next or previous prompt.
func (w *window) step(by int) {
	w.p.queue.step(by)
	w.p.tellShowing()
	w.update()
}

// disturb starts the wait again because something in the window changed.
func (w *window) disturb() {
	w.arm.disturb()
	w.rearm()
}

// rearm makes the affirmative look as ready as it is, now and when that changes.
func (w *window) rearm() {
	stop(w.armTimer)
	if w.page == nil {
		return
	}
	if w.inView() {
		w.page.look()
		w.arm.look(w.page.read())
	}
	w.arm.hear()
	w.page.noteArmed(w.p.now(), w.arm.armed())
	w.page.yes.setReady(w.arm.armed(), w.note())
	if w.page.otherwise != nil {
		w.page.otherwise.setReady(w.arm.armed(), w.page.otherwise.hint)
	}
	if w.page.no != nil {
		w.page.no.setReady(!w.arm.isQuiet(), "")
	}
	left, possible := w.arm.remaining()
	for _, end := range []time.Time{w.settled, w.arm.quiet} {
		if wait := end.Sub(w.p.now()); wait > 0 {
			left, possible = wait, true
		}
	}
	if possible && left > 0 {
		w.armTimer = w.p.after(min(left, beat), w.rearm)
	}
}

// note is what the affirmative says of itself beside its name: why it does not work yet, or what was not shown.
func (w *window) note() string {
	switch unread := w.page.unread(); {
	case !w.arm.looked:
		return ""
	case !w.arm.seen:
		return tr("Read to the end first")
	case unread == 1:
		return tr("1 line unread")
	case unread > 1:
		return tr("{{.Lines}} lines unread", values{"Lines": unread})
	}
	return ""
}

// tick keeps the remaining time up to date, once a second.
func (w *window) tick() {
	stop(w.tickTimer)
	if w.page == nil {
		return
	}
	if w.arm.visible && !w.arm.focused {
		regainKeyboard(w.win)
	}
	w.page.tick(w.p.now())
	w.column.follow()
	w.undos.tick()
	w.tickTimer = w.p.after(time.Second, w.tick)
}

func stop(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

// focus moves the focus on nod's own account.
func (w *window) focus(f fyne.Focusable) {
	w.placing = true
	defer func() { w.placing = false }()
	w.win.Canvas().Focus(f)
	w.left = nil
}

// focusMoved hears of every widget that gets or loses the focus. Fyne tells it the widgets in the same way
// when the whole window gets or loses it, and tells the window nothing. The difference: within the window
// the loss is followed by a gain, or the canvas has no focus afterwards; when the window loses it the
// widget stays the focused one.
func (w *window) focusMoved(f fyne.Focusable, gained bool) {
	switch {
	case w.placing:
	case !gained:
		w.left = f
		w.p.later(func() { w.p.post(w.settleFocus) })
	default: // the window has got it, or it went from one widget to another
		if w.left == f { // the window lost it for so short a time that the loss was not yet looked into
			w.arm.setFocused(false)
		}
		w.left = nil
		w.setFocused(true)
		w.rearm()
	}
}

// setFocused takes note of whether the window has the focus.
func (w *window) setFocused(v bool) {
	if w.arm.focused != v {
		w.arm.setFocused(v)
		w.p.tell()
	}
}

// settleFocus finds out what a loss of focus was. The focus never stays nowhere, or nod would not hear when
// the window loses it.
func (w *window) settleFocus() {
	f := w.left
	w.left = nil
	switch {
	case f == nil:
	case w.win.Canvas().Focused() == f:
		w.setFocused(false)
		w.rearm()
	case w.win.Canvas().Focused() == nil && w.page != nil && w.menu == nil:
		w.focus(w.page.text)
	}
}

// scroll scrolls the text although something else has the focus.
func (w *window) scroll(ev *fyne.KeyEvent) {
	if w.page != nil && w.menu == nil {
		w.page.text.TypedKey(ev)
	}
}

// enter gives the focus to what has just appeared.
func (w *window) enter(f fyne.Focusable) { w.win.Canvas().Focus(f) }

// noteTyping says that the person types, or picks by key. Who types before they can have read the question types into
// something else, so the answer cannot be sent before they have paused.
func (w *window) noteTyping() {
	w.typed = w.p.now()
	if w.page != nil && w.page.own {
		w.disturb()
	}
}

func (w *window) reveal(o fyne.CanvasObject) {
	if w.page != nil {
		w.page.reveal(o)
	}
}

// shows reports whether the window shows the prompt of e. A key or a click can reach one that is over.
func (w *window) shows(e *entry) bool { return w.page != nil && w.page.entry == e }

// openMenu shows items under anchor, which belongs to the prompt of e. A line that is pressed when the menu is
// closed, because that prompt is over, does nothing.
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
	if w.menu == nil {
		return
	}
	w.win.Canvas().Overlays().Remove(w.menu)
	w.menu = nil
	w.arm.setVisible(w.page != nil)
	w.rearm()
}

// openQueue lists what waits, from the prompt of current.
func (w *window) openQueue(current *entry) {
	var items []menuItem
	snoozed := w.p.queue.snoozed()
	for _, e := range slices.Concat(slices.Concat(w.p.queue.groups()...), snoozed) {
		items = append(items, menuItem{
			text: prompt.SummaryOf(e.request), small: w.smallPrint(e), marked: e == current,
			parted: len(snoozed) > 0 && e == snoozed[0], do: func() { w.p.show(e) },
		})
	}
	items = append(items, menuItem{
		text: tr("Deny all from this session"), small: affirmativeHint(), danger: true, parted: true, decides: true,
		do: func() { w.denySession(current) },
	})
	w.openMenu(current, current.page.head.queue, items)
}

// smallPrint is the second line on an entry in the list.
func (w *window) smallPrint(e *entry) string {
	risk, _ := riskOf(e)
	return sessionName(e.request.Requester) + " · " + w.ageOf(e) + " · " + risk
}

// ageOf is how long a request has waited, or when the person is asked again.
func (w *window) ageOf(e *entry) string {
	if e.isSnoozed() {
		return tr("back at {{.Time}}", values{"Time": e.request.Snoozed.Format("15:04")})
	}
	return clock(w.p.now().Sub(e.request.Created))
}

// denySession denies every approval of the entry's session and closes its questions unanswered.
func (w *window) denySession(e *entry) {
	w.arm.block()
	others := slices.DeleteFunc(w.p.queue.ofSession(e), func(x *entry) bool { return x == e })
	for _, x := range append(others, e) { // which is in the window, so that none of the others gets there
		a := human(interact.Dismissed, "the person closed every prompt of this session")
		if x.request.Body.Kind() == interact.KindApprove {
			a = human(interact.Denied, "the person denied everything that this session was waiting for")
		}
		w.p.answer(x, a)
	}
}

// openMore shows the less common things to do with the prompt of e.
func (w *window) openMore(e *entry) {
	items := append(w.snoozeItems(e), w.otherPlaces(e)...)
	if text := elsewhere(e.request); text != "" {
		items = append(items, menuItem{
			text: text, small: affirmativeHint(), parted: true, decides: true,
			do: func() {
				const why = "nobody decided: the person leaves it to the agent, ask there"
				w.finish(e.page, human(interact.Dismissed, why))
			},
		})
	}
	if len(items) == 0 {
		w.page.tell(waitsUntil(e))
		return
	}
	w.openMenu(e, e.page.head.more, items)
}
