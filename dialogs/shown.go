package dialogs

import (
	"cmp"

	"nod/interact"
)

// shown returns what the user, who decides now, has seen of the prompt of e: possibly nothing.
func (p *Prompter) shown(e *entry) interact.Shown {
	s := interact.Shown{With: interact.WithMouse}
	if p.window.handlingKey {
		s.With = interact.WithKeys
	}
	if e.page == nil || e.page.shownAt.IsZero() {
		return s
	}
	s.At, s.Decided = e.page.shownAt, cmp.Or(p.now().Sub(e.page.shownAt), 1)
	if !e.page.armedAt.IsZero() {
		s.Armed = cmp.Or(e.page.armedAt.Sub(s.At), 1)
	}
	if e.page.approval != nil {
		s.Facts, s.Diff = e.page.approval.factsAndDiff()
	}
	return s
}

const maxFacts = 32

func (a *approvePage) factsAndDiff() (facts []string, diff string) {
	facts = []string{a.input.Class.Text}
	for _, f := range a.input.AllFacts() {
		facts = append(facts, f.Text)
	}
	facts = append(facts, a.input.Warnings...)
	return facts[:min(len(facts), maxFacts)], a.input.Diff
}
