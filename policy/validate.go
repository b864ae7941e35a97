package policy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Validate reports everything that is wrong with a configuration, as [*FieldError] values.
func (c Config) Validate() error {
	var errs []error
	problems := c.problems()
	if len(problems) == 0 {
		problems = c.Policy.exampleProblems(DefaultPlaces())
	}
	for _, p := range problems {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

func (c Config) problems() []*FieldError {
	var found []*FieldError
	add := func(key, problem string) {
		if problem != "" {
			found = append(found, &FieldError{key, problem})
		}
	}
	add("ipc.address", checkAddress(c.IPC.Address))
	add("prompt.timeout", checkRange(c.Prompt.Timeout, time.Second, 24*time.Hour))
	add("prompt.arm_after", checkRange(c.Prompt.ArmAfter, 700*time.Millisecond, 10*time.Second))
	add("look.theme", checkOneOf(c.Look.Theme, "system", "light", "dark"))
	add("look.language", checkOneOf(c.Look.Language, "system", "en", "zh-CN"))
	for i, agent := range c.Agents.Strict {
		key := fmt.Sprintf("agents.strict[%d]", i)
		add(key, checkAgent(agent))
		add(key, checkFirst(c.Agents.Strict, i))
	}
	return append(found, c.Policy.problems()...)
}

func (p Policy) problems() []*FieldError {
	var found []*FieldError
	add := func(problem, format string, args ...any) {
		if problem != "" {
			found = append(found, &FieldError{fmt.Sprintf(format, args...), problem})
		}
	}
	for i, class := range p.AutoAllow {
		add(checkOneOf(class, Classes...), "policy.auto_allow[%d]", i)
		add(checkFirst(p.AutoAllow, i), "policy.auto_allow[%d]", i)
	}
	for i, agent := range p.TrustedAgents {
		add(checkAgent(agent), "policy.trusted_agents[%d]", i)
		add(checkFirst(p.TrustedAgents, i), "policy.trusted_agents[%d]", i)
	}
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
			add(fmt.Sprintf("%q is also the id of rules[%d]: want one that no other rule has", r.ID, first), "policy.rules[%d].id", i)
			continue
		}
		taken[r.ID] = i
	}
	return found
}

// normalize writes classes the way the rest of nod knows them.
func (p *Policy) normalize() {
	for i, class := range p.AutoAllow {
		if known, err := ParseClass(string(class)); err == nil {
			p.AutoAllow[i] = known
		}
	}
	for i, r := range p.Rules {
		if known, err := ParseClass(string(r.Class)); err == nil {
			p.Rules[i].Class = known
		}
		if len(r.Args) == 0 {
			p.Rules[i].Args = nil
		}
		if len(r.Examples.Match) == 0 {
			p.Rules[i].Examples.Match = nil
		}
		if len(r.Examples.NoMatch) == 0 {
			p.Rules[i].Examples.NoMatch = nil
		}
	}
}

// checkAddress wants an address that only this machine can reach.
func checkAddress(address string) string {
	const want = "want a loopback address with a port, as in 127.0.0.1:7463"
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Sprintf("%q: %s", address, want)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Sprintf("%q: the port is no number from 0 to 65535: %s", address, want)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback() || ip.Zone() != "") {
		return fmt.Sprintf("%q could be reached from elsewhere: %s", address, want)
	}
	return ""
}

func checkRange(d, least, most time.Duration) string {
	if d < least || d > most {
		return fmt.Sprintf("%s: want %s to %s", d, least, most)
	}
	return ""
}

func checkOneOf[T ~string](value T, known ...T) string {
	if !slices.Contains(known, value) {
		return fmt.Sprintf("%q: want %s", value, orList(known))
	}
	return ""
}

func checkFirst[T comparable](items []T, i int) string {
	if slices.Contains(items[:i], items[i]) {
		return fmt.Sprintf("%q is there twice: remove one of them", fmt.Sprint(items[i]))
	}
	return ""
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
