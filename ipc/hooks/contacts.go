package hooks

import (
	"maps"
	"time"

	"nod/interact"
)

// Contact is what came of one agent's hooks since nod was started.
type Contact struct {
	Last            time.Time // a hook of its called
	Calls           int       // of its hooks, for whatever reason
	Passed, Refused int       // let through and denied by the policy alone
	Allowed, Denied int       // by the person
	Answered        int       // questions and forms, by the person
	Undecided       int       // nobody decided: closed, timed out, withdrawn
}

// Contacts says what came of each agent's hooks. Agents that have not called are not in it.
func (h *Hooks) Contacts() map[string]Contact {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.contacts)
}

// met takes note of a call.
func (h *Hooks) met(agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.contacts[agent]
	c.Last = time.Now()
	c.Calls++
	h.contacts[agent] = c
}

// count takes note of what came of a call that wanted a decision or an answer.
func (h *Hooks) count(agent string, a interact.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.contacts[agent]
	byPolicy := a.By == interact.ByPolicy
	switch {
	case a.Outcome == interact.Allowed && byPolicy:
		c.Passed++
	case a.Outcome == interact.Denied && byPolicy:
		c.Refused++
	case a.Outcome == interact.Allowed:
		c.Allowed++
	case a.Outcome == interact.Denied:
		c.Denied++
	case a.Outcome == interact.Answered:
		c.Answered++
	case a.Outcome != "":
		c.Undecided++
	}
	h.contacts[agent] = c
}
