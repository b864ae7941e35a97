package policy

import (
	"errors"
	"fmt"
	"slices"
)

// maxRules is how many rules a policy may have.
const maxRules = 20_000

// Problems lists what is wrong with a policy, by the keys of a configuration, but for examples that fail.
func (p Policy) Problems() []*FieldError {
	var found []*FieldError
	add := func(problem, format string, args ...any) {
		if problem != "" {
			found = append(found, &FieldError{fmt.Sprintf(format, args...), problem})
		}
	}
	for i, class := range p.AutoAllow {
		add(CheckOneOf(class, Classes...), "policy.auto_allow[%d]", i)
		add(checkFirst(p.AutoAllow, i), "policy.auto_allow[%d]", i)
	}
	found = append(found, CheckAgents("policy.trusted_agents", p.TrustedAgents)...)
	for i, root := range p.TrustedRoots {
		add(checkPattern(root), "policy.trusted_roots[%d]", i)
		add(checkFirst(p.TrustedRoots, i), "policy.trusted_roots[%d]", i)
	}
	if len(p.Rules) > maxRules {
		add(fmt.Sprintf("%d rules: want at most %d", len(p.Rules), maxRules), "policy.rules")
		return found
	}
	taken := make(map[string]int, len(p.Rules))
	for i, r := range p.Rules {
		var field *FieldError
		if errors.As(r.Validate(), &field) {
			add(field.Problem, "policy.rules[%d].%s", i, field.Key)
			continue
		}
		if first, ok := taken[r.ID]; ok {
			problem := fmt.Sprintf("%q is also the id of rules[%d]: want one that no other rule has", r.ID, first)
			add(problem, "policy.rules[%d].id", i)
			continue
		}
		taken[r.ID] = i
	}
	return found
}

// Normalize writes classes the way the rest of nod knows them, and lists without elements as nil.
func (p *Policy) Normalize() {
	for i, class := range p.AutoAllow {
		if class == oldWrite {
			p.AutoAllow[i] = Write
		}
	}
	for i, r := range p.Rules {
		if r.Class == oldWrite {
			p.Rules[i].Class = Write
		}
		p.Rules[i].Run, p.Rules[i].Args = orNil(r.Run), orNil(r.Args)
		p.Rules[i].Examples = Examples{orNil(r.Examples.Match), orNil(r.Examples.NoMatch)}
	}
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// CheckOneOf says what is wrong with a value that is none of the known ones, or nothing.
func CheckOneOf[T ~string](value T, known ...T) string {
	if !slices.Contains(known, value) {
		return fmt.Sprintf("%q: want %s", value, OrList(known))
	}
	return ""
}

func checkFirst[T comparable](items []T, i int) string {
	if slices.Contains(items[:i], items[i]) {
		return fmt.Sprintf("%q is there twice: remove one of them", fmt.Sprint(items[i]))
	}
	return ""
}

// CheckAgents lists what is wrong with the names of agents in a list of the configuration.
func CheckAgents(key string, agents []string) []*FieldError {
	var found []*FieldError
	for i, agent := range agents {
		for _, problem := range []string{checkAgent(agent), checkFirst(agents, i)} {
			if problem != "" {
				found = append(found, &FieldError{fmt.Sprintf("%s[%d]", key, i), problem})
			}
		}
	}
	return found
}

func checkAgent(name string) string {
	switch {
	case name == "" || len(name) > 200:
		return "want the name that the agent gives itself, at most 200 bytes"
	case hasHidden(name):
		return fmt.Sprintf("%+q holds a character that cannot be seen: remove it", name)
	}
	return ""
}
