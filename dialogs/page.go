package dialogs

import (
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/interact"
)

// page is one prompt as it is in the window, or waits to come back to it: it keeps what was typed into it
// for as long as its request is pending. The four kinds of prompt fill in what differs.
type page struct {
	entry *entry
	w     *window

	head    *head
	status  *widget.Label     // what the time-out means and when, or why a press did nothing
	problem *widget.Label     // what is wrong with the answer
	note    fyne.CanvasObject // holds problem
	yes     *button           // the affirmative
	no      *button           // the negative

	otherwise       *button // another affirmative; nil for none
	affirmOtherwise func()  // gives that answer

	foot    *foot
	margins *layout.CustomPaddedLayout // around the foot
	compact bool                       // there is little room
	byHand  fyne.Size                  // that the person gave the window while it showed this; zero for none
	told    time.Time                  // until when the status says why a press did nothing
	text    fyne.Focusable             // the text: it has the focus when nothing else has
	object  fyne.CanvasObject
	column  *lazyColumn // the body in rows, when it scrolls as a whole; else nil
	scroll  *scrollArea // that of column

	own     bool      // the answer is the person's own: no allow, no yes
	shownAt time.Time // when it was first on screen; zero: it never was
	armedAt time.Time // when the affirmative first worked; zero: it never did

	blank, saved []byte // the draft of a page that is as it was made, and the one that is kept
	draftDue     bool   // it will be kept soon

	asked    bool // whether to discard the answer: the next Escape does
	refusing bool // the person writes why not: nothing affirms meanwhile

	affirm func()                      // gives the affirmative answer; the press has been found armed
	refuse func()                      // gives the negative one
	scope  func()                      // chooses the next thing that the affirmative keeps; nil when there is none
	unwind func() bool                 // takes back one step, for Escape; false when there is none
	wanted func(width float32) float32 // height of the body at which nothing scrolls
	// wantedWidth is the width at which no line of the body needs to be broken, of those that nobody wants broken.
	wantedWidth func() float32
	compactBody func(bool)             // has the body make do with little room
	first       func() fyne.Focusable  // has the focus first, in place of text, where it is in view
	renew       func()                 // follows what has changed outside since it was shown
	look        func()                 // takes note of what of it is in view now
	read        func() bool            // what must be read of it before the affirmative works has been in view
	unread      func() int             // lines that have not been in view
	inputs      map[string]answerInput // by question; see [draft]
	at          string                 // the question that the person has answered last, where there are several
	choice      func() *draftChoice    // how they are about to decide; nil where there is nothing to choose
	choose      func(draftChoice)      // has them be; nil where there is nothing to choose
	// said is what the journal keeps of what it says: facts, and the change of a file as a unified diff.
	said func() (facts []string, diff string)
}

func newPage(e *entry, w *window, head *head) *page {
	return &page{
		entry: e, w: w, head: head,
		status:      Lines("", theme.SizeNameCaptionText, widget.LowImportance),
		problem:     Lines("", theme.SizeNameCaptionText, widget.DangerImportance),
		unwind:      func() bool { return false },
		wantedWidth: func() float32 { return 0 }, compactBody: func(bool) {},
		renew:  func() {},
		look:   func() {},
		read:   func() bool { return true },
		unread: func() int { return 0 },
		inputs: map[string]answerInput{},
		choice: func() *draftChoice { return nil },
		said:   func() ([]string, string) { return nil, "" },
	}
}

// assemble puts the page together: body between head and foot, in the order in which Tab goes round.
func (p *page) assemble(body fyne.CanvasObject, f *foot) {
	p.note = Tight(p.problem)
	p.note.Hide()
	f.above = append([]fyne.CanvasObject{p.note}, f.above...)
	f.status = Tight(p.status)
	p.foot = f
	p.margins = &layout.CustomPaddedLayout{}
	ground := Column(0, Rule(), Surface(ColorSunken, container.New(p.margins, f.object())))
	p.setCompact(false)
	p.object = container.New(pageLayout{p}, body, ground, p.head.object)
	p.yes.onResize = p.object.Refresh
}

// sideMargin is at either side of everything in a page, footMargin under the buttons: the same for every prompt, so
// that the affirmative stays where it is.
const sideMargin, footMargin = 16, 11

// setCompact makes do with little room: smaller margins, and no hints on the buttons.
func (p *page) setCompact(v bool) {
	p.compact, p.foot.compact = v, v
	*p.margins = layout.CustomPaddedLayout{
		TopPadding: footMargin, BottomPadding: footMargin, LeftPadding: sideMargin, RightPadding: sideMargin,
	}
	if v {
		p.margins.TopPadding = 7
	}
	p.head.setCompact(v)
	p.compactBody(v)
	p.setHints(!v)
}

// setHints says whether there is room for the hints on the buttons.
func (p *page) setHints(v bool) {
	for _, o := range slices.Concat(p.foot.left, p.foot.right) {
		if b, ok := o.(*button); ok {
			b.setCompact(!v)
		}
	}
}

// rows makes a body of many parts that scrolls as a whole: the text, which has the focus first, and what is added to
// the column that it returns.
func (p *page) rows(text fyne.CanvasObject) *lazyColumn {
	frame := newTextFrame(p.w, Padded(6, 8, text))
	c := newLazyColumn(0, 12, 10)
	c.add(frame, frame.MinSize().Height)
	p.column, p.scroll, frame.scroll, p.text = c, c.scroll, c.scroll, frame
	p.wanted = func(float32) float32 { return c.scroll.Content.MinSize().Height }
	return c
}

// reveal scrolls so far that what has got the focus is in view.
func (p *page) reveal(o fyne.CanvasObject) {
	if p.scroll != nil {
		p.scroll.reveal(o)
	}
}

// start is what has the focus first.
func (p *page) start() fyne.Focusable {
	if p.first == nil || p.column != nil && p.column.top(1)+leastAnswer > p.scroll.Size().Height {
		return p.text
	}
	return p.first()
}

// leastAnswer is the height of the first option of a question that must be in view under it for the focus to start
// there: else the question is to be read first.
const leastAnswer = 60

// tick writes how much time is left. It only informs: the broker keeps the time.
func (p *page) tick(now time.Time) {
	if now.Before(p.told) {
		return
	}
	deadline := p.entry.request.Deadline
	if deadline.IsZero() {
		p.say("", widget.LowImportance)
		return
	}
	p.say(prompt.Silence(p.entry.request, clock(deadline.Sub(now))), widget.LowImportance)
}

func (p *page) say(s string, importance widget.Importance) {
	if p.status.Text != s || p.status.Importance != importance {
		p.status.Importance = importance
		p.status.SetText(s)
	}
}

// tell says, for long enough to be read, why a press did nothing.
func (p *page) tell(s string) {
	const longEnough = 3 * time.Second
	p.told = p.w.p.now().Add(longEnough)
	p.say(s, widget.WarningImportance)
}

// complain says why the answer is not one; "" takes that back.
func (p *page) complain(s string) {
	p.problem.SetText(s)
	setVisible(p.note, s != "")
	p.w.fit()
	if o, ok := p.w.win.Canvas().Focused().(fyne.CanvasObject); ok && p.w.page == p {
		p.reveal(o) // which the note may have covered
	}
}

// clock writes a time that is left or has passed, rounded down: 1:30, 4 min, 3 h. Seconds are only for the last two
// minutes: who reads needs no clock that ticks, and each change paints the whole window.
func clock(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	case d < 2*time.Hour:
		return tr("{{.N}} min", values{"N": int(d.Minutes())})
	}
	return tr("{{.N}} h", values{"N": int(d.Hours())})
}

// pageLayout gives the head and the foot the height they need and the body the rest. The objects are body,
// foot, head: that is the order of Tab.
type pageLayout struct{ p *page }

const (
	// The least size of a window. It fits a screen of 800x600 pixels at twice the size.
	minPageWidth = 360
	leastHeight  = 276
	slack        = 2   // rounding, to whole pixels
	roomyPage    = 420 // height of a page below which head and foot get out of the way of a body that wants more
)

func (pageLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(minPageWidth, leastHeight)
}

func (l pageLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	body, foot, head := o[0], o[1], o[2]
	l.p.setCompact(false)
	l.p.setHints(size.Width+slack >= usualSize.Width)
	top, bottom := resizeToWidth(head, size.Width), resizeToWidth(foot, size.Width)
	if size.Height < roomyPage {
		body.Resize(fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
		if size.Height-top-bottom+slack < l.p.wanted(size.Width) {
			l.p.setCompact(true)
			top, bottom = resizeToWidth(head, size.Width), resizeToWidth(foot, size.Width)
		}
	}
	head.Move(fyne.Position{})
	foot.Move(fyne.NewPos(0, size.Height-bottom))
	body.Move(fyne.NewPos(0, top))
	body.Resize(fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
}

// size is the size at which the page looks best: large enough for all of it, within two limits.
func (p *page) size(least, most fyne.Size) fyne.Size {
	width := min(max(p.wantedWidth(), least.Width), most.Width)
	p.object.Resize(fyne.NewSize(width, most.Height))
	parts := p.object.(*fyne.Container).Objects
	height := p.wanted(width) + parts[1].MinSize().Height + parts[2].MinSize().Height
	return fyne.NewSize(width, min(max(height, least.Height), most.Height))
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

// human is the start of every answer that the human gives; reason is what the agent reads of it.
func human(o interact.Outcome, reason string) interact.Answer {
	return interact.Answer{Outcome: o, By: interact.ByHuman, Reason: reason}
}
