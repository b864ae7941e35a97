package relay

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"nod/ipc/remote"
	"nod/policy"
)

// judge decides calls by the policies that desks gave this machine, applied to its own files. The strictest policy
// counts. Without a policy, judge asks about everything. It implements [interact.Policy], and is safe for concurrent
// use.
type judge struct {
	places policy.Places
	log    *slog.Logger

	current atomic.Pointer[inForce] // what Decide reads, published whole
	mu      sync.Mutex              // held while current changes
}

type inForce struct {
	policies   []*policy.Compiled // with the grants; never empty
	grants     []policy.Grant
	isFromDesk bool // a desk has sent one of them
}

func newJudge(places policy.Places, log *slog.Logger) *judge {
	j := &judge{places: places, log: log}
	j.current.Store(&inForce{})
	j.apply(func() []remote.Policy { return nil })
	return j
}

// apply puts the policies of desks in force. Of a policy that cannot be read here only the rules that deny remain, and
// the error says why. It lists them when no other apply is under way, which could have an older list.
func (j *judge) apply(list func() []remote.Policy) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := list()
	next := inForce{isFromDesk: len(all) > 0, grants: j.current.Load().grants}
	if len(all) == 0 {
		all = []remote.Policy{{Policy: policy.Policy{AskEverything: true}}}
	}
	var errs []error
	for _, p := range all {
		c, err := compile(p.Policy, j.places)
		next.policies, errs = append(next.policies, c), append(errs, err)
	}
	j.publish(next)
	return errors.Join(errs...)
}

// compile compiles a policy for the files of this machine. It skips the examples, which were tried at the desk and name
// its folders. If the policy cannot be read, each rule that denies on its own still does.
func compile(p policy.Policy, places policy.Places) (*policy.Compiled, error) {
	p = p.Clone()
	for i := range p.Rules {
		p.Rules[i].Examples = policy.Examples{}
	}
	c, err := policy.Compile(p, places)
	if err == nil {
		return c, nil
	}
	left, leftErr := policy.Compile(policy.Policy{Rules: deniers(p, places)}, places)
	if leftErr != nil {
		return nil, errors.Join(err, leftErr) // not for rules that were compiled one by one
	}
	return left.Broken(), fmt.Errorf("this nod can't read the desk's policy, so it asks about everything: %w", err)
}

func deniers(p policy.Policy, places policy.Places) (rules []policy.Rule) {
	for _, r := range p.Rules {
		if r.Effect != policy.Deny {
			continue
		}
		next := append(slices.Clip(rules), r)
		if _, err := policy.Compile(policy.Policy{Rules: next}, places); err == nil {
			rules = next
		}
	}
	return rules
}

// publish puts next in force, with the grants that are not over. The caller holds j.mu.
func (j *judge) publish(next inForce) {
	now := time.Now()
	next.grants = slices.DeleteFunc(slices.Clone(next.grants), func(g policy.Grant) bool { return g.IsOver(now) })
	policies := make([]*policy.Compiled, len(next.policies))
	for i, c := range next.policies {
		policies[i] = c.WithGrants(next.grants)
	}
	next.policies = policies
	j.current.Store(&next)
}

func (j *judge) Decide(call policy.Call) policy.Decision {
	s, now := j.current.Load(), time.Now()
	d := policy.Decide(call, s.policies[0], now)
	for _, c := range s.policies[1:] {
		other := policy.Decide(call, c, now)
		if other.Effect.IsStricter(d.Effect) || other.Effect == d.Effect && other.Insists() && !d.Insists() {
			d = other
		}
	}
	if !s.isFromDesk && d.Effect == policy.Ask {
		d.Rule, d.Reason = "builtin:no_policy", "no desk has given this machine a policy yet"
	}
	return d
}

func (j *judge) Used(d policy.Decision) {
	if !d.Grant {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := *j.current.Load()
	i := slices.IndexFunc(now.grants, func(g policy.Grant) bool { return g.ID == d.Rule })
	if i < 0 {
		return
	}
	now.grants = slices.Clone(now.grants)
	now.grants[i].Uses, now.grants[i].LastUsed = now.grants[i].Uses+1, time.Now()
	j.publish(now)
}

var errAlways = errors.New("a relay saves nothing permanently: make a rule at the desk")

// Grant keeps grants only in memory.
func (j *judge) Grant(call policy.Call, scope policy.Scope, cover policy.Cover) error {
	if scope.IsPermanent() {
		return errAlways
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := *j.current.Load()
	if !now.isFromDesk {
		return errors.New("save the approval: no desk has sent this machine a policy yet")
	}
	grants := now.grants
	for _, c := range now.policies {
		list, err := policy.NewGrants(call, scope, cover, c, time.Now())
		if err != nil {
			return err
		}
		for _, g := range list {
			grants = append(slices.DeleteFunc(slices.Clone(grants), g.SameAs), g)
		}
	}
	if len(grants) > policy.MaxGrants {
		return fmt.Errorf("save the approval: there are already %d: forget some at the desk", len(now.grants))
	}
	now.grants = grants
	j.publish(now)
	j.log.Info("grants kept", "scope", scope, "covers", cover, "grants", len(grants))
	return nil
}

func (j *judge) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := *j.current.Load()
	now.grants = nil
	j.publish(now)
}

func (j *judge) kept() (n int) {
	now := time.Now()
	for _, g := range j.current.Load().grants {
		if !g.IsOver(now) {
			n++
		}
	}
	return n
}

// offers returns what a desk may offer for a call: what every policy here would keep, word for word, and nothing
// permanent.
func (j *judge) offers(call policy.Call) policy.Offers {
	s, now := j.current.Load(), time.Now()
	if !s.isFromDesk {
		return policy.Offers{}
	}
	var offers policy.Offers
	for i, c := range s.policies {
		other := policy.NewOffers(call, c, c, now)
		if i == 0 {
			offers = other
			continue
		}
		offers.Grants = slices.DeleteFunc(offers.Grants, func(o policy.Offer) bool {
			return !slices.Contains(other.Grants, o)
		})
		if !slices.Equal(offers.Parts, other.Parts) { // one list of parts cannot say what several policies make of them
			offers.Parts = nil
		}
	}
	offers.Grants = slices.DeleteFunc(offers.Grants, func(o policy.Offer) bool { return o.Scope.IsPermanent() })
	return offers
}
