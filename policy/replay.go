package policy

import (
	"fmt"
	"slices"
	"time"
)

// A Simulation decides calls of the past by the configuration of today, and plays a person who answers every
// prompt with the widest "always" that it offers. Nothing of it is kept on disk. It is not safe for concurrent use.
//
// It looks at the disk as it is now, and knows of no program that asks: a rule on one never matches.
type Simulation struct {
	config Policy
	places Places
	rules  *Compiled         // without grants
	kept   *Compiled         // with the grants that the person has given so far
	tops   map[string]string // see [Compiled.tops]
}

// maxTops is how many sessions' projects are known at once.
const maxTops = 10_000

// NewSimulation returns a simulation by a policy, without any grants.
func NewSimulation(p Policy, places Places) (*Simulation, error) {
	return newSimulation(p, places, map[string]string{})
}

func newSimulation(p Policy, places Places, tops map[string]string) (*Simulation, error) {
	rules, err := Compile(p, places)
	if err != nil {
		return nil, err
	}
	rules.isPast, rules.tops = true, tops
	kept := rules.WithGrants(nil)
	return &Simulation{config: p, places: places, rules: rules, kept: kept, tops: tops}, nil
}

// note takes the folder that a session starts in for its project: the folders of the past may be gone, and with them
// what says where the project starts.
func (s *Simulation) note(c Call) {
	if c.Session == "" || c.CWD == "" || len(s.tops) >= maxTops {
		return
	}
	if key := sessionKey(&c); s.tops[key] == "" {
		s.tops[key] = c.CWD
	}
}

func sessionKey(c *Call) string { return c.Agent + "\x00" + c.Session }

// Decide says what the policy makes of a call, without any answer of the person.
func (s *Simulation) Decide(c Call, at time.Time) Decision {
	s.note(c)
	return Decide(c, s.rules, at)
}

// Answer reports whether the person sees a prompt for a call, after all that they have answered before. If so,
// they answer with the widest allow that is offered: edits in the project, the new parts of a command line, else
// exactly this call.
func (s *Simulation) Answer(c Call, at time.Time) (asked bool) {
	s.note(c)
	d := Decide(c, s.kept, at)
	for i := range s.kept.grants {
		if g := &s.kept.grants[i]; g.ID == d.Rule {
			g.LastUsed = at
		}
	}
	if d.Effect != Ask {
		return false
	}
	f := newFacts(&c, s.kept, at)
	for _, offer := range []struct {
		scope Scope
		cover Cover
	}{{UntilQuit, CoverEdits}, {Always, CoverCommands}, {Always, CoverInput}} {
		grants, err := f.newGrants(offer.scope, offer.cover)
		if err != nil || len(s.kept.grants)+len(grants) > MaxGrants {
			continue
		}
		for _, g := range grants {
			s.kept.grants = append(slices.DeleteFunc(s.kept.grants, g.SameAs), g)
		}
		break
	}
	return true
}

// With returns the simulation by the same policy and further rules.
func (s *Simulation) With(rules ...Rule) (*Simulation, error) {
	p := s.config
	p.Rules = slices.Concat(p.Rules, rules)
	with, err := newSimulation(p, s.places, s.tops)
	if err != nil {
		return nil, fmt.Errorf("add the suggested rules: %w", err)
	}
	return with, nil
}

// IsQuestion reports whether a tool asks the human something. Such a call is no matter of leave.
func IsQuestion(c Call) bool { return isQuestion(c.Tool) }
