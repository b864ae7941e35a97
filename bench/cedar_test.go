// Package bench compares nod with other programs' libraries. It is a module of its own, so that nod depends on none of
// them.
package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cedar "github.com/cedar-policy/cedar-go"

	"nod/policy"
)

// cedarRule says in Cedar (https://docs.cedarpolicy.com) what rule says. Cedar compares texts: nod also
// reads the command as a shell would, follows links in paths and looks for what is always asked about.
func cedarRule(i int, home string) string {
	const allow, deny = "permit", "forbid"
	say := func(verb, when string) string {
		return fmt.Sprintf("%s (principal == Agent::\"claude-code\", action, resource) when { %s };\n", verb, when)
	}
	switch i % 5 {
	case 0:
		return say(allow, fmt.Sprintf(`context.command == "make target-%d"`, i))
	case 1:
		path := fmt.Sprintf("%s/src/project-%d/*", home, i)
		return say(allow, fmt.Sprintf(`action == Action::"Edit" && context.path like %q`, path))
	case 2:
		return say(deny, fmt.Sprintf(`context.command == "command %d"`, i))
	case 3:
		return say(allow, fmt.Sprintf(`context.tool like "mcp__server_%d__*"`, i))
	}
	folder := fmt.Sprintf("%s/src/project-%d", home, i)
	return say(allow, fmt.Sprintf(`context.command == "make test" && context.cwd == %q`, folder))
}

func cedarPolicies(tb testing.TB, n int, home string) *cedar.PolicySet {
	tb.Helper()
	var text strings.Builder
	for i := range n {
		text.WriteString(cedarRule(i, home))
	}
	fmt.Fprintf(&text, "permit (principal, action == Action::%q, resource);\n", "Read") // the class that passes
	set, err := cedar.NewPolicySetFromBytes("policies", []byte(text.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func cedarRequest(c policy.Call) cedar.Request {
	var input map[string]string
	_ = json.Unmarshal(c.Input.Raw, &input) // of the benchmark's calls, all of which are flat
	return cedar.Request{
		Principal: cedar.NewEntityUID("Agent", cedar.String(c.Agent)),
		Action:    cedar.NewEntityUID("Action", cedar.String(c.Tool)),
		Resource:  cedar.NewEntityUID("Machine", "this"),
		Context: cedar.NewRecord(cedar.RecordMap{
			"tool": cedar.String(c.Tool), "command": cedar.String(input["command"]),
			"path": cedar.String(input["file_path"]), "cwd": cedar.String(c.CWD),
		}),
	}
}

// calls are what both are asked about, and home the folder that stands for the home.
func calls(tb testing.TB) (calls map[string]policy.Call, home string) {
	tb.Helper()
	home = tb.TempDir()
	src := filepath.Join(home, "src", "shop")
	if err := os.MkdirAll(src, 0o700); err != nil {
		tb.Fatal(err)
	}
	call := func(tool, field, value string) policy.Call {
		input, err := json.Marshal(map[string]string{field: value})
		if err != nil {
			tb.Fatal(err)
		}
		return policy.Call{
			Agent: "claude-code", Session: "s1", CWD: src, Tool: tool, Input: policy.ReadInput(input),
			Programs: []string{"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
		}
	}
	return map[string]policy.Call{
		"read":   call("Read", "file_path", filepath.Join(src, "main.go")),
		"bash":   call("Bash", "command", "make test"),
		"denied": call("Bash", "command", "command 7"),
		"target": call("Bash", "command", "make target-5"),
	}, home
}

// rule is one of the kinds of rules that people write.
func rule(i int) policy.Rule {
	r := policy.Rule{ID: fmt.Sprintf("r%d", i), Effect: policy.Allow, Agent: "claude-code"}
	switch i % 5 {
	case 0:
		r.Command = fmt.Sprintf("make target-%d", i)
	case 1:
		r.Path, r.Tool = fmt.Sprintf("~/src/project-%d/**", i), "Edit"
	case 2:
		r.Command, r.Effect = fmt.Sprintf("command %d", i), policy.Deny
	case 3:
		r.Tool = fmt.Sprintf("mcp__server_%d__*", i)
	case 4:
		r.Command, r.CWD = "make test", fmt.Sprintf("~/src/project-%d", i)
	}
	return r
}

func compiled(tb testing.TB, n int, home string) *policy.Compiled {
	tb.Helper()
	p := policy.Default()
	for i := range n {
		p.Rules = append(p.Rules, rule(i))
	}
	c, err := policy.Compile(p, policy.Places{Home: home, Own: []string{filepath.Join(home, ".config/nod")}})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// The comparison is one of like with like: both come to the same.
func TestCedarAgrees(t *testing.T) {
	calls, home := calls(t)
	nod, policies := compiled(t, 100, home), cedarPolicies(t, 100, home)
	for name, call := range calls {
		decision, _ := cedar.Authorize(policies, cedar.EntityMap{}, cedarRequest(call))
		if got := policy.Decide(call, nod, time.Now()).Effect; (got == policy.Allow) != bool(decision) {
			t.Errorf("%s: nod says %s, Cedar %v", name, got, decision)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	calls, home := calls(b)
	for _, n := range []int{10, 1000, 10_000} {
		nod, policies := compiled(b, n, home), cedarPolicies(b, n, home)
		for name, call := range calls {
			b.Run(fmt.Sprintf("nod/%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					policy.Decide(call, nod, time.Now())
				}
			})
			b.Run(fmt.Sprintf("cedar/%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				request := cedarRequest(call)
				for b.Loop() {
					cedar.Authorize(policies, cedar.EntityMap{}, request)
				}
			})
		}
	}
}
