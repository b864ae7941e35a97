package dialogs

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"nod/dialogs/prompt"
	"nod/interact"
)

// newAskPage asks one question, answered by choosing options or with free text.
func newAskPage(w *window, e *entry, h *head, b interact.Ask) *page {
	p := newPage(e, w, h)
	answer, input, focus := p.askInput(b)
	p.firstFocus = focus
	p.affirm = func() {
		text := answer()
		if text == "" {
			p.setProblem(tr("There is no answer yet."))
			w.win.Canvas().Focus(focus())
			return
		}
		a := userAnswer(interact.Answered, "")
		a.Text = text
		w.finish(p, a)
	}
	rows := p.rows(Tight(newMarkdown(w, b.Question)))
	rows.add(container.New(layout.NewCustomPaddedLayout(14, 0, 8, 8), input), input.MinSize().Height)
	p.assemble(rows.scroll.Scroll, questionFoot(w, p))
	p.stepBack = p.askDiscard(func() bool { return answer() != "" })
	return p
}

// askInput makes the input of a question: how to read it, what to show, and where the focus belongs.
func (p *page) askInput(b interact.Ask) (
	answer func() string, input fyne.CanvasObject, focus func() fyne.Focusable,
) {
	w := p.w
	if len(b.Options) == 0 {
		f := newField(w, prompt.PlainText(b.Placeholder), b.Multiline)
		f.OnChanged = func(string) { p.touched() }
		p.inputs[""] = f
		if !b.Multiline {
			f.onEnter(w.affirm)
		}
		return func() string { return strings.TrimSpace(f.Text) }, f, func() fyne.Focusable { return f }
	}
	options := make([]interact.Option, len(b.Options))
	for i, o := range b.Options {
		options[i] = interact.Option{Label: o, Value: o}
	}
	pick := newPicker(w, options, false, b.OffersOther(), b.Placeholder)
	pick.changed, pick.next = p.touched, w.affirm
	p.inputs[""] = pick
	return func() string { return strings.Join(pick.answers(), "") }, pick.object, pick.focusFirst
}

// questionFoot is the foot of a question or a form, with the buttons to decline and to submit.
func questionFoot(w *window, p *page) *foot {
	p.ownAnswer = true
	p.refuse = func() {
		w.finish(p, userAnswer(interact.Dismissed, "the person declined to answer"))
	}
	p.yes = newDecision(w, tr("Submit"), affirmativeHint(), strongButton, w.affirm)
	p.yes.chordOnly = ""
	p.no = newDecision(w, tr("Decline"), negativeHint(), plainButton, w.refuse)
	return &foot{left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes}}
}

// askDiscard returns a function for [page.stepBack] that asks once before an answer is lost. dirty reports whether
// there is one.
func (p *page) askDiscard(dirty func() bool) func() bool {
	return func() bool {
		if p.asked || !dirty() {
			return false
		}
		p.asked = true
		p.setProblem(tr("Discard your answers? Press Esc again."))
		return true
	}
}

// touched hides the complaint about an answer while the user changes it.
func (p *page) touched() {
	p.edited()
	p.asked = false
	if p.note.Visible() {
		p.setProblem("")
	}
}
