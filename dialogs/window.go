package dialogs

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/interact"
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
	keys *keyMap
	arm  *arming

	page  *page // nil when nothing is shown
	pages map[*entry]*page
	menu  *layer // nil when none is open

	measuring bool      // the page is laid out only to learn its size
	settled   time.Time // until then the window manager may still change the window

	given   fyne.Size      // the size that nod gave the window last
	placing bool           // nod itself moves the focus: that says nothing about the window's
	left    fyne.Focusable // lost the focus just now; nobody knows yet whether the window did

	armTimer, tickTimer *time.Timer
}

func newWindow(p *Prompter) *window {
	w := &window{p: p, arm: newArming(p.now), pages: map[*entry]*page{}}
	w.keys = &keyMap{
		affirm: w.affirm, refuse: w.refuse, escape: w.escape,
		next: func() { w.step(+1) }, previous: func() { w.step(-1) },
		scroll: w.scroll, relayout: w.fit, focus: w.focusMoved, reveal: w.reveal,
		enter: func(f fyne.Focusable) { w.win.Canvas().Focus(f) },
	}
	w.win = p.app.NewWindow(title)
	w.win.SetPadded(false)
	w.root = container.New(&watchSize{changed: w.disturb})
	w.win.SetContent(w.root)
	w.win.SetCloseIntercept(w.dismiss)
	w.keys.install(w.win.Canvas())
	return w
}

// warm lays out a prompt that nobody sees: it loads the fonts, which takes a while the first time.
func (w *window) warm() {
	e := &entry{requests: []interact.Request{{Body: interact.Approve{Tool: "warm", Input: []byte(`{"command":"true"}`)}}}}
	if pg, err := w.build(e); err == nil {
		w.measure(pg)
	}
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
	w.forget()
	e := w.p.queue.current
	if e == nil {
		w.hide()
		return
	}
	if w.page == nil || w.page.entry != e {
		w.show(e)
	}
	if w.page == nil || w.page.entry != e { // it could not be shown, and what comes next is already
		return
	}
	if w.page.head.setPosition(w.placeOf(e)) {
		w.page.object.Refresh()
	}
	w.page.renew()
	w.tick()
	w.rearm()
}

func (w *window) placeOf(e *entry) (place, of, same int) {
	place, of = w.p.queue.position()
	return place, of, len(e.requests)
}

// forget drops the pages of requests that are over.
func (w *window) forget() {
	for e := range w.pages {
		if w.p.queue.find(e.request().ID) != e {
			delete(w.pages, e)
		}
	}
}

// show puts an entry's page into the window, and the window on the screen.
func (w *window) show(e *entry) {
	w.closeMenu()
	pg, drafted := w.pages[e]
	if !drafted {
		var err error
		if pg, err = w.build(e); err != nil {
			w.p.fail(e, err)
			return
		}
		w.pages[e] = pg
	}
	pg.renew()
	w.page = pg
	w.root.Objects = []fyne.CanvasObject{pg.object}
	pg.head.setPosition(w.placeOf(e))
	size := w.measure(pg)
	w.root.Refresh()
	w.arm.begin(w.p.options.Config().ArmAfter)
	if w.arm.visible {
		w.resize(size)
	} else {
		w.appear(size)
	}
	w.focus(pg.start())
}

// resize makes the window as large as the next prompt wants it, unless the human or the window manager has
// given it another size than nod.
func (w *window) resize(wanted fyne.Size) {
	const rounding = 2 // a window has whole pixels
	now := w.win.Canvas().Size()
	if math.Abs(float64(now.Width-w.given.Width)) > rounding || math.Abs(float64(now.Height-w.given.Height)) > rounding {
		return
	}
	w.settling()
	w.win.Resize(wanted)
	w.given = wanted
}

// fit lays the prompt out again after something in it has changed its size.
func (w *window) fit() {
	if w.page != nil {
		w.resize(w.measure(w.page))
		w.root.Refresh()
	}
}

// measure learns the size at which the page looks best.
func (w *window) measure(pg *page) (size fyne.Size) {
	w.unseen(func() { size = pg.size() })
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

// appear puts the window on the screen.
func (w *window) appear(size fyne.Size) {
	w.settling()
	w.win.Resize(size)
	w.given = size
	w.win.CenterOnScreen()
	if top, ok := w.win.(desktop.Window); ok && w.p.options.Config().OnTop {
		top.RequestAlwaysOnTop()
	}
	w.win.Show()
	w.settling() // again: the first time the window is made here, which takes a while
	w.arm.setVisible(true)
}

func (w *window) hide() {
	w.closeMenu()
	w.page = nil
	w.root.Objects = nil
	w.arm.setVisible(false)
	w.arm.setFocused(false)
	w.rearm()
	w.win.Hide()
}

// build makes the page of an entry. A request that makes nod stumble must not take the program with it.
func (w *window) build(e *entry) (p *page, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	h := newHead(w.keys, e, w.openQueue, w.openMore)
	switch b := e.request().Body.(type) {
	case interact.Approve:
		return newApprovePage(w, e, h, b), nil
	case interact.Confirm:
		return newConfirmPage(w, e, h, b), nil
	case interact.Form:
		return newFormPage(w, e, h, b), nil
	case interact.Ask:
		return newAskPage(w, e, h, b), nil
	}
	return nil, fmt.Errorf("there is no prompt for %s", e.request().Body.Kind())
}

// finish gives a to everyone who waits for the page's entry, unless a is no answer to it. A page that is no
// longer in the window, because its request ended a moment ago, decides nothing.
func (w *window) finish(pg *page, a interact.Answer) {
	if w.page != pg {
		return
	}
	if err := pg.entry.request().Check(a); err != nil {
		pg.complain(err.Error())
		return
	}
	w.arm.answered()
	w.p.answer(pg.entry, a)
}

// affirm is a press of the affirmative, by click or by chord.
func (w *window) affirm() {
	switch {
	case w.menu != nil:
		w.menu.affirm()
	case w.page == nil:
	case w.arm.press():
		w.page.affirm()
	default:
		w.page.say(tr("Too early: nothing was sent. Read it first."))
		w.rearm()
	}
}

// refuse is a press of the negative.
func (w *window) refuse() {
	if w.page != nil && w.arm.refuse() {
		w.closeMenu()
		w.page.refuse()
	}
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
		w.win.Hide()
		return
	}
	if !w.arm.refuse() {
		return
	}
	a := human(interact.Dismissed)
	a.Reason = "the person closed the prompt without deciding"
	w.finish(w.page, a)
}

// step goes to the next or previous prompt.
func (w *window) step(by int) {
	w.p.queue.step(by)
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
		w.arm.look(w.page.seen())
	}
	w.page.yes.setReady(w.arm.armed(), w.hint())
	left, possible := w.arm.remaining()
	if wait := w.settled.Sub(w.p.now()); wait > 0 {
		left, possible = wait, true
	}
	if possible && left > 0 {
		w.armTimer = w.p.after(left, w.rearm)
	}
}

// hint says how to press the affirmative.
func (w *window) hint() string {
	if w.arm.looked && !w.arm.seen {
		return tr("read to the end first")
	}
	return affirmativeHint()
}

// tick keeps the remaining time up to date, once a second.
func (w *window) tick() {
	stop(w.tickTimer)
	if w.page == nil {
		return
	}
	w.page.tick(w.p.now())
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
	case w.left != nil && w.left != f: // it went from one widget to another
		w.left = nil
		w.arm.setFocused(true)
	default: // the window has got it, or lost it for so short a time that the loss was not yet looked into
		if w.left == f {
			w.arm.setFocused(false)
		}
		w.left = nil
		w.arm.setFocused(true)
		w.rearm()
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
		w.arm.setFocused(false)
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

func (w *window) reveal(o fyne.CanvasObject) {
	if w.page != nil {
		w.page.reveal(o)
	}
}

// openMenu shows items under anchor.
func (w *window) openMenu(anchor fyne.CanvasObject, items []menuItem) {
	w.closeMenu()
	w.menu = newLayer(w.keys, anchor, items, w.closeMenu)
	w.win.Canvas().Overlays().Add(w.menu)
	w.menu.Resize(w.win.Canvas().Size())
	w.arm.setVisible(false)
	w.rearm()
	w.focus(w.menu.items[0])
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

// openQueue lists what waits.
func (w *window) openQueue() {
	var items []menuItem
	for _, e := range w.p.queue.waiting() {
		items = append(items, menuItem{
			text: summaryOf(e.request()), small: w.smallPrint(e), marked: e == w.p.queue.current,
			do: func() { w.p.queue.show(e); w.update() },
		})
	}
	current := w.page.entry
	items = append(items, menuItem{
		text: tr("Deny all from this session"), small: affirmativeHint(), danger: true, parted: true, decides: true,
		do: func() { w.denySession(current) },
	})
	w.openMenu(w.page.head.queue, items)
}

// smallPrint is the second line on an entry in the list.
func (w *window) smallPrint(e *entry) string {
	r := e.request()
	s := agentOf(r.Requester) + " · " + tr("waits for {{.Time}}", values{"Time": clock(w.p.now().Sub(r.Created))})
	if len(e.requests) > 1 {
		s += " · " + tr("{{.Count}} times the same", values{"Count": len(e.requests)})
	}
	return s
}

// denySession denies every approval of the entry's session and closes its questions unanswered.
func (w *window) denySession(e *entry) {
	w.arm.answered()
	for _, x := range w.p.queue.ofSession(e) {
		a := human(interact.Dismissed)
		a.Reason = "the person closed every prompt of this session"
		if x.request().Body.Kind() == interact.KindApprove {
			a = human(interact.Denied)
			a.Reason = "the person denied everything that this session was waiting for"
		}
		w.p.answer(x, a)
	}
}

// openMore shows the less common things to do with the prompt.
func (w *window) openMore() {
	pg := w.page
	var items []menuItem
	for _, minutes := range []int{5, 15, 60} {
		items = append(items, menuItem{
			text: tr("Ask me again in {{.Minutes}} minutes", values{"Minutes": minutes}),
			do:   func() { w.p.snooze(pg.entry, time.Duration(minutes)*time.Minute) },
		})
	}
	if pg.entry.request().Body.Kind() == interact.KindApprove {
		items = append(items, menuItem{
			text: tr("Answer in the terminal instead"), small: affirmativeHint(), parted: true, decides: true,
			do: func() { w.handBack(pg) },
		})
	}
	w.openMenu(pg.head.more, items)
}

// handBack gives the request back undecided.
func (w *window) handBack(pg *page) {
	a := human(interact.Dismissed)
	a.Reason = "nobody decided: the person wants to answer in the terminal, ask there"
	w.finish(pg, a)
}
