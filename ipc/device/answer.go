package device

import (
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
	"nod/ipc/remote"
	"nod/policy"
)

// shown is a view that a device has.
type shown struct {
	digest string
	at     time.Time // when it was first sent
}

// sent is what devices have been shown, by key: of each prompt the last view.
type sent struct {
	mu    sync.Mutex
	views map[string]map[interact.ID]shown
}

// add takes note of a view that is sent now, and forgets those of what is not pending any more.
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

// at is when a view was sent to a device, which has not been sent another one since.
func (s *sent) at(key string, id interact.ID, digest string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, isKnown := s.views[key][id]
	return v.at, isKnown && v.digest == digest
}

// outcomes are those that a device may give to a request of a kind.
var outcomes = map[interact.Kind][]interact.Outcome{
	interact.KindApprove: {interact.Allowed, interact.Denied},
	interact.KindAsk:     {interact.Answered, interact.Dismissed},
	interact.KindConfirm: {interact.Answered, interact.Dismissed},
	interact.KindForm:    {interact.Answered, interact.Dismissed},
}

// check says why an answer does not count that was given to a view a while after it was sent.
func (a Answer) check(v View, since time.Duration) *Problem {
	if !slices.Contains(outcomes[v.Kind], a.Outcome) {
		return Invalid(lang.L("This is no answer to what is asked."), "")
	}
	isNo := a.Outcome == interact.Denied || a.Outcome == interact.Dismissed ||
		a.Outcome == interact.Answered && v.Kind == interact.KindConfirm && !a.Confirmed
	offers := func(b Affirmation) bool { return b.Suggestion == a.Suggestion }
	switch {
	case isNo && v.Refuse == nil, !isNo && !slices.ContainsFunc(v.Affirm, offers):
		return Forbidden(v.Limit)
	case isNo:
		return nil
	case since < time.Duration(v.ArmMS)*time.Millisecond:
		p := problem(codeEarly, lang.L("That was too fast: look again."))
		p.WaitMS = v.ArmMS - since.Milliseconds()
		return p
	case !a.Seen:
		return problem(codeEarly, lang.L("There is more to read."))
	}
	return nil
}

// answer is what the broker takes of it, given to a view that was sent then.
func (a Answer) answer(d remote.Peer, v View, sent time.Time) interact.Answer {
	answer := interact.Answer{
		Outcome: a.Outcome, By: interact.ByHuman, Reason: a.Reason, Suggestion: a.Suggestion, Text: a.Text,
		Confirmed: a.Confirmed, Values: a.Values, Device: d.Name,
		Shown: interact.Shown{
			At: sent, Armed: time.Duration(v.ArmMS) * time.Millisecond, Decided: time.Since(sent), With: interact.WithMouse,
		},
	}
	for _, f := range v.Facts {
		answer.Shown.Facts = append(answer.Shown.Facts, f.Text)
	}
	if a.Outcome == interact.Allowed {
		answer.Scope = policy.Once
	}
	return answer
}
