package hooks

import (
	"context"
	"maps"
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// overruledFor is how long the user's allow counts for a call that the agent's own check refused.
const overruledFor = 5 * time.Minute

// appealOf returns the key of a call, including the folder that it works in, because a command does something else in
// another folder.
func appealOf(who interact.Requester, s Step) (callKey, bool) {
	key, ok := keyOf(who, s)
	key.call = s.CWD + "\n" + key.call
	return key, ok
}

func (h *Hooks) appealed(who interact.Requester, s Step, a interact.Answer) {
	key, ok := appealOf(who, s)
	if !ok || a.Outcome != api.Allowed || a.By != api.ByHuman {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(h.appeals, func(_ callKey, until time.Time) bool { return now.After(until) })
	h.appeals[key] = now.Add(overruledFor)
}

// overruled answers a call that the agent's own check had refused and that the user allowed anyway: it is allowed once,
// unless a rule now denies it. It returns false if the user did not allow the call. It fails as [interact.Broker.Judge]
// does, and then allows nothing.
func (h *Hooks) overruled(ctx context.Context, r interact.Request, s Step) (interact.Answer, bool, error) {
	if !h.takeAppeal(r.Requester, s) {
		return interact.Answer{}, false, nil
	}
	a, err := h.cfg.Broker.Judge(ctx, r, nil, policy.Deny)
	if err != nil || a.Outcome != "" {
		return a, true, err
	}
	h.cfg.Log.Info("hook: the user overruled the agent's own check", "agent", r.Requester.Agent)
	return interact.Answer{Outcome: api.Allowed, By: api.ByHuman, Reason: reasonOverruled}, true, nil
}

// takeAppeal reports whether the user has overruled the agent's own check of the call, and forgets it.
func (h *Hooks) takeAppeal(who interact.Requester, s Step) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.Appeals || len(h.appeals) == 0 { // as a rule there are none: then the key is not worth its work
		return false
	}
	key, ok := appealOf(who, s)
	until, found := h.appeals[key]
	delete(h.appeals, key)
	return ok && found && !time.Now().After(until)
}

const reasonOverruled = "the user overruled the agent's own check"
