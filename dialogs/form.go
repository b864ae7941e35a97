package dialogs

import (
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
)

// formPage asks one or more questions on one page.
type formPage struct {
	*page
	questions []*questionView
	rows      *lazyColumn // the title, and the questions
}

// guessHeight is about how high a question is.
func guessHeight(q interact.Question) float32 {
	const line, option, perLine = 19, 48, 85
	return 100 + line*float32(len(q.Question)/perLine) + option*float32(min(len(q.Options), maxPlainChoices))
}

func newFormPage(w *window, e *entry, h *head, b interact.Form) *page {
	f := &formPage{page: newPage(e, w, h)}
	title := Lines(plainText(b.Title), theme.SizeNameSubHeadingText, widget.MediumImportance)
	title.TextStyle.Bold = true
	switch {
	case b.Title == "" && len(b.Questions) == 1:
		title.SetText(tr("One question"))
	case b.Title == "":
		title.SetText(tr("{{.Count}} questions", values{"Count": len(b.Questions)}))
	}
	f.rows = f.page.rows(Tight(title))
	gap := float32(14)
	for _, q := range b.Questions {
		v := newQuestionView(w, q)
		v.changed = func() { f.forgive(v) }
		f.questions = append(f.questions, v)
		f.rows.add(container.New(layout.NewCustomPaddedLayout(gap, 0, 8, 8), v.object), gap+guessHeight(q))
		gap = 24
	}
	f.page.affirm = f.submit
	f.assemble(f.rows.scroll.Scroll, questionFoot(w, f.page))
	return f.page
}

// submit answers, or says what is still missing or wrong and goes to the first of it.
func (f *formPage) submit() {
	a := human(interact.Answered, "")
	a.Values = make(map[string]interact.Value, len(f.questions))
	var first *questionView
	missing := 0
	for _, v := range f.questions {
		answer := v.answer()
		a.Values[v.question.ID] = answer
		err := interact.CheckValue(v.question, answer)
		v.complain(v.wants(err))
		if err != nil && first == nil {
			first = v
		}
		if _, ok := errors.AsType[*interact.MissingError](err); ok {
			missing++
		}
	}
	switch {
	case first == nil:
		f.w.finish(f.page, a)
		return
	case missing > 0:
		f.complain(tr("Still missing: {{.Count}} of {{.All}} answers.", values{"Count": missing, "All": len(f.questions)}))
	default:
		f.complain(tr("One answer will not do yet."))
	}
	f.goTo(first)
}

// forgive takes back what was said of an answer that is being changed.
func (f *formPage) forgive(v *questionView) {
	if v.complains() {
		v.complain("")
		f.complain("")
	}
}

// goTo gives the focus to what answers a question.
func (f *formPage) goTo(v *questionView) {
	const title = 1
	f.rows.show(title + slices.Index(f.questions, v))
	f.w.win.Canvas().Focus(v.focus())
}

// questionView is one question with what it is answered by.
type questionView struct {
	question interact.Question
	hint     *widget.Label     // what an answer must be
	problem  *widget.Label     // why the answer is none yet, in place of the hint
	hintNote fyne.CanvasObject // holds hint
	note     fyne.CanvasObject // holds problem
	object   *fyne.Container
	answer   func() interact.Value
	focus    func() fyne.Focusable // where to go when the answer is missing
	changed  func()                // called when the human changes the answer
}

func newQuestionView(w *window, q interact.Question) *questionView {
	v := &questionView{
		question: q,
		hint:     Lines(hintOf(q), theme.SizeNameCaptionText, widget.LowImportance),
		problem:  Lines("", theme.SizeNameCaptionText, widget.DangerImportance),
		changed:  func() {},
	}
	v.hintNote, v.note = Tight(v.hint), Tight(v.problem)
	v.object = Column(8, v.heading(), Tight(newMarkdown(q.Question)), v.input(w), v.hintNote, v.note)
	v.complain("")
	return v
}

// heading is the header, and whether an answer is required.
func (v *questionView) heading() fyne.CanvasObject {
	need := newWords(tr("optional"), theme.SizeNameCaptionText, ColorMuted)
	if v.question.IsRequired() {
		need = newWords(tr("required"), theme.SizeNameCaptionText, ColorMuted)
	}
	if v.question.Header == "" {
		return Row(8, need)
	}
	header := newWords(plainText(v.question.Header), theme.SizeNameCaptionText, theme.ColorNamePrimary).bold()
	return newWrapRow(8, 2, header, need)
}

func (v *questionView) input(w *window) fyne.CanvasObject {
	if v.question.InputType != interact.Choice {
		return v.textInput(w)
	}
	p := newPicker(w, v.question.Options, v.question.MultiSelect, v.question.OffersOther(), v.question.Placeholder)
	p.preselect(v.question.Default.Items)
	p.changed = func() { v.changed() }
	v.answer = func() interact.Value { return interact.ListValue(p.answers()...) }
	v.focus = p.focusFirst
	return p.object
}

func (v *questionView) textInput(w *window) fyne.CanvasObject {
	f := newField(w, plainText(v.question.Placeholder), false)
	f.SetText(v.question.Default.String())
	f.OnChanged = func(string) { v.changed() }
	f.OnSubmitted = func(string) {
		if c := fyne.CurrentApp().Driver().CanvasForObject(f); c != nil {
			c.FocusNext()
		}
	}
	v.answer = func() interact.Value { return interact.TextValue(f.Text) }
	v.focus = func() fyne.Focusable { return f }
	return f
}

// wants says what is wrong with an answer that is refused with err; "" when that is nil.
func (v *questionView) wants(err error) string {
	invalid, isInvalid := errors.AsType[*interact.InvalidError](err)
	switch {
	case err == nil:
		return ""
	case !isInvalid:
		return tr("This needs an answer.")
	case v.hint.Text != "":
		return v.hint.Text
	}
	return tr("This {{.Problem}}.", values{"Problem": tr(invalid.Problem)})
}

func (v *questionView) complain(s string) {
	v.problem.SetText(s)
	setVisible(v.note, s != "")
	setVisible(v.hintNote, s == "" && v.hint.Text != "")
}

func (v *questionView) complains() bool { return v.note.Visible() }
