package asking

import (
	"nod/agents/registry"
	"nod/dialogs/prompt"
	"nod/interact"
)

// titled is a request with the name by which the user knows its agent.
func titled(r interact.Request) interact.Request {
	r.Requester.Title = registry.Title(r.Requester.Agent)
	return r
}

// whoAsks names the session of a request.
func whoAsks(r interact.Request) string { return prompt.SessionOf(titled(r).Requester) }
