package dialogs

import (
	"cmp"
	"time"

	"nod/interact"
)

// noteShown takes note that the page is on screen.
func (p *page) noteShown(now time.Time) {
	if p.shownAt.IsZero() {
		p.shownAt = now
	}
}

// noteArmed takes note of whether the affirmative works.
func (p *page) noteArmed(now time.Time, armed bool) {
	if armed && p.armedAt.IsZero() {
		p.armedAt = now
	}
}

// shown is what the person, who decides now, has seen of the prompt of e. One that they decide from a list they may
// not have seen at all.
func (p *Prompter) shown(e *entry) interact.Shown {
	s := interact.Shown{With: interact.WithMouse}
	if p.window.byKeys {
		s.With = interact.WithKeys
	}
	if e.page == nil || e.page.shownAt.IsZero() {
		return s
	}
	s.At, s.Decided = e.page.shownAt, cmp.Or(p.now().Sub(e.page.shownAt), 1)
	if !e.page.armedAt.IsZero() {
		s.Armed = cmp.Or(e.page.armedAt.Sub(s.At), 1)
	}
	s.Facts, s.Diff = e.page.said()
	return s
}

// maxSaid is how many facts of a prompt the journal keeps.
const maxSaid = 32

// saidOf is what the journal keeps of what an approval says.
func (a *approvePage) saidOf() (facts []string, diff string) {
	facts = []string{a.class().Text}
	for _, f := range a.input.AllFacts() {
		facts = append(facts, f.Text)
	}
	facts = append(facts, a.input.Warnings...)
	return facts[:min(len(facts), maxSaid)], a.input.Diff
}
