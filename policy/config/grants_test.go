package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/policy"
)

// A grant is for exactly one call: whatever differs is asked about again.
func TestGrantIsExact(t *testing.T) {
	call := with(bash(""), holding(`{"command":"make deploy","timeout":5}`))
	others := map[string]func(*policy.Call){
		"a byte of the input":      holding(`{"command":"make deploY","timeout":5}`),
		"a field more":             holding(`{"command":"make deploy","timeout":5,"x":1}`),
		"a number written anew":    holding(`{"command":"make deploy","timeout":5.0}`),
		"a text for a number":      holding(`{"command":"make deploy","timeout":"5"}`),
		"the tool":                 func(c *policy.Call) { c.Tool = "bash" },
		"the agent's name":         func(c *policy.Call) { c.Agent = "codex" },
		"the folder":               func(c *policy.Call) { c.CWD = "/home/u/src/bank" },
		"the program":              func(c *policy.Call) { c.Programs = []string{"/tmp/evil/claude"} },
		"a program in between":     func(c *policy.Call) { c.Programs = append([]string{"/tmp/evil"}, c.Programs...) },
		"a program not verified":   func(c *policy.Call) { c.Programs = nil },
		"nothing but shells known": func(c *policy.Call) { c.Programs = []string{"/bin/sh"} },
	}
	for _, scope := range []policy.Scope{policy.ThisSession, policy.QuarterHour, policy.Always} {
		s := openStore(t, "policy: {auto_allow: []}\n")
		if err := s.Grant(call, scope, policy.CoverInput); err != nil {
			t.Fatal(err)
		}
		d := s.Decide(call)
		if d.Effect != policy.Allow || !d.Grant || d.Rule != s.Grants()[0].ID || !strings.Contains(d.Reason, "exactly this") {
			t.Errorf("%s: %+v", scope, d)
		}
		same := with(call, holding(`{ "timeout": 5, "command": "make\u0020deploy" }`))
		if d := s.Decide(same); !d.Grant {
			t.Errorf("%s: the same in other bytes: %+v", scope, d)
		}
		through := with(
			call,
			func(c *policy.Call) { c.Programs = []string{"/bin/bash", "/usr/local/bin/nod", "/usr/bin/claude"} },
		)
		if d := s.Decide(through); !d.Grant {
			t.Errorf("%s: through another shell: %+v", scope, d)
		}
		for what, change := range others {
			if d := s.Decide(with(call, change)); d.Effect != policy.Ask {
				t.Errorf("%s: other %s: %+v, want ask", scope, what, d)
			}
		}
		elsewhere := with(call, func(c *policy.Call) { c.Session = "s2" })
		if d := s.Decide(elsewhere); d.Grant == (scope == policy.ThisSession) {
			t.Errorf("%s: in another session: %+v", scope, d)
		}
	}
}

func TestGrantBeatsNoRule(t *testing.T) {
	s := openStore(t, goodFile)
	for command, want := range map[string]policy.Effect{"git push": policy.Deny, "make all": policy.Ask} {
		call := bash(command)
		if err := s.Grant(call, policy.Always, policy.CoverInput); err != nil {
			t.Fatal(err)
		}
		if d := s.Decide(call); d.Effect != want || d.Grant {
			t.Errorf("%s: %+v, want %s by the rule", command, d, want)
		}
	}
	call := bash("echo")
	if err := s.Grant(call, policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(c *Config) error { c.Policy.AskEverything = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if d := s.Decide(call); d.Effect != policy.Ask {
		t.Errorf("ask about everything: %+v", d)
	}
}

// What is always asked about can only be allowed once: no wider scope is offered, and none is kept.
func TestOnlyOnce(t *testing.T) {
	s := openStore(t, "")
	tests := map[string]policy.Call{
		"hidden characters":   bash("ls\u200b"),
		"long":                bash(strings.Repeat("x", 10_000+1)),
		"a field twice":       with(bash(""), holding(`{"a":1,"a":2}`)),
		"a question":          fileCall("AskUserQuestion", ""),
		"nod's configuration": fileCall("Write", configPath(s)),
		"a hook of git":       fileCall("Write", "/srv/.git/hooks/pre-push"),
	}
	for name, call := range tests {
		for _, scope := range []policy.Scope{policy.ThisSession, policy.QuarterHour, policy.Always} {
			if err := s.Grant(call, scope, policy.CoverInput); err == nil {
				t.Errorf("%s: kept for %s", name, scope)
			}
			if text := s.Offers(call).Grant(scope, policy.CoverInput).Text; text != "" {
				t.Errorf("%s: offered for %s: %s", name, scope, text)
			}
		}
	}
	for _, scope := range []policy.Scope{policy.Once, "", "forever"} {
		if err := s.Grant(bash("x"), scope, policy.CoverInput); err == nil {
			t.Errorf("kept for %q", scope)
		}
	}
	nameless := with(bash("x"), func(c *policy.Call) { c.Session = "" })
	if s.Grant(nameless, policy.ThisSession, policy.CoverInput) == nil ||
		s.Offers(nameless).Grant(policy.ThisSession, policy.CoverInput).Text != "" {
		t.Error("kept for a session without a name")
	}
	if n := len(s.Grants()); n != 0 {
		t.Errorf("%d grants", n)
	}
}

func TestGrantText(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	s := openStore(t, "")
	tests := []struct {
		scope  policy.Scope
		change func(*policy.Call)
		want   string
	}{
		{
			policy.Always, func(*policy.Call) {},
			"claude-code (/usr/bin/claude) may use Bash with exactly this input in ~/src/shop, until you revoke it",
		},
		{
			policy.QuarterHour, func(*policy.Call) {},
			"claude-code (/usr/bin/claude) may use Bash with exactly this input in ~/src/shop, for 15 minutes",
		},
		{
			policy.ThisSession,
			func(*policy.Call) {},
			"claude-code (/usr/bin/claude) may use Bash with exactly this input in ~/src/shop, " +
				"until this session ends or nod quits",
		},
		{policy.Always, func(c *policy.Call) { c.Agent, c.Programs, c.CWD = "", nil, "/home/unlike" },
			"an unnamed agent (program not verified) may use Bash with exactly this input in /home/unlike, until you " +
				"revoke it"},
		{policy.Always, func(c *policy.Call) { c.Agent = "x (/usr/bin/claude) to use Read\u202e"; c.CWD = "" },
			`"x (/usr/bin/claude) to use Read\u202e" (/usr/bin/claude) may use Bash with exactly this input in ` +
				`an unnamed folder, until you revoke it`},
	}
	for _, tt := range tests {
		if got := s.Offers(with(bash("make"), tt.change)).Grant(tt.scope, policy.CoverInput).Text; got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestGrantExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "")
		call := bash("make")
		if err := s.Grant(call, policy.QuarterHour, policy.CoverInput); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for _, tt := range []struct {
			after time.Duration
			want  policy.Effect
		}{
			{0, policy.Allow}, {15*time.Minute - time.Nanosecond, policy.Allow}, {15 * time.Minute, policy.Ask},
			{time.Hour, policy.Ask},
		} {
			time.Sleep(time.Until(start.Add(tt.after)))
			if d := s.Decide(call); d.Effect != tt.want {
				t.Errorf("after %s: %s, want %s", tt.after, d.Effect, tt.want)
			}
		}
		if n := len(s.Grants()); n != 0 {
			t.Errorf("%d grants are listed after their end", n)
		}
	})
}

func TestGrantsSurviveRestart(t *testing.T) {
	s := openStore(t, goodFile)
	for command, scope := range map[string]policy.Scope{
		"a": policy.Always, "b": policy.ThisSession, "c": policy.QuarterHour,
	} {
		if err := s.Grant(bash(command), scope, policy.CoverInput); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		s.Used(s.Decide(bash("a")))
		s.Decide(bash("a")) // to decide uses nothing
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(configPath(s), s.book.path, nil)
	if err != nil || again.Err() != nil {
		t.Fatal(err, again.Err())
	}
	list := again.Grants()
	if len(list) != 1 || list[0].Uses != 3 || list[0].LastUsed.IsZero() || list[0].Shown != `{"command":"a"}` {
		t.Fatalf("%+v", list)
	}
	for command, want := range map[string]policy.Effect{"a": policy.Allow, "b": policy.Ask, "c": policy.Ask} {
		if d := again.Decide(bash(command)); d.Effect != want {
			t.Errorf("%s: %+v, want %s", command, d, want)
		}
	}
	if text := list[0].Text(); !strings.HasSuffix(text, "until you revoke it") {
		t.Error(text)
	}
}

func TestRevoke(t *testing.T) {
	s := openStore(t, goodFile)
	for _, command := range []string{"a", "b", "c"} {
		if err := s.Grant(bash(command), policy.Always, policy.CoverInput); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(s.Grants()[1].ID); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]policy.Effect{"a": policy.Allow, "b": policy.Ask, "c": policy.Allow} {
		if d := s.Decide(bash(command)); d.Effect != want {
			t.Errorf("%s: %+v, want %s", command, d, want)
		}
	}
	if err := s.Revoke("nothing"); err == nil {
		t.Error("revoked what is not there")
	}
	if err := s.RevokeAll(); err != nil || len(s.Grants()) != 0 {
		t.Errorf("%v, %v", err, s.Grants())
	}
	again, err := Open(configPath(s), s.book.path, nil)
	if err != nil || again.Err() != nil || len(again.Grants()) != 0 {
		t.Errorf("after a restart: %v, %v, %v", err, again.Err(), again.Grants())
	}
}

// Revoking works even when the file cannot be written: the grant is out of force, and the error says so.
func TestRevokeWithoutDisk(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	s, err := Open(filepath.Join(folder, "config.yaml"), filepath.Join(data, "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(bash("a"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	write(t, data, "") // a file where the folder would have to be
	if err := s.Revoke(s.Grants()[0].ID); err == nil {
		t.Error("no error")
	}
	if d := s.Decide(bash("a")); d.Effect != policy.Ask {
		t.Errorf("%+v, want ask", d)
	}
	if err := s.Grant(bash("b"), policy.Always, policy.CoverInput); err == nil {
		t.Error("kept what could not be written")
	}
	if d := s.Decide(bash("b")); d.Effect != policy.Ask {
		t.Errorf("%+v, want ask", d)
	}
}

func TestBrokenGrants(t *testing.T) {
	s := openStore(t, goodFile)
	if err := s.Grant(bash("a"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(s.book.path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	g := s.Grants()[0]
	builds := strings.NewReplacer(`"always"`, `"everywhere"`, `"cwd": "`+g.CWD+`"`, `"cwd": ""`,
		`"input_sha256": "`+g.InputSHA256+`"`, `"work": "builds"`).Replace(string(good))
	tests := map[string]string{
		"cut off":              string(good[:len(good)/2]),
		"empty":                "",
		"something after":      string(good) + "{}",
		"an unknown field":     spoil(`"uses"`, `"times"`),
		"another version":      spoil(`"version": 4`, `"version": 5`),
		"another scope":        spoil(`"always"`, `"15m"`),
		"everywhere, here":     spoil(`"always"`, `"everywhere"`),
		"everywhere, builds":   builds,
		"an end":               spoil(`"uses": 0`, `"uses": 0, "expires": "2030-01-01T00:00:00Z"`),
		"no hash":              spoil(s.Grants()[0].InputSHA256, "abc"),
		"no tool":              spoil(`"Bash"`, `""`),
		"an id that is none":   spoil(s.Grants()[0].ID, "x"),
		"a grant for all":      `{"version":4,"grants":[{}]}`,
		"the same grant again": strings.Replace(string(good), "\"grants\": [", "\"grants\": ["+oneGrant(t, s)+",", 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, s.book.path, text)
			broken, err := Open(configPath(s), s.book.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := broken.Err(); err == nil || !strings.Contains(err.Error(), s.book.path) {
				t.Errorf("Err: %v, want the file's name", err)
			}
			if d := broken.Decide(bash("a")); d.Effect != policy.Ask {
				t.Errorf("%+v, want ask", d)
			}
			if d := broken.Decide(bash("make")); d.Effect != policy.Allow {
				t.Errorf("a rule of the good configuration: %+v, want allow", d)
			}
			if err := broken.Grant(bash("b"), policy.Always, policy.CoverInput); err == nil {
				t.Error("a broken file was overwritten")
			}
			if err := broken.Grant(bash("b"), policy.QuarterHour, policy.CoverInput); err != nil {
				t.Errorf("what needs no file: %v", err)
			}
			if err := broken.Close(); err != nil {
				t.Error(err)
			}
			if data, _ := os.ReadFile(s.book.path); string(data) != text {
				t.Error("the broken file has changed")
			}
			if err := broken.RevokeAll(); err != nil || broken.Err() != nil {
				t.Errorf("revoking all mends it: %v, %v", err, broken.Err())
			}
		})
	}
}

func oneGrant(t *testing.T, s *Store) string {
	t.Helper()
	text, err := json.Marshal(s.Grants()[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGrantsRest(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "")
		c := bash("make all")
		allow := func() {
			if err := s.Grant(c, policy.Always, policy.CoverInput); err != nil {
				t.Fatal(err)
			}
		}
		used := func(want policy.Effect, when string) {
			t.Helper()
			d := s.Decide(c)
			if d.Effect != want {
				t.Errorf("%s: %+v", when, d)
			}
			s.Used(d)
		}
		allow()
		time.Sleep(29 * day)
		used(policy.Allow, "after 29 days")
		time.Sleep(29 * day)
		used(policy.Allow, "29 days after its last use")
		time.Sleep(31 * day)
		used(policy.Ask, "unused for 31 days")
		if g := s.Grants(); len(g) != 1 || !g[0].Rests(time.Now()) {
			t.Fatalf("grants %+v", g)
		}
		allow()
		used(policy.Allow, "allowed anew")
		if g := s.Grants(); len(g) != 1 {
			t.Errorf("grants %+v", g)
		}
	})
}

func TestUntilQuitIsNotKept(t *testing.T) {
	s := openStore(t, "")
	if err := s.Grant(bash("make all"), policy.UntilQuit, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	if d := s.Decide(bash("make all")); d.Effect != policy.Allow || !strings.Contains(d.Reason, "until nod quits") {
		t.Errorf("%+v", d)
	}
	again, err := Open(configPath(s), s.book.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := again.Decide(bash("make all")); d.Effect != policy.Ask {
		t.Errorf("after nod quit: %+v", d)
	}
}

// What is kept for always is read again.
func TestCommandGrantsAreKept(t *testing.T) {
	s := openStore(t, "")
	if err := s.Grant(bash("go test ./..."), policy.Always, policy.CoverCommands); err != nil {
		t.Fatal(err)
	}
	if got := s.Grants()[0].Text(); !strings.Contains(got, `may run "go test" with other arguments`) {
		t.Errorf("text %q", got)
	}
	again := openBook(s.book.path, func() {})
	if list := again.Grants(); len(list) != 1 || list[0].Command.String() != "go test" {
		t.Fatalf("%+v, %v", list, again.grantsErr())
	}
}

// A store's simulation goes by its configuration, and not by the grants that there are.
func TestStoreSimulates(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "config.yaml"), filepath.Join(t.TempDir(), "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Grant(bash("make"), policy.Always, policy.CoverInput); err != nil {
		t.Fatal(err)
	}
	sim, err := s.Simulate()
	if err != nil {
		t.Fatal(err)
	}
	if !sim.Answer(bash("make"), time.Now()) {
		t.Error("a grant counts")
	}
}

// An error comes without a configuration that could allow anything, and nothing makes the loader panic.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{
		"../config/testdata/bad/*.yaml", "../config/testdata/good/*.yaml", "../config/template.yaml",
	} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	folder := f.TempDir()
	path := filepath.Join(folder, "config.yaml")
	store, err := Open(path, filepath.Join(folder, "grants.json"), nil)
	if err != nil {
		f.Fatal(err)
	}
	calls := []policy.Call{
		bash("make"), fileCall("Read", "/srv/x"), fileCall("Write", "/srv/x"), fileCall("mcp__x__y", ""), {},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		store.refresh()
		cfg := store.Config()
		for _, call := range calls {
			d := store.Decide(call)
			if d.Effect == policy.Allow && (store.Err() != nil || len(cfg.Policy.Rules)+len(cfg.Policy.AutoAllow) == 0) {
				t.Fatalf("allowed by %s, with error %v and policy %+v", d.Rule, store.Err(), cfg.Policy)
			}
		}
		if err := cfg.Validate(); err != nil {
			t.Fatalf("loaded what it does not accept: %v", err)
		}
	})
}
