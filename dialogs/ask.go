package dialogs

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"nod/api"
	"nod/dialogs/prompt"
)

type askPage struct {
	*page
	answer func() string
	focus  func() fyne.Focusable
}

func newAskPage(p *page, b api.Ask) {
	a := &askPage{page: p}
	p.kind = a
	input := a.input(b)
	rows := p.rows(Tight(newMarkdown(p.w, b.Question)))
	rows.add(container.New(layout.NewCustomPaddedLayout(14, 0, 8, 8), input), input.MinSize().Height)
	p.assemble(rows.scroll.Scroll, p.questionFoot())
}

func (a *askPage) input(b api.Ask) fyne.CanvasObject {
	if len(b.Options) == 0 {
		f := newField(a.w, prompt.PlainText(b.Placeholder), b.Multiline)
		f.OnChanged = func(string) { a.touched() }
		if !b.Multiline {
			f.onEnter(a.w.affirm)
		}
		a.inputs[""] = f
		a.answer, a.focus = func() string { return strings.TrimSpace(f.Text) }, func() fyne.Focusable { return f }
		return f
	}
	options := make([]api.Option, len(b.Options))
	for i, o := range b.Options {
		options[i] = api.Option{Label: o, Value: o}
	}
	pick := newPicker(a.w, options, false, b.OffersOther(), b.Placeholder)
	pick.changed, pick.next = a.touched, a.w.affirm
	a.inputs[""] = pick
	a.answer, a.focus = func() string { return strings.Join(pick.answers(), "") }, pick.focusFirst
	return pick.object
}

func (a *askPage) affirm() {
	answer := userAnswer(api.Answered, "")
	if answer.Text = a.answer(); answer.Text == "" {
		a.setProblem(tr("No answer yet."))
		a.w.win.Canvas().Focus(a.focus())
		return
	}
	a.w.finish(a.page, answer)
}

func (a *askPage) stepBack() bool { return a.asksToDiscard(a.answer() != "") }

func (a *askPage) firstFocus() fyne.Focusable { return a.focus() }

// questionFoot is the foot of a question or a form, with the buttons to decline and to submit.
func (p *page) questionFoot() *foot {
	p.ownAnswer = true
	p.yes = newDecision(p.w, tr("Submit"), affirmativeHint(), strongButton, p.w.affirm)
	p.yes.chordOnly = ""
	p.no = newDecision(p.w, tr("Decline"), negativeHint(), plainButton, p.w.refuse)
	return &foot{left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes}}
}

// asksToDiscard asks once before an answer, if there is one, is lost.
func (p *page) asksToDiscard(hasAnswer bool) bool {
	if p.asked || !hasAnswer {
		return false
	}
	p.asked = true
	p.setProblem(tr("Discard your answers? Press Esc again."))
	return true
}

func (p *page) touched() {
	p.edited()
	p.asked = false
	if p.note.Visible() {
		p.setProblem("")
	}
}
