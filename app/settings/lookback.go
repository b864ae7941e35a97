package settings

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/safetext"
	"nod/policy"
)

// Replay is what nod would have made of what agents did in the past.
type Replay struct {
	Transcripts, Calls int
	Asked              int // calls that nod would have asked about
	Always             int // of those asked: by a person who answers "always" where that is offered
	Rules              []Spared
	WithRules          int // calls that it would have asked about with all of Rules
}

// Spared is a rule to add, and how many prompts it would have spared.
type Spared struct {
	Rule   policy.Rule
	Spares int
}

// lookBack offers to look at the agents' own transcripts, and shows the rules that come of it. It looks only when
// the person says so; what it finds is forgotten with the window.
type lookBack struct {
	content *fyne.Container
	replay  func(ctx context.Context, progress func(part float64)) (Replay, error) // nil: nothing is offered
	aside   func(func())
	add     func(policy.Rule) error

	problem  *remark
	cancel   context.CancelFunc // nil while nothing is looked at
	bar      *widget.ProgressBar
	found    *Replay // nil until it was looked
	editable bool
}

func newLookBack(o Options, add func(policy.Rule) error, aside func(func())) *lookBack {
	l := &lookBack{content: dialogs.Column(14), replay: o.Replay, aside: aside, add: add, editable: true,
		problem: newRemark(widget.DangerImportance)}
	if l.replay == nil {
		l.content.Hide()
	}
	l.draw()
	return l
}

// enable follows the store: what cannot be saved must not look as if it could.
func (l *lookBack) enable(editable bool) {
	if editable != l.editable {
		l.editable = editable
		l.draw()
	}
}

func (l *lookBack) draw() {
	l.content.Objects = nil
	switch {
	case l.cancel != nil:
		l.content.Add(l.looking())
	case l.found != nil:
		l.content.Add(l.figures())
		l.content.Add(l.problem.content)
		for _, s := range l.found.Rules {
			l.content.Add(l.row(s))
		}
	default:
		l.content.Add(l.offer())
	}
	l.content.Refresh()
}

func (l *lookBack) offer() fyne.CanvasObject {
	look := widget.NewButtonWithIcon(lang.L("Look at what your agents did so far"), theme.SearchIcon(), l.look)
	no := quietButton(lang.L("No, thanks"), nil, l.content.Hide)
	return card(dialogs.Padded(12, 14, dialogs.Column(8,
		dialogs.Tight(dialogs.Lines(lang.L("Claude Code and Codex keep transcripts on this machine. nod can read them once, say how often it would have asked, and propose the few rules that would have spared most of that. Nothing is sent, run or kept."),
			theme.SizeNameText, widget.MediumImportance)),
		l.problem.content, container.NewHBox(look, no))))
}

func (l *lookBack) looking() fyne.CanvasObject {
	l.bar = widget.NewProgressBar()
	return card(dialogs.Padded(12, 14, dialogs.Column(8,
		muted(lang.L("Reading the transcripts…")), l.bar, container.NewHBox(widget.NewButton(lang.L("Stop"), l.stop)))))
}

// look reads the transcripts, which takes a while.
func (l *lookBack) look() {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	l.problem.say("")
	l.draw()
	bar, percent := l.bar, 0
	progress := func(part float64) { // comes often
		if now := int(100 * part); now > percent {
			percent = now
			fyne.Do(func() { bar.SetValue(part) })
		}
	}
	l.aside(func() {
		found, err := l.replay(ctx, progress)
		fyne.Do(func() { l.show(found, err) })
	})
}

// stop gives up looking.
func (l *lookBack) stop() {
	if l.cancel != nil {
		l.cancel()
	}
}

func (l *lookBack) show(found Replay, err error) {
	l.cancel()
	l.cancel = nil
	if err == nil {
		l.found = &found
	} else if !errors.Is(err, context.Canceled) {
		l.problem.complain(err)
	}
	l.draw()
}

// figures says what nod would have asked.
func (l *lookBack) figures() fyne.CanvasObject {
	f := l.found
	if f.Calls == 0 {
		return card(emptyRow(lang.L("There are no transcripts of Claude Code or Codex on this machine.")))
	}
	n := map[string]any{"Files": f.Transcripts, "Calls": f.Calls, "Asked": f.Asked, "Always": f.Always, "With": f.WithRules}
	words := dialogs.Column(4, bold(lang.L("nod would have asked about {{.Asked}} of {{.Calls}} calls", n)),
		muted(lang.L("In {{.Files}} transcripts. A person who answers “always” where that is offered would have been asked {{.Always}} times.", n)))
	if len(f.Rules) > 0 {
		words.Add(muted(lang.L("With all of the rules below it would have asked about {{.With}}. None is added unless you add it.", n)))
	} else {
		words.Add(muted(lang.L("No rule would have spared many of them.")))
	}
	return card(dialogs.Padded(12, 14, words))
}

func (l *lookBack) row(s Spared) fyne.CanvasObject {
	add := func() {
		err := l.add(s.Rule)
		l.problem.complain(err)
		if err == nil {
			l.drop(s)
		}
	}
	words := proposal(lang.L("Spares {{.Count}} prompts", map[string]any{"Count": s.Spares}), s.Rule)
	if examples := s.Rule.Examples.Match; len(examples) > 0 {
		words.Add(muted(lang.L("It would have decided:")))
		var lines []string
		for _, example := range examples {
			lines = append(lines, safetext.Line(example, maxExample))
		}
		words.Add(safeLines(lines))
	}
	words.Add(choices(l.editable, add, func() { l.drop(s) }))
	return card(dialogs.Padded(12, 14, words))
}

// drop takes a rule off the list.
func (l *lookBack) drop(s Spared) {
	l.found.Rules = slices.DeleteFunc(slices.Clone(l.found.Rules), func(o Spared) bool { return o.Rule.Equal(s.Rule) })
	l.draw()
}

// maxExample is how much is shown of an example.
const maxExample = 200

// safeLines lists the first of some texts that are safe to show.
func safeLines(texts []string) fyne.CanvasObject {
	list := dialogs.Column(3)
	for _, text := range texts[:min(len(texts), callsShown)] {
		l := dialogs.Lines(text, theme.SizeNameCaptionText, widget.MediumImportance)
		l.TextStyle.Monospace, l.Wrapping = true, fyne.TextWrapBreak
		list.Add(dialogs.Tight(l))
	}
	if more := len(texts) - callsShown; more > 0 {
		list.Add(muted(lang.L("and {{.Count}} more", map[string]any{"Count": more})))
	}
	return list
}
