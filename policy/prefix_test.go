package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// withPrefix opens a store in which commands that start with "go test" are allowed until nod quits.
func withPrefix(t testing.TB) *Compiled {
	t.Helper()
	p, err := Compile(Default().Policy, Places{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGrant(bash("go test ./..."), UntilQuit, true, p, testNow)
	if err != nil || g.Prefix != "go test" {
		t.Fatalf("%+v, %v", g, err)
	}
	return p.withGrants([]Grant{g})
}

func TestPrefixGrant(t *testing.T) {
	p := withPrefix(t)
	for _, command := range []string{"go test", "go test ./...", "go test -run 'Test A' ./x", `go  test "./a b"`, " go test"} {
		if d := Decide(bash(command), p, testNow); d.Effect != Allow || !d.Grant {
			t.Errorf("%q: %+v", command, d)
		}
	}
	for _, command := range []string{
		"go", "go build", "go testing", "gotest", "go -C x test", "go vet && go test", "'go test' x", "go\\ test x",
		"go test; x", "go test && x", "go test || x", "go test | x", "go test\nx", "go test $(x)", "go test `x`", "go test > f", "go test >> f",
		"go test < f", "go test 2>&1", "go test &", "FOO=1 go test", "env go test", "sudo go test", "! go test", "(go test)", "{ go test; }",
		"go test $X", "go test *", "go test {a,b}", "go test ~x", "go test # x", "go test <(x)", "go test\rx", "go test\u202ex", "./go test", "/usr/bin/go test",
		"GO test", "if true; then go test; fi", "go test;", "time go test", "exec go test", "command go test", "coproc go test", "go test \\\n; x",
	} {
		if d := Decide(bash(command), p, testNow); d.Effect == Allow {
			t.Errorf("%q is allowed: %+v", command, d)
		}
	}
}

// The grant is for one agent, program, folder and tool, and for nothing beside the command.
func TestPrefixGrantIsBound(t *testing.T) {
	p := withPrefix(t)
	for name, change := range map[string]func(*Call){
		"agent":   func(c *Call) { c.Agent = "codex" },
		"program": func(c *Call) { c.Programs = []string{"/usr/bin/other"} },
		"folder":  func(c *Call) { c.CWD = "/elsewhere" },
		"tool":    func(c *Call) { c.Tool = "Terminal" },
		"shell":   func(c *Call) { c.Input = json.RawMessage(`{"command":"go test","shell":"/tmp/evil"}`) },
		"workdir": func(c *Call) { c.Input = json.RawMessage(`{"command":"go test","workdir":"/tmp"}`) },
		"twice":   func(c *Call) { c.Input = json.RawMessage(`{"command":"x","command":"go test"}`) },
		"long":    func(c *Call) { c.Input = bash("go test " + strings.Repeat("x", maxInput)).Input },
	} {
		c := bash("go test ./...")
		change(&c)
		if d := Decide(c, p, testNow); d.Effect == Allow {
			t.Errorf("another %s: %+v", name, d)
		}
	}
}

func TestWhatHasNoPrefix(t *testing.T) {
	p := compiled(t, Default().Policy)
	calls := []Call{file("Write", "/srv/x"), {Agent: "a", Tool: "T", Input: json.RawMessage(`{"command":"go test"}`)}}
	for _, command := range []string{"python -m x", "bash -c x", "sudo go test", "git", "node x.js", "go test | tee x", "xargs go test", "rm -rf x", "xdotool key x", "go test > f"} {
		calls = append(calls, bash(command))
	}
	for _, c := range calls {
		if g, err := newGrant(c, Always, true, p, testNow); err == nil {
			t.Errorf("%s: a grant for %q", c.Input, g.Prefix)
		}
	}
}

func FuzzPrefixGrant(f *testing.F) {
	for _, s := range []string{"; x", " && x", " | x", "\nx", " $(x)", " `x`", " > f", " &", " -run A", " 'a b'", "\\", "\"", " #x"} {
		f.Add(s)
	}
	p := withPrefix(f)
	f.Fuzz(func(t *testing.T, tail string) {
		d := Decide(bash("go test"+tail), p, testNow)
		if d.Effect != Allow {
			return
		}
		// What is allowed is words only: nothing that a shell does anything with outside of quotes.
		bare := strings.ContainsAny(strings.TrimSpace(tail), ";&|<>`()\n\r$*?#") && !strings.ContainsAny(tail, `'"\\`)
		if bare || strings.TrimLeft(tail, " \t\n") == tail && tail != "" && !strings.ContainsAny(tail[:1], `'"`) {
			t.Errorf("%q is allowed", tail)
		}
	})
}

func TestGrantsRest(t *testing.T) {
	s := openStore(t, "")
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	c := bash("make all")
	if err := s.Grant(c, Always, false); err != nil {
		t.Fatal(err)
	}
	used := func(want Effect, when string) {
		t.Helper()
		if d := s.Decide(c); d.Effect != want {
			t.Errorf("%s: %+v", when, d)
		}
	}
	now = now.Add(29 * 24 * time.Hour)
	used(Allow, "after 29 days")
	now = now.Add(29 * 24 * time.Hour)
	used(Allow, "29 days after its last use")
	now = now.Add(31 * 24 * time.Hour)
	used(Ask, "unused for 31 days")
	if g := s.Grants(); len(g) != 1 || !g[0].Rests(now) {
		t.Fatalf("grants %+v", g)
	}
	if err := s.Grant(c, Always, false); err != nil {
		t.Fatal(err)
	}
	used(Allow, "allowed anew")
	if g := s.Grants(); len(g) != 1 {
		t.Errorf("grants %+v", g)
	}
}

func TestUntilQuitIsNotKept(t *testing.T) {
	s := openStore(t, "")
	if err := s.Grant(bash("make all"), UntilQuit, false); err != nil {
		t.Fatal(err)
	}
	if d := s.Decide(bash("make all")); d.Effect != Allow || !strings.Contains(d.Reason, "until nod quits") {
		t.Errorf("%+v", d)
	}
	again, err := OpenStore(s.path, s.grants.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := again.Decide(bash("make all")); d.Effect != Ask {
		t.Errorf("after nod quit: %+v", d)
	}
}

// A prefix that is kept for always is read again, and one that somebody made too wide is not believed.
func TestPrefixGrantsAreKept(t *testing.T) {
	s := openStore(t, "")
	if err := s.Grant(bash("go test ./..."), Always, true); err != nil {
		t.Fatal(err)
	}
	if got := s.Grants()[0].Text(); !strings.Contains(got, `any command that starts with "go test"`) {
		t.Errorf("text %q", got)
	}
	again := openGrants(s.grants.path)
	if again.err != nil || len(again.all) != 1 || again.all[0].Prefix != "go test" {
		t.Fatalf("%+v", again)
	}
	text, err := os.ReadFile(s.grants.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, wide := range []string{"go", "bash -c", "sudo go", "go  test", "Go test", "go test "} {
		write(t, s.grants.path, strings.Replace(string(text), `"go test"`, `"`+wide+`"`, 1))
		if b := openGrants(s.grants.path); b.err == nil {
			t.Errorf("%q was believed", wide)
		}
	}
	write(t, s.grants.path, `{"version":1,"grants":[]}`)
	if b := openGrants(s.grants.path); b.err != nil {
		t.Errorf("a file of the first version: %v", b.err)
	}
}
