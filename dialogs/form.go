package dialogs

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

type formPage struct {
	*page
	asks      bool // the answer to its only question is a text
	questions []*questionView
	rows      *lazyColumn // the title, and the questions
	initial   map[string]api.Value
}

func guessHeight(q api.Question) float32 {
	const line, option, perLine = 19, 48, 85
	return 100 + line*float32(len(q.Question)/perLine) + option*float32(min(len(q.Options), maxPlainChoices))
}

// newFormPage asks the questions of a form, or the only question of ask if that is not nil.
func newFormPage(p *page, b api.Form, ask *api.Ask) {
	f := &formPage{page: p, asks: ask != nil}
	p.kind = f
	for i, q := range b.Questions {
		v := newQuestionView(p.w, q, ask != nil && ask.Multiline)
		v.changed, v.next = f.touchedBy(v), func() { f.next(i) }
		f.questions, f.inputs[q.ID] = append(f.questions, v), v.answerInput
	}
	f.addRows(b.Title)
	f.assemble(f.rows.scroll.Scroll, f.questionFoot())
	f.initial = f.values()
}

// newAskPage asks one question, answered by choosing an option or with free text: a form whose answer is a text.
func newAskPage(p *page, b api.Ask) {
	q := api.Question{
		Question: b.Question, InputType: interact.Text, Placeholder: b.Placeholder, AllowOther: b.AllowOther,
	}
	for _, o := range b.Options {
		q.InputType, q.Options = interact.Choice, append(q.Options, api.Option{Label: o, Value: o})
	}
	newFormPage(p, api.Form{Questions: []api.Question{q}}, &b)
}

// questionFoot is the foot of a question or a form, with the buttons to decline and to submit.
func (p *page) questionFoot() *foot {
	p.ownAnswer = true
	p.yes = newDecision(p.w, tr("Submit"), affirmativeHint(), strongButton, p.w.affirm)
	p.yes.chordOnly = ""
	p.no = newDecision(p.w, tr("Decline"), negativeHint(), plainButton, p.w.refuse)
	return &foot{left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes}}
}

// stepBack asks once before an answer is lost, if the user has given one.
func (f *formPage) stepBack() bool {
	if f.asked || reflect.DeepEqual(f.initial, f.values()) {
		return false
	}
	f.asked = true
	f.setProblem(tr("Discard your answers? Press Esc or close again."))
	return true
}

func (f *formPage) addRows(title string) {
	all := f.questions
	isTitled := title != "" && (len(all) > 1 || title != all[0].question.Question)
	if isTitled {
		text := Lines(prompt.PlainText(title), theme.SizeNameSubHeadingText, widget.MediumImportance)
		text.TextStyle.Bold = true
		f.rows = f.page.rows(Tight(text))
	} else {
		f.rows = f.page.rows(all[0].words)
	}
	gap := float32(14)
	for i, v := range all {
		row, asked := Column(8, v.words, v.input), v.question
		if i == 0 && !isTitled {
			row, asked.Question = Column(0, v.input), ""
		}
		f.rows.add(container.New(layout.NewCustomPaddedLayout(gap, 0, 8, 8), row), gap+guessHeight(asked))
		gap = 24
	}
}

func (f *formPage) values() map[string]api.Value {
	values := make(map[string]api.Value, len(f.questions))
	for _, v := range f.questions {
		values[v.question.ID] = v.answer()
	}
	return values
}

func (f *formPage) next(i int) {
	if i+1 < len(f.questions) {
		f.goTo(f.questions[i+1])
		return
	}
	f.w.affirm()
}

func (f *formPage) firstFocus() fyne.Focusable {
	i := max(slices.IndexFunc(f.questions, func(v *questionView) bool { return v.question.ID == f.lastAnswered }), 0)
	if i > 0 {
		f.show(i)
	}
	return f.questions[i].focus()
}

func (f *formPage) affirm() {
	a := userAnswer(api.Answered, "")
	a.Values = f.values()
	var first *questionView
	missing := 0
	for _, v := range f.questions {
		err := interact.CheckValue(v.question, a.Values[v.question.ID])
		problem := ""
		if err != nil {
			problem, first = prompt.ProblemOf(v.question, err), cmp.Or(first, v)
		}
		v.setProblem(problem)
		if wrong, ok := errors.AsType[*interact.AnswerError](err); ok && wrong.Problem == "" {
			missing++
		}
	}
	switch {
	case first == nil && f.asks:
		a.Text, a.Values = strings.TrimSpace(strings.Join(a.Values[""].Items, "")), nil
		f.w.finish(f.page, a)
		return
	case first == nil:
		f.w.finish(f.page, a)
		return
	case f.asks: // which says it under its field
		f.w.fit()
	case missing > 0:
		f.setProblem(tr("Still missing: {{.Count}} of {{.All}} answers.", values{"Count": missing, "All": len(f.questions)}))
	default:
		f.setProblem(tr("Not every answer is valid yet."))
	}
	f.goTo(first)
}

func (f *formPage) touchedBy(v *questionView) func() {
	return func() {
		f.lastAnswered, f.asked = v.question.ID, false
		f.edited()
		if v.note.Visible() || f.note.Visible() {
			v.setProblem("")
			f.setProblem("")
		}
	}
}

func (f *formPage) goTo(v *questionView) {
	f.show(slices.Index(f.questions, v))
	f.w.win.Canvas().Focus(v.focus())
}

func (f *formPage) show(i int) {
	const opening = 1
	f.rows.show(opening + i)
}

type questionView struct {
	answerInput
	question api.Question
	hint     *widget.Label     // which answers are valid
	problem  *widget.Label     // why the answer is invalid, in place of the hint
	hintNote fyne.CanvasObject // holds hint
	note     fyne.CanvasObject // holds problem
	words    *fyne.Container   // the question
	input    *fyne.Container   // its input, and the hint
	answer   func() api.Value
	focus    func() fyne.Focusable // gets the focus
	changed  func()                // called when the user changes the answer
	next     func()                // goes on to the next question
}

func newQuestionView(w *window, q api.Question, multiline bool) *questionView {
	v := &questionView{
		question: q,
		hint:     Lines(prompt.HintOf(q), theme.SizeNameCaptionText, widget.LowImportance),
		problem:  Lines("", theme.SizeNameCaptionText, widget.DangerImportance),
	}
	v.hintNote, v.note = Tight(v.hint), Tight(v.problem)
	v.words = Column(8, v.heading(), Tight(newMarkdown(w, q.Question)))
	v.input = Column(8, v.widget(w, multiline), v.hintNote, v.note)
	v.setProblem("")
	return v
}

func (v *questionView) heading() fyne.CanvasObject {
	line := Row(8)
	if v.question.Header != "" {
		line.Add(Words(prompt.HeaderOf(v.question), theme.SizeNameCaptionText, theme.ColorNamePrimary).Bold())
	}
	if !v.question.IsRequired() {
		line.Add(Words(tr("optional"), theme.SizeNameCaptionText, ColorMuted))
	}
	SetVisible(line, len(line.Objects) > 0)
	return line
}

func (v *questionView) widget(w *window, multiline bool) fyne.CanvasObject {
	if v.question.InputType != interact.Choice {
		return v.textInput(w, multiline)
	}
	p := newPicker(w, v.question.Options, v.question.MultiSelect, v.question.OffersOther(), v.question.Placeholder)
	p.preselect(v.question.Default.Items)
	p.changed, p.next = func() { v.changed() }, func() { v.next() }
	v.answer = func() api.Value { return interact.ListValue(p.answers()...) }
	v.focus, v.answerInput = p.focusFirst, p
	return p.object
}

func (v *questionView) textInput(w *window, multiline bool) fyne.CanvasObject {
	f := newField(w, prompt.PlainText(v.question.Placeholder), multiline)
	f.SetText(spaced(interact.Clip(v.question.Default.String())))
	f.OnChanged = func(string) { v.changed() }
	if !multiline {
		f.onEnter(func() { v.next() })
	}
	v.answer = func() api.Value { return interact.TextValue(f.Text) }
	v.focus, v.answerInput = func() fyne.Focusable { return f }, f
	return f
}

func (v *questionView) setProblem(s string) {
	v.problem.SetText(s)
	SetVisible(v.note, s != "")
	SetVisible(v.hintNote, s == "" && v.hint.Text != "")
}
