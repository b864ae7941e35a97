package policy

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// A Proposal is a rule for a call and those like it, and what would come of the call with it.
type Proposal struct {
	Rule     Rule
	Changes  string   // id of the rule that it takes the place of; empty: it is another
	Decision Decision // on the call, with the rule
}

var (
	// ErrNoRule says that no rule can be made for a call.
	ErrNoRule = errors.New("no rule would bound what such a call does")
	// ErrRuleIsThere says that a rule with this effect is there already.
	ErrRuleIsThere = errors.New("a rule says so already")
)

// Propose makes the narrowest rule of an effect for a call that happened, and those like it. A rule for the same calls
// with another effect it changes. Nothing is saved. The error is [ErrNoRule] or [ErrRuleIsThere], or says what is wrong
// with the policy.
func Propose(p Policy, places Places, call Call, effect Effect, now time.Time) (Proposal, error) {
	compiled, err := Compile(p, places)
	if err != nil {
		return Proposal{}, err
	}
	f := newFacts(&call, compiled, now)
	r, ok := f.ruleFor(effect)
	if !ok {
		r, ok = f.wholeRule(effect)
	}
	if !ok {
		return Proposal{}, ErrNoRule
	}
	found := Proposal{Rule: r}
	rules := slices.Clone(p.Rules)
	at := slices.IndexFunc(rules, func(old Rule) bool { return old.matchesAs(r) })
	switch {
	case at < 0:
		found.Rule.ID = freeID(r, rules)
		rules = append(rules, found.Rule)
	case rules[at].Effect == effect && !rules[at].Disabled:
		return Proposal{Rule: rules[at], Changes: rules[at].ID}, ErrRuleIsThere
	default:
		found.Changes, found.Rule.ID = rules[at].ID, rules[at].ID
		rules[at] = found.Rule
	}
	p.Rules = rules
	if compiled, err = Compile(p, places); err != nil {
		return Proposal{}, err
	}
	found.Decision = Decide(call, compiled, now)
	return found, nil
}

// matchesAs reports whether two rules are for the same calls.
func (r Rule) matchesAs(o Rule) bool {
	r.ID, r.Effect, r.Note, r.Examples, r.Disabled = o.ID, o.Effect, o.Note, o.Examples, o.Disabled
	return r.Equal(o)
}

// wholeRule is a rule for what [facts.ruleFor] has none for: the host, the file or the command that the call names,
// else its tool in this project. It allows no more than tools of MCP servers and hosts: of others nothing would bound
// it.
func (f *facts) wholeRule(effect Effect) (Rule, bool) {
	c := f.call
	if c.Tool == "" || strings.ContainsAny(c.Tool, "*?") || effect == Allow && f.mustAsk().Effect == Ask {
		return Rule{}, false
	}
	r := Rule{Effect: effect, Agent: c.Agent, Tool: c.Tool}
	if program := c.Program(); isPlainFolder(program) {
		r.Program = program
	}
	hosts, sure := f.hosts()
	reach := f.reach()
	switch {
	case f.input.isRun && f.input.command != "" && effect != Allow:
		r.Command = f.input.command
	case f.input.isRun:
		return Rule{}, false
	case sure && len(hosts) == 1 && checkHost(hosts[0]) == "":
		r.Host = hosts[0]
	case len(reach) == 1 && isPlainFolder(reach[0].clean) && effect != Allow:
		r.Path = reach[0].clean
	case !isPlainFolder(c.CWD) || effect == Allow && !strings.HasPrefix(c.Tool, mcpPrefix):
		return Rule{}, false
	default:
		r.CWD = c.CWD
	}
	r.ID = "new" // only to have it checked
	return r, r.Validate() == nil
}
