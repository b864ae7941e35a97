package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/prompt"
	"nod/interact"
)

// confirmPage asks yes or no, and states what happens without an answer. Neither button is the default.
type confirmPage struct{ *page }

func newConfirmPage(p *page, b interact.Confirm) {
	p.kind = confirmPage{p}
	yes, no := prompt.ConfirmLabels(b)
	// The labels are the agent's words; nod's own icons tell which button is which.
	p.yes = newDecision(p.w, yes, affirmativeHint(), strongButton, p.w.affirm)
	p.yes.icon = theme.IconNameConfirm
	p.no = newDecision(p.w, no, negativeHint(), plainButton, p.w.refuse)
	p.no.icon = theme.IconNameCancel
	p.assemble(p.rows(Tight(newMarkdown(p.w, b.Message))).scroll.Scroll, &foot{
		left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes},
	})
}

func (p confirmPage) affirm() { p.w.finish(p.page, confirmed(true)) }

func (p confirmPage) refuse() { p.w.finish(p.page, confirmed(false)) }

func confirmed(yes bool) interact.Answer {
	a := userAnswer(interact.Answered, "")
	a.Confirmed = yes
	return a
}
