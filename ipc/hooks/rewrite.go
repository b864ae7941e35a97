package hooks

import (
	"context"
	"strings"
	"unicode/utf8"

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

// judgedCall is a call that nod judged: it allowed the call, or left it to the agent. The whole call would be too long
// to keep.
type judgedCall struct {
	digest    string
	beginning string // for the user
	isAllowed bool
}

// shownCall is how much the user is shown of a call, in characters.
const shownCall = 200

func judge(call string, isAllowed bool) judgedCall {
	return judgedCall{
		digest: interact.Digest([]byte(call)), isAllowed: isAllowed,
		beginning: strings.Clone(call[:min(len(call), (shownCall+1)*utf8.UTFMax)]),
	}
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
	h.runs[s.runKey(who)] = judge(s.Call(), isAllowed)
}

// ran compares what ran with what nod judged, and tells the user if they differ and nod had allowed the call, or a rule
// denies what ran. That cannot be undone, and it is unknown which hook will change what next. So rules allow nothing
// more in that session before the agent's own check of the final call.
func (h *Hooks) ran(ctx context.Context, who interact.Requester, s Step) {
	h.mu.Lock()
	judged, known := h.runs[s.runKey(who)]
	delete(h.runs, s.runKey(who))
	h.mu.Unlock()
	call := s.Call()
	if !known || judged == judge(call, judged.isAllowed) || !judged.isAllowed && !h.denies(ctx, who, s.Ran) {
		return
	}
	h.mu.Lock()
	h.rewritten[sessionOf(who)] = true
	h.mu.Unlock()
	was := Cut(judged.beginning, shownCall)
	h.cfg.Log.Warn("hook: another hook changed a call that nod had judged", "agent", who.Agent, "judged", was,
		"ran", Cut(call, shownCall))
	text := "Another hook changed a call after nod had judged it. Judged: " + was + " Ran: " + call
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
