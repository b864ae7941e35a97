package hooks

import (
	"maps"
	"time"

	"nod/api"
	"nod/interact"
)

// Contacts returns a summary of each agent's hook calls. It omits agents that have not called.
func (h *Hooks) Contacts() map[string]interact.Contact {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.contacts)
}

func (h *Hooks) note(agent string, change func(*interact.Contact)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.contacts[agent]
	change(&c)
	h.contacts[agent] = c
}

func called(c *interact.Contact) { c.Last, c.Calls = time.Now(), c.Calls+1 }

func count(c *interact.Contact, a interact.Answer) {
	byPolicy := a.By == api.ByPolicy
	switch {
	case a.Outcome == api.Allowed && byPolicy:
		c.Passed++
	case a.Outcome == api.Denied && byPolicy:
		c.Refused++
	case a.Outcome == api.Allowed:
		c.Allowed++
	case a.Outcome == api.Denied:
		c.Denied++
	case a.Outcome == api.Answered:
		c.Answered++
	case a.Outcome != "":
		c.Undecided++
	}
}
