package dialogs

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"nod/dialogs/prompt"
	"nod/interact"
)

// newAskPage asks one question: a pick from options, or free text.
func newAskPage(w *window, e *entry, h *head, b interact.Ask) *page {
	p := newPage(e, w, h)
	answer, input, focus := p.askInput(b)
	p.first = focus
	p.affirm = func() {
		text := answer()
		if text == "" {
			p.complain(tr("There is no answer yet."))
			w.win.Canvas().Focus(focus())
			return
		}
		a := human(interact.Answered, "")
		a.Text = text
		w.finish(p, a)
	}
	rows := p.rows(Tight(newMarkdown(w, b.Question)))
	rows.add(container.New(layout.NewCustomPaddedLayout(14, 0, 8, 8), input), input.MinSize().Height)
	p.assemble(rows.scroll.Scroll, questionFoot(w, p))
	p.unwind = p.askDiscard(func() bool { return answer() != "" })
	return p
}

// askInput is what the answer is given with: how to read it, what to show, and where the focus belongs.
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

// questionFoot is the foot of a question or a form: decline or submit.
func questionFoot(w *window, p *page) *foot {
	p.own = true
	p.refuse = func() {
		w.finish(p, human(interact.Dismissed, "the person declined to answer"))
	}
	p.yes = newDecision(w, tr("Submit"), affirmativeHint(), strongButton, w.affirm)
	p.yes.chordOnly = ""
	p.no = newDecision(w, tr("Decline"), negativeHint(), plainButton, w.refuse)
	return &foot{left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes}}
}

// askDiscard is an unwind that asks once before an answer is lost. dirty reports whether there is one.
func (p *page) askDiscard(dirty func() bool) func() bool {
	return func() bool {
		if p.asked || !dirty() {
			return false
		}
		p.asked = true
		p.complain(tr("Discard your answers? Press Esc again."))
		return true
	}
}

// touched takes back what was said of an answer that is being changed.
func (p *page) touched() {
	p.edited()
	p.asked = false
	if p.note.Visible() {
		p.complain("")
	}
}
