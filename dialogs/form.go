package dialogs

import (
	"errors"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
)

// formPage asks one or more questions on one page.
type formPage struct {
	*page
	w         *window
	questions []*questionView
}

func newFormPage(w *window, e *entry, h *head, b interact.Form) *page {
	f := &formPage{page: newPage(e, w.keys, h), w: w}
	title := newLines(plainText(b.Title), theme.SizeNameSubHeadingText, widget.MediumImportance)
	title.TextStyle.Bold = true
	switch {
	case b.Title == "" && len(b.Questions) == 1:
		title.SetText(tr("One question"))
	case b.Title == "":
		title.SetText(tr("{{.Count}} questions", values{"Count": len(b.Questions)}))
	}
	list := column(24)
	for _, q := range b.Questions {
		v := newQuestionView(w.keys, q)
		v.changed = func() { f.forgive(v) }
		f.questions = append(f.questions, v)
		list.Add(v.object)
	}
	f.page.affirm = f.submit
	f.assemble(f.scrolling(tight(title), list), questionFoot(w, f.page))
	return f.page
}

// submit answers, or says what is still missing and goes there.
func (f *formPage) submit() {
	a := human(interact.Answered)
	a.Values = make(map[string]interact.Value, len(f.questions))
	for _, v := range f.questions {
		v.complain("")
		a.Values[v.question.ID] = v.answer()
	}
	err := f.entry.request().Check(a)
	var missing *interact.MissingError
	var invalid *interact.InvalidError
	switch {
	case errors.As(err, &missing):
		f.point(missing.ID, a)
	case errors.As(err, &invalid):
		v := f.view(invalid.ID)
		v.complain(v.wants(invalid))
		f.complain(tr("One answer will not do yet."))
		f.w.win.Canvas().Focus(v.focus())
	default:
		f.w.finish(f.page, a)
	}
}

// forgive takes back what was said of an answer that is being changed.
func (f *formPage) forgive(v *questionView) {
	if v.complains() {
		v.complain("")
		f.complain("")
	}
}

// view is the view of the question with that id.
func (f *formPage) view(id string) *questionView {
	return f.questions[slices.IndexFunc(f.questions, func(v *questionView) bool { return v.question.ID == id })]
}

// point marks every question without an answer, and puts the focus on the first.
func (f *formPage) point(first string, a interact.Answer) {
	n := 0
	for _, v := range f.questions {
		if !missing(v.question, a.Values[v.question.ID]) {
			continue
		}
		n++
		v.complain(tr("This needs an answer."))
	}
	f.complain(tr("Still missing: {{.Count}} of {{.All}} answers.", values{"Count": n, "All": len(f.questions)}))
	f.w.win.Canvas().Focus(f.view(first).focus())
}

// missing reports whether v does not answer q: nothing picked or typed though it is required, or "Other"
// picked and nothing written.
func missing(q interact.Question, v interact.Value) bool {
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	if !v.List {
		return q.IsRequired() && empty(v.String())
	}
	for _, s := range v.Items {
		if empty(s) {
			return true
		}
	}
	return q.IsRequired() && len(v.Items) == 0
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

func newQuestionView(keys *keyMap, q interact.Question) *questionView {
	v := &questionView{
		question: q,
		hint:     newLines(hintOf(q), theme.SizeNameCaptionText, widget.LowImportance),
		problem:  newLines("", theme.SizeNameCaptionText, widget.DangerImportance),
		changed:  func() {},
	}
	v.hintNote, v.note = tight(v.hint), tight(v.problem)
	v.object = column(8, v.heading(), tight(newMarkdown(q.Question)), v.input(keys), v.hintNote, v.note)
	v.complain("")
	return v
}

// heading is the header, and whether an answer is required.
func (v *questionView) heading() fyne.CanvasObject {
	need := newWords(tr("optional"), theme.SizeNameCaptionText, colorMuted)
	if v.question.IsRequired() {
		need = newWords(tr("required"), theme.SizeNameCaptionText, colorMuted)
	}
	if v.question.Header == "" {
		return row(8, need)
	}
	header := newWords(plainText(v.question.Header), theme.SizeNameCaptionText, theme.ColorNamePrimary).bold()
	return newWrapRow(8, 2, header, need)
}

func (v *questionView) input(keys *keyMap) fyne.CanvasObject {
	if v.question.InputType != interact.Choice {
		return v.textInput(keys)
	}
	p := newPicker(keys, v.question.Options, v.question.MultiSelect, v.question.OffersOther(), v.question.Placeholder)
	p.preselect(v.question.Default.Items)
	p.changed = func() { v.changed() }
	v.answer = func() interact.Value { return interact.ListValue(p.answers()...) }
	v.focus = p.focusFirst
	return p.object
}

func (v *questionView) textInput(keys *keyMap) fyne.CanvasObject {
	f := newField(keys, false)
	f.SetPlaceHolder(plainText(v.question.Placeholder))
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

// wants says what is wrong with an answer.
func (v *questionView) wants(e *interact.InvalidError) string {
	if v.hint.Text != "" {
		return v.hint.Text
	}
	return tr("This {{.Problem}}.", values{"Problem": tr(e.Problem)})
}

func (v *questionView) complain(s string) {
	v.problem.SetText(s)
	setVisible(v.note, s != "")
	setVisible(v.hintNote, s == "" && v.hint.Text != "")
}

func (v *questionView) complains() bool { return v.note.Visible() }
