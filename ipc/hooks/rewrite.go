package hooks

import (
	"context"

	"nod/interact"
)

// maxRuns is how many calls are remembered until they have run. Then all are forgotten: an agent that never says that a
// call has run must not fill nod's memory.
const maxRuns = 10_000

// runKey is one call by the id that the agent gave it.
type runKey struct{ agent, session, id string }

func (s *Step) runKey(who interact.Requester) runKey { return runKey{who.Agent, who.Session, s.Run} }

// remember keeps what nod allowed until it has run: another hook may change the call after nod has judged it.
func (h *Hooks) remember(who interact.Requester, s Step) {
	if s.Run == "" || s.Ran {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) >= maxRuns {
		clear(h.runs)
	}
	h.runs[s.runKey(who)] = s.Call()
}

// ran compares what ran with what nod allowed, and tells the user where they differ. It cannot be undone, and nobody
// can tell which hook will change what next. So nothing more is allowed by rules in that session before the agent's
// own check of the final call.
func (h *Hooks) ran(ctx context.Context, who interact.Requester, s Step) {
	h.mu.Lock()
	allowed, known := h.runs[s.runKey(who)]
	delete(h.runs, s.runKey(who))
	h.mu.Unlock()
	if !known || allowed == s.Call() {
		return
	}
	h.mu.Lock()
	h.rewritten[who.Session] = true
	h.mu.Unlock()
	h.cfg.Log.Warn("hook: another hook changed a call that nod allowed", "agent", who.Agent, "allowed", Cut(allowed, 200),
		"ran", Cut(s.Call(), 200))
	text := "Another hook changed a call after nod had allowed it. Allowed: " + Cut(allowed, 200) + " Ran: " + s.Call()
	_, err := h.cfg.Broker.Do(ctx, interact.Request{Requester: who, Body: interact.Notify{
		Message: Cut(text, 500), Level: interact.Warning,
	}})
	if err != nil {
		h.cfg.Log.Warn("hook: notice not shown", "err", err)
	}
}

// mayAllow reports whether a rule's allow may be the reply: not in a session in which another hook has changed a call
// that nod allowed, unless the call is the one that will run.
func (h *Hooks) mayAllow(who interact.Requester, s Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.Run == "" || !h.rewritten[who.Session]
}
