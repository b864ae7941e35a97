package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cedar "github.com/cedar-policy/cedar-go"
)

// cedarRule says in Cedar (https://docs.cedarpolicy.com) what benchmarkRule says. Cedar compares texts: nod also
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
		return say(allow, fmt.Sprintf(`action == Action::"Edit" && context.path like %q`, fmt.Sprintf("%s/src/project-%d/*", home, i)))
	case 2:
		return say(deny, fmt.Sprintf(`context.command == "command %d"`, i))
	case 3:
		return say(allow, fmt.Sprintf(`context.tool like "mcp__server_%d__*"`, i))
	}
	return say(allow, fmt.Sprintf(`context.command == "make test" && context.cwd == %q`, fmt.Sprintf("%s/src/project-%d", home, i)))
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

func cedarRequest(c Call) cedar.Request {
	var input map[string]string
	_ = json.Unmarshal(c.Input, &input) // of the benchmark's calls, all of which are flat
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

// benchmarkCalls are the calls that both are asked about, and the folder that stands for the home.
func benchmarkCalls(tb testing.TB) (calls map[string]Call, home string) {
	tb.Helper()
	home = tb.TempDir()
	src := filepath.Join(home, "src", "shop")
	if err := os.MkdirAll(src, 0o700); err != nil {
		tb.Fatal(err)
	}
	read := file("Read", filepath.Join(src, "main.go")).with(func(c *Call) { c.CWD = src })
	return map[string]Call{"read": read, "bash": bash("make test"), "denied": bash("command 7")}, home
}

func benchmarkPolicy(tb testing.TB, n int, home string) *Compiled {
	tb.Helper()
	p := Default().Policy
	for i := range n {
		p.Rules = append(p.Rules, benchmarkRule(i))
	}
	c, err := Compile(p, Places{Home: home, Own: []string{filepath.Join(home, ".config/nod")}})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// The comparison is one of like with like: both come to the same.
func TestCedarAgrees(t *testing.T) {
	calls, home := benchmarkCalls(t)
	calls["target"] = bash("make target-5")
	nod, policies := benchmarkPolicy(t, 100, home), cedarPolicies(t, 100, home)
	for name, call := range calls {
		decision, _ := cedar.Authorize(policies, cedar.EntityMap{}, cedarRequest(call))
		if got := Decide(call, nod, testNow).Effect; (got == Allow) != bool(decision) {
			t.Errorf("%s: nod says %s, Cedar %v", name, got, decision)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	calls, home := benchmarkCalls(b)
	for _, n := range []int{10, 1000, 10_000} {
		nod, policies := benchmarkPolicy(b, n, home), cedarPolicies(b, n, home)
		for name, call := range calls {
			b.Run(fmt.Sprintf("nod/%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Decide(call, nod, testNow)
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
