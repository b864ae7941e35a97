package dialogs

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"nod/api"
	"nod/dialogs/prompt"
)

type confirmPage struct{ *page }

func newConfirmPage(p *page, b api.Confirm) {
	p.kind = confirmPage{p}
	yes, no := prompt.ConfirmLabels(b)
	// The labels are the agent's words. nod's own icons tell which button is which.
	p.yes = newDecision(p.w, yes, affirmativeHint(), strongButton, p.w.affirm)
	p.yes.icon = theme.IconNameConfirm
	p.no = newDecision(p.w, no, negativeHint(), plainButton, p.w.refuse)
	p.no.icon = theme.IconNameCancel
	message := b.Message
	if len(message) <= maxHeading && !strings.Contains(message, "\n") && !strings.HasSuffix(message, "#") {
		message = "## " + message
	}
	column := p.rows(Tight(newMarkdown(p.w, message)))
	p.assemble(column.scroll.Scroll, &foot{
		left: []fyne.CanvasObject{p.no}, right: []fyne.CanvasObject{p.yes},
	})
	p.message = column.scroll
	p.message.OnScrolled = func(fyne.Position) {
		column.fill()
		p.noteMessage()
	}
}

// maxHeading is the length of a question, in bytes, up to which it is large: it is what the user decides on.
const maxHeading = 200

func (p confirmPage) affirm() { p.answer(true) }

func (p confirmPage) refuse() { p.answer(false) }

func (p confirmPage) answer(yes bool) {
	a := userAnswer(api.Answered, "")
	a.Confirmed = yes
	p.w.finish(p.page, a)
}
