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
	given  map[string]*Grant // by id
	tops   map[string]string // see [Compiled.tops]
}

// maxTops is how many sessions' projects are known at once.
const maxTops = 10_000

// Simulate returns a simulation by the store's configuration, without the grants that there are.
func (s *Store) Simulate() (*Simulation, error) {
	if err := s.current.Load().err; err != nil {
		return nil, err
	}
	return newSimulation(s.Config().Policy, s.places)
}

// NewSimulation returns a simulation by a policy.
func NewSimulation(p Policy) (*Simulation, error) { return newSimulation(p, DefaultPlaces()) }

func newSimulation(p Policy, places Places) (*Simulation, error) {
	rules, err := Compile(p, places)
	if err != nil {
		return nil, err
	}
	tops := map[string]string{}
	rules.isPast, rules.tops = true, tops
	kept := rules.withGrants(nil)
	kept.grants = grantIndex{}
	return &Simulation{config: p, places: places, rules: rules, kept: kept, given: map[string]*Grant{}, tops: tops}, nil
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
	if d.Grant {
		s.use(d.Rule, at)
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
		if err != nil || s.kept.grants.len()+len(grants) > maxGrants {
			continue
		}
		for i := range grants {
			s.kept.grants.add(&grants[i])
			s.given[grants[i].ID] = &grants[i]
		}
		break
	}
	return true
}

// len is how many grants there are.
func (ix grantIndex) len() (n int) {
	for _, list := range ix {
		n += len(list)
	}
	return n
}

func (s *Simulation) use(id string, at time.Time) {
	if g := s.given[id]; g != nil {
		g.LastUsed = at
	}
}

// Suggest returns the rules, without ids, that would together let a call pass that is asked about; none when
// no rule may: one for each command, or one for all. They are as narrow as those of [Store.Suggest].
func (s *Simulation) Suggest(c Call) []Rule {
	r, ok := ruleFor(Past{c, Allow}, s.rules)
	if !ok {
		return nil
	}
	if len(r.Run) < 2 {
		return []Rule{r}
	}
	var rules []Rule
	for i := range r.Run {
		one := r
		one.Run = r.Run[i : i+1]
		rules = append(rules, one)
	}
	return rules
}

// With names the rules, adds them to the policy, and returns them with the simulation that they make.
func (s *Simulation) With(rules []Rule) (*Simulation, []Rule, error) {
	p, named := s.config, slices.Clone(rules)
	p.Rules = slices.Clone(p.Rules)
	for i := range named {
		named[i].ID = freeID(named[i], p.Rules)
		p.Rules = append(p.Rules, named[i])
	}
	with, err := newSimulation(p, s.places)
	if err != nil {
		return nil, nil, fmt.Errorf("add the suggested rules: %w", err)
	}
	return with, named, nil
}

// IsQuestion reports whether a tool asks the human something. Such a call is no matter of leave.
func IsQuestion(c Call) bool { return isQuestion(c.Tool) }
