package hooks

import (
	"context"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// maxRuns is how many calls are remembered until they have run. Beyond that all are forgotten, because an agent that
// never reports that a call has run must not fill nod's memory.
const maxRuns = 10_000

// runKey identifies a call of a session by the agent's id for it; without an id it identifies the session.
type runKey struct{ agent, session, id string }

func sessionOf(who interact.Requester) runKey { return runKey{who.Agent, who.Session, ""} }

func (s *Step) runKey(who interact.Requester) runKey { return runKey{who.Agent, who.Session, s.Run} }

// judgedCall is a call that nod judged: it allowed the call, or left it to the agent.
type judgedCall struct {
	call      string
	isAllowed bool
}

// remember keeps a call that nod did not deny until it has run, because another hook may change the call after nod has
// judged it.
func (h *Hooks) remember(who interact.Requester, s Step, isAllowed bool) {
	if s.Run == "" || s.Ran != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) >= maxRuns {
		clear(h.runs)
	}
	h.runs[s.runKey(who)] = judgedCall{s.Call(), isAllowed}
}

// ran compares what ran with what nod judged, and tells the user if they differ and nod had allowed the call, or a rule
// denies what ran. That cannot be undone, and it is unknown which hook will change what next. So rules allow nothing
// more in that session before the agent's own check of the final call.
func (h *Hooks) ran(ctx context.Context, who interact.Requester, s Step) {
	h.mu.Lock()
	judged, known := h.runs[s.runKey(who)]
	delete(h.runs, s.runKey(who))
	h.mu.Unlock()
	if !known || judged.call == s.Call() || !judged.isAllowed && !h.denies(ctx, who, s.Ran) {
		return
	}
	h.mu.Lock()
	h.rewritten[sessionOf(who)] = true
	h.mu.Unlock()
	h.cfg.Log.Warn("hook: another hook changed a call that nod had judged", "agent", who.Agent, "judged",
		Cut(judged.call, 200), "ran", Cut(s.Call(), 200))
	text := "Another hook changed a call after nod had judged it. Judged: " + Cut(judged.call, 200) + " Ran: " + s.Call()
	_, err := h.cfg.Broker.Do(ctx, interact.Request{Requester: who, Body: api.Notify{
		Message: Cut(text, 500), Level: interact.Warning,
	}})
	if err != nil {
		h.cfg.Log.Warn("hook: notice not shown", "err", err)
	}
}

func (h *Hooks) denies(ctx context.Context, who interact.Requester, call interact.Body) bool {
	a, err := h.cfg.Broker.Judge(ctx, interact.Request{Requester: who, Body: call}, nil, policy.Deny)
	return err != nil || a.Outcome == api.Denied
}

// mayAllow reports whether a rule's allow may be the reply. It may not in a session in which another hook has changed a
// call that nod allowed, unless this is the call that will run.
func (h *Hooks) mayAllow(who interact.Requester, s Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return s.Run == "" || !h.rewritten[sessionOf(who)]
}
