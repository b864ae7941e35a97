package hooks

import (
	"maps"

	"nod/interact"
)

// Contacts says what came of each agent's hooks. Agents that have not called are not in it.
func (h *Hooks) Contacts() map[string]interact.Contact {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.contacts)
}

// note changes what is known of an agent.
func (h *Hooks) note(agent string, change func(*interact.Contact)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.contacts[agent]
	change(&c)
	h.contacts[agent] = c
}
