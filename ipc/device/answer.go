package device

import (
	"slices"
	"sync"
	"time"

	"nod/api"
	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
)

// shown is a view that was sent to a device.
type shown struct {
	digest string
	at     time.Time // when it was first sent
}

// sent are the last views of each prompt, by the device's key.
type sent struct {
	mu    sync.Mutex
	views map[string]map[interact.ID]shown
}

// add records a view and deletes those of prompts that are no longer pending.
func (s *sent) add(key string, id interact.ID, digest string, pending []Headline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := map[interact.ID]shown{}
	for _, h := range pending {
		if v, isKnown := s.views[key][h.ID]; isKnown {
			views[h.ID] = v
		}
	}
	if views[id].digest != digest {
		views[id] = shown{digest, time.Now()}
	}
	s.views[key] = views
}

// at returns when the device's latest view of a prompt was sent, and false if digest is that of another view.
func (s *sent) at(key string, id interact.ID, digest string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, isKnown := s.views[key][id]
	return v.at, isKnown && v.digest == digest
}

var outcomes = map[api.Kind][]api.Outcome{
	api.KindApprove: {api.Allowed, api.Denied},
	api.KindAsk:     {api.Answered, api.Dismissed},
	api.KindConfirm: {api.Answered, api.Dismissed},
	api.KindForm:    {api.Answered, api.Dismissed},
}

// check returns what is wrong with an answer that arrived since after its view was sent.
func (a answer) check(v View, since time.Duration) error {
	if !slices.Contains(outcomes[v.Kind], a.Outcome) {
		return Invalid("This does not answer the question.", "")
	}
	isNo := a.Outcome == api.Denied || a.Outcome == api.Dismissed ||
		a.Outcome == api.Answered && v.Kind == api.KindConfirm && !a.Confirmed
	switch {
	case isNo && !v.Refuses, !isNo && !slices.Contains(v.Suggestions, a.Suggestion):
		return Forbidden(v.Limit)
	case isNo:
		return nil
	case since < v.ArmAfter:
		wait := v.ArmAfter.Milliseconds() - since.Milliseconds()
		return &failure{Code: codeEarly, Message: "That was too fast: look again.", WaitMS: wait}
	case !a.Seen:
		return failed(codeEarly, "There is more to read.")
	}
	return nil
}

func (a answer) answer(d remote.Peer, v View, sent time.Time) interact.Answer {
	answer := interact.Answer{
		Outcome: a.Outcome, By: api.ByHuman, Reason: a.Reason, Suggestion: a.Suggestion, Text: a.Text,
		Confirmed: a.Confirmed, Values: a.Values, Device: d.Name,
		Shown: interact.Shown{
			At: sent, Armed: v.ArmAfter, Decided: time.Since(sent), With: interact.WithMouse, Facts: v.Facts,
		},
	}
	if a.Outcome == api.Allowed {
		answer.Scope = policy.Once
	}
	return answer
}
