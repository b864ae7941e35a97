package hooks

import (
	"slices"
	"time"

	"nod/interact"
)

type callKey struct {
	agent, session, subagent string
	call                     string // its input included
}

func keyOf(who interact.Requester, s Step) (callKey, bool) {
	if s.Call == nil {
		return callKey{}, false
	}
	k := callKey{who.Agent, who.Session, who.Subagent.ID, s.Call()}
	return k, k.call != ""
}

type kept struct {
	answer interact.Answer
	at     time.Time
}

func (k kept) isOld(now time.Time) bool { return now.Sub(k.at) >= keptFor }

// keptFor is how long an answer counts for a second delivery, which comes as soon as the first is answered.
const keptFor = time.Minute

func (h *Hooks) keep(who interact.Requester, s Step, a interact.Answer) {
	key, ok := keyOf(who, s)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for k, all := range h.answers {
		if all = slices.DeleteFunc(all, func(k kept) bool { return k.isOld(now) }); len(all) == 0 {
			delete(h.answers, k)
		} else {
			h.answers[k] = all
		}
	}
	h.answers[key] = append(h.answers[key], kept{a, now})
}

// earlier returns the user's earlier answer to the call, once. It returns none if several calls are alike, because they
// cannot be distinguished.
func (h *Hooks) earlier(who interact.Requester, s Step) (interact.Answer, bool) {
	all := h.forget(who, s)
	if len(all) != 1 || all[0].isOld(time.Now()) {
		return interact.Answer{}, false
	}
	return all[0].answer, true
}

// forget forgets a call that is over, and returns what was kept of it.
func (h *Hooks) forget(who interact.Requester, s Step) []kept {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.answers) == 0 { // as a rule: then the key is not worth its work
		return nil
	}
	key, _ := keyOf(who, s)
	all := h.answers[key]
	delete(h.answers, key)
	return all
}
