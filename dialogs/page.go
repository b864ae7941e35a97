package dialogs

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
)

// page is one prompt as it is in the window, or waits to come back to it: it keeps what was typed into it
// for as long as its request is pending. The four kinds of prompt fill in what differs.
type page struct {
	entry *entry
	keys  *keyMap

	head    *head
	status  *widget.Label  // what the time-out means and when, or why a press did nothing
	problem *widget.Label  // what is wrong with the answer
	yes     *button        // the affirmative
	text    fyne.Focusable // the text: it has the focus when nothing else has
	object  fyne.CanvasObject
	scroll  *scrollArea // nil when the body does not scroll as a whole

	affirm  func()                      // gives the affirmative answer; the press has been found armed
	refuse  func()                      // gives the negative one
	unwind  func() bool                 // takes back one step, for Escape; false when there is none
	silence func(left string) string    // what happens when the time is over
	wanted  func(width float32) float32 // height of the body at which nothing scrolls
	first   fyne.Focusable              // has the focus first, in place of text
	seen    func() bool                 // the whole of what is to be judged has been in view
}

func newPage(e *entry, keys *keyMap, head *head) *page {
	p := &page{
		entry: e, keys: keys, head: head,
		status:  newLines("", theme.SizeNameCaptionText, widget.LowImportance),
		problem: newLines("", theme.SizeNameCaptionText, widget.DangerImportance),
		unwind:  func() bool { return false },
		seen:    func() bool { return true },
	}
	p.problem.Hide()
	return p
}

// assemble puts the page together: body between head and foot, in the order in which Tab goes round.
func (p *page) assemble(body, foot fyne.CanvasObject) {
	ground := column(0, newRule(), newSurface(colorSunken, padded(14, 18, foot)))
	p.object = container.New(pageLayout{}, body, ground, p.head.object)
	p.yes.onResize = p.object.Refresh
}

// scrolling makes a body that scrolls as a whole: the text, which has the focus first, and the rest under it.
func (p *page) scrolling(text fyne.CanvasObject, rest ...fyne.CanvasObject) fyne.CanvasObject {
	frame := newTextFrame(p.keys, padded(6, 8, text))
	content := column(14, frame)
	for _, o := range rest {
		content.Add(padded(0, 8, o))
	}
	scroll := container.NewVScroll(padded(12, 10, content))
	p.scroll = &scrollArea{scroll}
	frame.scroll = p.scroll
	p.text = frame
	p.wanted = func(width float32) float32 { return scroll.Content.MinSize().Height }
	return scroll
}

// reveal scrolls so far that what has got the focus is in view.
func (p *page) reveal(o fyne.CanvasObject) {
	if p.scroll != nil {
		p.scroll.reveal(o)
	}
}

// start is what has the focus first.
func (p *page) start() fyne.Focusable {
	if p.first != nil {
		return p.first
	}
	return p.text
}

// tick writes how much time is left. It only informs: the broker keeps the time.
func (p *page) tick(now time.Time) {
	deadline := p.entry.deadline()
	if deadline.IsZero() {
		p.say("")
		return
	}
	p.say(p.silence(clock(deadline.Sub(now))))
}

func (p *page) say(s string) {
	if p.status.Text != s {
		p.status.SetText(s)
	}
}

// complain says why the answer is not one; "" takes that back.
func (p *page) complain(s string) {
	p.problem.SetText(s)
	setVisible(p.problem, s != "")
	p.object.Refresh()
}

// hint says how to press the affirmative.
func (p *page) hint() string {
	if !p.seen() {
		return tr("read to the end first")
	}
	return affirmativeHint()
}

// clock writes a time that is left: 4:30, or 1:04:30.
func clock(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// pageLayout gives the head and the foot the height they need and the body the rest. The objects are body,
// foot, head: that is the order of Tab.
type pageLayout struct{}

// minBody is the least height of a body. With it a prompt fits a 900x600 screen at twice the size.
const minBody = 90

func (pageLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	body, foot, head := o[0].MinSize(), o[1].MinSize(), o[2].MinSize()
	return fyne.NewSize(
		max(body.Width, foot.Width, head.Width),
		max(body.Height, minBody)+foot.Height+head.Height,
	)
}

func (pageLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	body, foot, head := o[0], o[1], o[2]
	top := resizeToWidth(head, size.Width)
	bottom := resizeToWidth(foot, size.Width)
	head.Move(fyne.Position{})
	foot.Move(fyne.NewPos(0, size.Height-bottom))
	body.Move(fyne.NewPos(0, top))
	body.Resize(fyne.NewSize(size.Width, size.Height-top-bottom))
}

// The size of the window: as high as the prompt needs, within limits that suit a small screen.
const (
	pageWidth     = 640
	minPageHeight = 300
	maxPageHeight = 540
)

// size is the size at which the page looks best.
func (p *page) size() fyne.Size {
	p.object.Resize(fyne.NewSize(pageWidth, maxPageHeight))
	parts := p.object.(*fyne.Container).Objects
	height := p.wanted(pageWidth) + parts[1].MinSize().Height + parts[2].MinSize().Height
	return fyne.NewSize(pageWidth, min(max(height, minPageHeight), maxPageHeight))
}

// affirmative and negative name the chords on the buttons.
func affirmativeHint() string { return commandName() + "+Enter" }
func negativeHint() string    { return commandName() + "+D" }

func commandName() string {
	if commandKey() == fyne.KeyModifierSuper {
		return "⌘"
	}
	return "Ctrl"
}

// human is the start of every answer that the human gives.
func human(o interact.Outcome) interact.Answer {
	return interact.Answer{Outcome: o, By: interact.ByHuman}
}
