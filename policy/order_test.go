//go:build unix

package policy

import "testing"

// Of all that speaks about a call the first in this order decides, whatever else there is: each set of them is tried.
func TestOrder(t *testing.T) {
	home := tree(t)
	project := newProject(t, home)
	rule := func(id string, e Effect) func(*Policy, *Call) {
		return func(p *Policy, _ *Call) { p.Rules = append(p.Rules, Rule{ID: id, Effect: e, Command: "make"}) }
	}
	order := []struct {
		by     string // the rule that decides; empty: whatever has the effect
		effect Effect
		add    func(*Policy, *Call) // nil: a grant
	}{
		{"no", Deny, rule("no", Deny)},
		{"builtin:refused", Ask, func(_ *Policy, c *Call) { c.Refused = true }},
		{"hm", Ask, rule("hm", Ask)},
		{"box", Sandbox, rule("box", Sandbox)},
		{"yes", Allow, rule("yes", Allow)},
		{"", Allow, nil},
		{"", Allow, func(p *Policy, _ *Call) { p.AutoAllow = Classes }},
		{sandboxRule, Sandbox, func(p *Policy, _ *Call) { p.Sandbox.Projects = []string{project} }},
	}
	for set := range 1 << len(order) {
		var p Policy
		var grants []Grant
		c := bash("make")
		c.CWD, c.Contains = project, true
		by, effect := "", Ask
		for i := len(order) - 1; i >= 0; i-- {
			switch o := order[i]; {
			case set&(1<<i) == 0:
				continue
			case o.add == nil:
				sum, _ := inputSHA256(c.Input.Raw)
				grants = []Grant{{ID: "g", Agent: c.Agent, Program: c.program(), CWD: project, Tool: c.Tool, InputSHA256: sum}}
			default:
				o.add(&p, &c)
			}
			by, effect = order[i].by, order[i].effect
		}
		decide := func(p Policy) *Compiled { return compileIn(t, p, Places{Home: home}).WithGrants(grants) }
		if d := Decide(c, decide(p), testNow); d.Effect != effect || by != "" && d.Rule != by {
			t.Errorf("%08b: %s by %q, want %s by %q", set, d.Effect, d.Rule, effect, by)
		}
		if d := Decide(c, decide(p).Broken(), testNow); d.Effect.Permits() || (d.Effect == Deny) != (effect == Deny) {
			t.Errorf("%08b, broken: %s by %q", set, d.Effect, d.Rule)
		}
		p.AskEverything = true
		if d := Decide(c, decide(p), testNow); d.Effect.Permits() || (d.Effect == Deny) != (effect == Deny) {
			t.Errorf("%08b, asking about everything: %s by %q", set, d.Effect, d.Rule)
		}
	}
}
