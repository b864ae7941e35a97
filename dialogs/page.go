package dialogs

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

// kind is what kinds of prompts do differently. [page] does it as most of them do.
type kind interface {
	affirm()                    // gives the affirmative answer; called only while armed
	refuse()                    // gives the negative answer
	stepBack() bool             // undoes one step, for Escape; false if there is none
	bodyHeight() float32        // without scrolling
	firstFocus() fyne.Focusable // gets the focus first, if it is in view
}

// page is one prompt, shown or waiting to be shown again: it keeps what the user entered while its request is pending.
type page struct {
	kind  kind
	entry *entry
	w     *window

	approval *approvePage // of an approval; else nil

	head    *head
	status  *widget.Label     // the effect of the time-out and its time, or why a press did nothing
	problem *widget.Label     // why the answer is invalid
	note    fyne.CanvasObject // holds problem
	yes     *button           // the affirmative
	no      *button           // the negative

	foot        *foot
	margins     *layout.CustomPaddedLayout // around the foot
	compact     bool                       // for a small window
	userSize    fyne.Size                  // size that the user gave the window while it showed this page; zero for none
	noticeUntil time.Time                  // until then the status says why a press did nothing
	text        fyne.Focusable             // the text, which has the focus if nothing else has
	object      fyne.CanvasObject
	column      *lazyColumn // the body in rows, if it scrolls as a whole; else nil
	message     *scrollArea // the body, if the user must have seen it to its end; else nil
	messageRead bool        // they have

	ownAnswer bool      // a choice or text of the user, not just Allow or Yes
	shownAt   time.Time // when it was first on screen; zero: never
	armedAt   time.Time // when the affirmative was first armed; zero: never

	inputs       map[string]answerInput // by question, as in [draft]
	lastAnswered string                 // the question that was answered last, of several
	blank, saved []byte                 // the drafts of the unchanged page, and the one saved last
	draftDue     bool                   // the draft will be saved soon

	asked    bool // the user was asked whether to discard the answer: the next Escape does
	refusing bool // the user is writing the reason for a denial: nothing affirms meanwhile
}

func newPage(w *window, e *entry) *page {
	return &page{
		entry: e, w: w, head: newHead(w, e),
		status:  Lines("", theme.SizeNameCaptionText, widget.LowImportance),
		problem: Lines("", theme.SizeNameCaptionText, widget.DangerImportance),
		inputs:  map[string]answerInput{},
	}
}

func (p *page) refuse() {
	p.w.finish(p, userAnswer(api.Dismissed, "the user does not want to answer"))
}

func (p *page) stepBack() bool { return false }

func (p *page) bodyHeight() float32 { return p.column.scroll.Content.MinSize().Height }

func (p *page) firstFocus() fyne.Focusable { return p.text }

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

// sideMargin and footMargin are the same for every prompt, so that the affirmative does not move.
const sideMargin, footMargin = 16, 11

func (p *page) setCompact(v bool) {
	p.compact, p.foot.compact = v, v
	*p.margins = layout.CustomPaddedLayout{
		TopPadding: footMargin, BottomPadding: footMargin, LeftPadding: sideMargin, RightPadding: sideMargin,
	}
	if v {
		p.margins.TopPadding = 7
	}
	p.head.setCompact(v)
	if p.approval != nil {
		p.approval.setCompact(v)
	}
	p.setHints(!v)
}

func (p *page) setHints(v bool) {
	for _, o := range slices.Concat(p.foot.left, p.foot.right) {
		if b, ok := o.(*button); ok {
			b.setCompact(!v)
		}
	}
}

func (p *page) rows(text fyne.CanvasObject) *lazyColumn {
	c := newLazyColumn(0, 12, 10)
	frame := &textFrame{content: Padded(6, 8, text), scroll: c.scroll}
	frame.extend(frame, p.w)
	c.add(frame, frame.MinSize().Height)
	p.column, p.text = c, frame
	return c
}

func (p *page) start() fyne.Focusable {
	if p.column != nil && p.column.top(1)+leastAnswer > p.column.scroll.Size().Height {
		return p.text
	}
	return p.kind.firstFocus()
}

// leastAnswer is how much of the first option must be in view for it to get the focus instead of the question.
const leastAnswer = 60

// tick shows the remaining time, and returns when that changes. This is information only: the broker enforces the
// deadline.
func (p *page) tick(now time.Time) (next time.Duration) {
	if now.Before(p.noticeUntil) {
		return p.noticeUntil.Sub(now)
	}
	deadline := p.entry.request.Deadline
	if deadline.IsZero() {
		p.setStatus("", widget.LowImportance)
		return time.Hour
	}
	left, next := clock(deadline.Sub(now))
	p.setStatus(prompt.Silence(p.entry.request, left), widget.LowImportance)
	return next
}

func (p *page) setStatus(s string, importance widget.Importance) {
	if p.status.Text != s || p.status.Importance != importance {
		p.status.Importance = importance
		before := p.status.MinSize().Height
		p.status.SetText(s)
		if p.status.MinSize().Height != before {
			p.object.Refresh()
		}
	}
}

func (p *page) showNotice(s string) {
	const longEnough = 3 * time.Second
	p.noticeUntil = p.w.p.now().Add(longEnough)
	p.setStatus(s, widget.WarningImportance)
	p.w.p.after(longEnough, p.w.tick)
}

func (p *page) setProblem(s string) {
	p.problem.SetText(s)
	SetVisible(p.note, s != "")
	p.w.fit()
	if o, ok := p.w.win.Canvas().Focused().(fyne.CanvasObject); ok && p.w.page == p {
		p.w.reveal(o) // the note may have covered it
	}
}

// clock formats a time: 1:30, 4 min, 3 h. Seconds show only at the end: each change repaints the window. next is when
// the text changes.
func clock(d time.Duration) (text string, next time.Duration) {
	d = max(d, 0).Round(time.Second)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60), time.Second
	case d < 2*time.Hour:
		return tr("{{.N}} min", values{"N": int(d.Minutes())}), d%time.Minute + time.Second
	}
	return tr("{{.N}} h", values{"N": int(d.Hours())}), d%time.Hour + time.Second
}

// pageLayout gives head and foot the height they need and the body the rest. Its objects are in the order of Tab.
type pageLayout struct{ p *page }

const (
	// The minimum size of a window. At a scale of 2 it fits a screen of 800x600 pixels.
	minPageWidth = 360
	leastHeight  = 276
	slack        = 2   // rounding, to whole pixels
	roomyPage    = 420 // height of a page below which head and foot shrink if the body needs more room
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
		if size.Height-top-bottom+slack < l.p.kind.bodyHeight() {
			l.p.setCompact(true)
			top, bottom = resizeToWidth(head, size.Width), resizeToWidth(foot, size.Width)
		}
	}
	head.Move(fyne.Position{})
	foot.Move(fyne.NewPos(0, size.Height-bottom))
	setBounds(body, 0, top, fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
	l.p.noteMessage()
}

// noteMessage arms the affirmative once the end of the message is in view.
func (p *page) noteMessage() {
	if p.message != nil && !p.messageRead && p.w.page == p && p.w.inView() && p.message.isAtEnd() {
		p.w.rearm()
	}
}

func (p *page) size(least, most fyne.Size) fyne.Size {
	width := min(least.Width, most.Width)
	if p.approval != nil { // breaks no line of the input
		width = min(max(p.approval.input.block.text.natural()+2*sideMargin, least.Width), most.Width)
	}
	p.object.Resize(fyne.NewSize(width, most.Height))
	parts := p.object.(*fyne.Container).Objects
	height := p.kind.bodyHeight() + parts[1].MinSize().Height + parts[2].MinSize().Height
	height = max(height, p.object.MinSize().Height) // no window is smaller
	return fyne.NewSize(width, min(max(height, least.Height), most.Height))
}

func affirmativeHint() string { return CommandName() + "+Enter" }
func negativeHint() string    { return CommandName() + "+D" }

func CommandName() string {
	if runtime.GOOS == "darwin" {
		return "⌘"
	}
	return "Ctrl"
}

// userAnswer returns the beginning of the user's answer; reason is the text for the agent.
func userAnswer(o api.Outcome, reason string) interact.Answer {
	return interact.Answer{Outcome: o, By: api.ByHuman, Reason: reason}
}
