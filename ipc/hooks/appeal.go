package hooks

import (
	"context"
	"time"

	"nod/interact"
	"nod/policy"
)

// overruledFor is how long the user's allow counts for a call that the agent's own check refused.
const overruledFor = 5 * time.Minute

// appealed takes note that the user overruled the agent's own check, if they did.
func (h *Hooks) appealed(who interact.Requester, s Step, a interact.Answer) {
	key, ok := keyOf(who, s)
	if !ok || a.Outcome != interact.Allowed || a.By != interact.ByHuman {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for k, until := range h.appeals {
		if now.After(until) {
			delete(h.appeals, k)
		}
	}
	h.appeals[key] = now.Add(overruledFor)
}

// overruled returns an allow for a call of which the user has overruled the agent's own check, once; or, where a rule
// denies the call by now, that denial.
func (h *Hooks) overruled(ctx context.Context, r interact.Request, s Step) (interact.Answer, bool, error) {
	h.mu.Lock()
	none := len(h.appeals) == 0
	h.mu.Unlock()
	key, ok := callKey{}, false
	if !none && !s.Appeals { // as a rule there are none: then the key is not worth its work
		key, ok = keyOf(r.Requester, s)
	}
	if !ok {
		return interact.Answer{}, false, nil
	}
	h.mu.Lock()
	until, found := h.appeals[key]
	delete(h.appeals, key)
	h.mu.Unlock()
	if !found || time.Now().After(until) {
		return interact.Answer{}, false, nil
	}
	a, _, err := h.cfg.Broker.Judge(ctx, r, policy.Deny)
	if err != nil || a.Outcome != "" {
		return a, true, err
	}
	h.cfg.Log.Info("hook: the user overruled the agent's own check", "agent", r.Requester.Agent)
	return interact.Answer{Outcome: interact.Allowed, By: interact.ByHuman, Reason: reasonOverruled}, true, nil
}

const reasonOverruled = "the user overruled the agent's own check"
