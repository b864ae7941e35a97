package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
	"nod/interact"
)

// newConfirmPage asks yes or no, and says beforehand what silence means. Neither button is the default one.
func newConfirmPage(w *window, e *entry, h *head, b interact.Confirm) *page {
	p := newPage(e, w, h)
	yes, no := prompt.ConfirmLabels(b)
	p.affirm = func() { w.finish(p, confirmed(true)) }
	p.refuse = func() { w.finish(p, confirmed(false)) }

	// The agent words the labels, so nod's own signs say which is which.
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
	a := human(interact.Answered, "")
	a.Confirmed = yes
	return a
}
