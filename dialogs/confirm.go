package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
	"nod/interact"
)

// newConfirmPage asks yes or no, and states what happens without an answer. Neither button is the default.
func newConfirmPage(w *window, e *entry, h *head, b interact.Confirm) *page {
	p := newPage(e, w, h)
	yes, no := prompt.ConfirmLabels(b)
	p.affirm = func() { w.finish(p, confirmed(true)) }
	p.refuse = func() { w.finish(p, confirmed(false)) }

	// The labels are the agent's words; nod's own icons tell which button is which.
	p.yes = newDecision(w, yes, affirmativeHint(), strongButton, w.affirm)
	p.yes.icon = theme.IconNameConfirm
	p.no = newDecision(w, no, negativeHint(), plainButton, w.refuse)
	p.no.icon = theme.IconNameCancel
	p.assemble(p.rows(Tight(newMarkdown(w, b.Message))).scroll.Scroll, &foot{
		left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes},
	})
	return p
}

func confirmed(yes bool) interact.Answer {
	a := userAnswer(interact.Answered, "")
	a.Confirmed = yes
	return a
}
