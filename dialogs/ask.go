package dialogs

import (
	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
)

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
