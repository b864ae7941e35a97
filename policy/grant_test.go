package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A grant is for exactly one call: whatever differs is asked about again.
func TestGrantIsExact(t *testing.T) {
	call := bash("").with(holding(`{"command":"make deploy","timeout":5}`))
	others := map[string]func(*Call){
		"a byte of the input":      holding(`{"command":"make deploY","timeout":5}`),
		"a field more":             holding(`{"command":"make deploy","timeout":5,"x":1}`),
		"a number written anew":    holding(`{"command":"make deploy","timeout":5.0}`),
		"a text for a number":      holding(`{"command":"make deploy","timeout":"5"}`),
		"the tool":                 func(c *Call) { c.Tool = "bash" },
		"the agent's name":         func(c *Call) { c.Agent = "codex" },
		"the folder":               func(c *Call) { c.CWD = "/home/u/src/bank" },
		"the program":              func(c *Call) { c.Programs = []string{"/tmp/evil/claude"} },
		"a program in between":     func(c *Call) { c.Programs = append([]string{"/tmp/evil"}, c.Programs...) },
		"a program not verified":   func(c *Call) { c.Programs = nil },
		"nothing but shells known": func(c *Call) { c.Programs = []string{"/bin/sh"} },
	}
	for _, scope := range []Scope{ThisSession, QuarterHour, Always} {
		s := openStore(t, "policy: {auto_allow: []}\n")
		if err := s.Grant(call, scope, CoverInput); err != nil {
			t.Fatal(err)
		}
		d := s.Decide(call)
		if d.Effect != Allow || !d.Grant || d.Rule != s.Grants()[0].ID || !strings.Contains(d.Reason, "exactly this") {
			t.Errorf("%s: %+v", scope, d)
		}
		same := call.with(holding(`{ "timeout": 5, "command": "make\u0020deploy" }`))
		if d := s.Decide(same); !d.Grant {
			t.Errorf("%s: the same in other bytes: %+v", scope, d)
		}
		through := call.with(func(c *Call) { c.Programs = []string{"/bin/bash", "/usr/local/bin/nod", "/usr/bin/claude"} })
		if d := s.Decide(through); !d.Grant {
			t.Errorf("%s: through another shell: %+v", scope, d)
		}
		for what, change := range others {
			if d := s.Decide(call.with(change)); d.Effect != Ask {
				t.Errorf("%s: other %s: %+v, want ask", scope, what, d)
			}
		}
		elsewhere := call.with(func(c *Call) { c.Session = "s2" })
		if d := s.Decide(elsewhere); d.Grant == (scope == ThisSession) {
			t.Errorf("%s: in another session: %+v", scope, d)
		}
	}
}

func TestGrantBeatsNoRule(t *testing.T) {
	s := openStore(t, goodFile)
	for command, want := range map[string]Effect{"git push": Deny, "make all": Ask} {
		call := bash(command)
		if err := s.Grant(call, Always, CoverInput); err != nil {
			t.Fatal(err)
		}
		if d := s.Decide(call); d.Effect != want || d.Grant {
			t.Errorf("%s: %+v, want %s by the rule", command, d, want)
		}
	}
	call := bash("echo")
	if err := s.Grant(call, Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(c *Config) error { c.Policy.AskEverything = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if d := s.Decide(call); d.Effect != Ask {
		t.Errorf("ask about everything: %+v", d)
	}
}

// What is always asked about can only be allowed once: no wider scope is offered, and none is kept.
func TestOnlyOnce(t *testing.T) {
	s := openStore(t, "")
	tests := map[string]Call{
		"hidden characters":   bash("ls\u200b"),
		"long":                bash(strings.Repeat("x", maxInput+1)),
		"a field twice":       bash("").with(holding(`{"a":1,"a":2}`)),
		"a question":          file("AskUserQuestion", ""),
		"nod's configuration": file("Write", s.path),
		"a hook of git":       file("Write", "/srv/.git/hooks/pre-push"),
	}
	for name, call := range tests {
		for _, scope := range []Scope{ThisSession, QuarterHour, Always} {
			if err := s.Grant(call, scope, CoverInput); err == nil {
				t.Errorf("%s: kept for %s", name, scope)
			}
			if text := s.GrantText(call, scope, CoverInput); text != "" {
				t.Errorf("%s: offered for %s: %s", name, scope, text)
			}
		}
	}
	for _, scope := range []Scope{Once, "", "forever"} {
		if err := s.Grant(bash("x"), scope, CoverInput); err == nil {
			t.Errorf("kept for %q", scope)
		}
	}
	nameless := bash("x").with(func(c *Call) { c.Session = "" })
	if s.Grant(nameless, ThisSession, CoverInput) == nil || s.GrantText(nameless, ThisSession, CoverInput) != "" {
		t.Error("kept for a session without a name")
	}
	if n := len(s.Grants()); n != 0 {
		t.Errorf("%d grants", n)
	}
}

func TestGrantText(t *testing.T) {
	s := openStore(t, "")
	s.places.Home = "/home/u"
	tests := []struct {
		scope  Scope
		change func(*Call)
		want   string
	}{
		{Always, func(*Call) {}, "allow claude-code (/usr/bin/claude) to use Bash with exactly this input in ~/src/shop, until you revoke it"},
		{QuarterHour, func(*Call) {}, "allow claude-code (/usr/bin/claude) to use Bash with exactly this input in ~/src/shop, for 15 minutes"},
		{ThisSession, func(*Call) {}, "allow claude-code (/usr/bin/claude) to use Bash with exactly this input in ~/src/shop, until this session ends or nod quits"},
		{Always, func(c *Call) { c.Agent, c.Programs, c.CWD = "", nil, "/home/unlike" },
			"allow an agent without a name (program not verified) to use Bash with exactly this input in /home/unlike, until you revoke it"},
		{Always, func(c *Call) { c.Agent = "x (/usr/bin/claude) to use Read\u202e"; c.CWD = "" },
			`allow "x (/usr/bin/claude) to use Read\u202e" (/usr/bin/claude) to use Bash with exactly this input in any folder it does not name, until you revoke it`},
	}
	for _, tt := range tests {
		if got := s.GrantText(bash("make").with(tt.change), tt.scope, CoverInput); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestGrantExpires(t *testing.T) {
	s := openStore(t, "")
	now := time.Now()
	s.now = func() time.Time { return now }
	call := bash("make")
	if err := s.Grant(call, QuarterHour, CoverInput); err != nil {
		t.Fatal(err)
	}
	start := now
	for _, tt := range []struct {
		after time.Duration
		want  Effect
	}{{0, Allow}, {quarterHour - time.Nanosecond, Allow}, {quarterHour, Ask}, {time.Hour, Ask}} {
		now = start.Add(tt.after)
		if d := s.Decide(call); d.Effect != tt.want {
			t.Errorf("after %s: %s, want %s", tt.after, d.Effect, tt.want)
		}
	}
	if n := len(s.Grants()); n != 0 {
		t.Errorf("%d grants are listed after their end", n)
	}
	now = start.Round(0).Add(quarterHour) // the monotonic clock stood still while the machine slept
	if d := s.Decide(call); d.Effect != Ask {
		t.Errorf("after sleeping: %s, want ask", d.Effect)
	}
}

func TestGrantsSurviveRestart(t *testing.T) {
	s := openStore(t, goodFile)
	for command, scope := range map[string]Scope{"a": Always, "b": ThisSession, "c": QuarterHour} {
		if err := s.Grant(bash(command), scope, CoverInput); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		s.Decide(bash("a"))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenStore(s.path, s.grants.path, nil)
	if err != nil || again.Err() != nil {
		t.Fatal(err, again.Err())
	}
	grants := again.Grants()
	if len(grants) != 1 || grants[0].Uses != 3 || grants[0].LastUsed.IsZero() || grants[0].Shown != `{"command":"a"}` {
		t.Fatalf("%+v", grants)
	}
	for command, want := range map[string]Effect{"a": Allow, "b": Ask, "c": Ask} {
		if d := again.Decide(bash(command)); d.Effect != want {
			t.Errorf("%s: %+v, want %s", command, d, want)
		}
	}
	if text := grants[0].Text(); !strings.HasSuffix(text, "until you revoke it") {
		t.Error(text)
	}
}

func TestRevoke(t *testing.T) {
	s := openStore(t, goodFile)
	for _, command := range []string{"a", "b", "c"} {
		if err := s.Grant(bash(command), Always, CoverInput); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(s.Grants()[1].ID); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Effect{"a": Allow, "b": Ask, "c": Allow} {
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
	again, err := OpenStore(s.path, s.grants.path, nil)
	if err != nil || again.Err() != nil || len(again.Grants()) != 0 {
		t.Errorf("after a restart: %v, %v, %v", err, again.Err(), again.Grants())
	}
}

// Revoking works even when the file cannot be written: the grant is out of force, and the error says so.
func TestRevokeWithoutDisk(t *testing.T) {
	s := openStore(t, goodFile)
	if err := s.Grant(bash("a"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	blocked := s.path // a file where a folder would have to be
	s.grants.path = blocked + "/grants.json"
	if err := s.Revoke(s.Grants()[0].ID); err == nil {
		t.Error("no error")
	}
	if d := s.Decide(bash("a")); d.Effect != Ask {
		t.Errorf("%+v, want ask", d)
	}
	if err := s.Grant(bash("b"), Always, CoverInput); err == nil {
		t.Error("kept what could not be written")
	}
	if d := s.Decide(bash("b")); d.Effect != Ask {
		t.Errorf("%+v, want ask", d)
	}
}

func TestBrokenGrants(t *testing.T) {
	s := openStore(t, goodFile)
	if err := s.Grant(bash("a"), Always, CoverInput); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(s.grants.path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	tests := map[string]string{
		"cut off":              string(good[:len(good)/2]),
		"empty":                "",
		"something after":      string(good) + "{}",
		"an unknown field":     spoil(`"uses"`, `"times"`),
		"another version":      spoil(`"version": 3`, `"version": 4`),
		"another scope":        spoil(`"always"`, `"15m"`),
		"an end":               spoil(`"uses": 0`, `"uses": 0, "expires": "2030-01-01T00:00:00Z"`),
		"no hash":              spoil(s.Grants()[0].InputSHA256, "abc"),
		"no tool":              spoil(`"Bash"`, `""`),
		"an id that is none":   spoil(s.Grants()[0].ID, "x"),
		"a grant for all":      `{"version":1,"grants":[{}]}`,
		"the same grant again": strings.Replace(string(good), "\"grants\": [", "\"grants\": ["+oneGrant(t, s)+",", 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, s.grants.path, text)
			broken, err := OpenStore(s.path, s.grants.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := broken.Err(); err == nil || !strings.Contains(err.Error(), s.grants.path) {
				t.Errorf("Err: %v, want the file's name", err)
			}
			if d := broken.Decide(bash("a")); d.Effect != Ask {
				t.Errorf("%+v, want ask", d)
			}
			if d := broken.Decide(bash("make")); d.Effect != Allow {
				t.Errorf("a rule of the good configuration: %+v, want allow", d)
			}
			if err := broken.Grant(bash("b"), Always, CoverInput); err == nil {
				t.Error("a broken file was overwritten")
			}
			if err := broken.Grant(bash("b"), QuarterHour, CoverInput); err != nil {
				t.Errorf("what needs no file: %v", err)
			}
			if err := broken.Close(); err != nil {
				t.Error(err)
			}
			if data, _ := os.ReadFile(s.grants.path); string(data) != text {
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

func TestProgram(t *testing.T) {
	for want, programs := range map[string][]string{
		"/usr/bin/claude":   {"/usr/bin/nod", "/bin/sh", "/usr/bin/claude", "/usr/bin/bash"},
		"/usr/bin/curl":     {"/usr/bin/curl", "/bin/bash", "/usr/bin/claude"},
		`C:\x\claude.exe`:   {`C:\x\nod.exe`, `C:\Windows\cmd.exe`, `C:\x\claude.exe`},
		"/usr/bin/node":     {"", "/usr/bin/env", "/usr/bin/node"},
		"/tmp/nod-imposter": {"/tmp/nod-imposter", "/usr/bin/claude"},
		"":                  {"/bin/sh", "/usr/bin/zsh"},
	} {
		if got := (Call{Programs: programs}).Program(); got != want {
			t.Errorf("%q: %q, want %q", programs, got, want)
		}
	}
}

// The canonical form does not depend on the order of fields or on space, and tells everything else apart.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[true,null,"x"]}`, `{"b":{"d":1,"c":2},"a":1e5}`, `{"a":"\u0041<>&"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in input
		in.read(data, stranger)
		first, err := canonical(data)
		if err != nil || in.problem != "" || in.hidden {
			return
		}
		again, err := canonical(first)
		if err != nil || !slices.Equal(first, again) {
			t.Fatalf("%q, then %q (%v)", first, again, err)
		}
	})
}

var fuzzTool = tool{class: Unknown, paths: spelling{marked: true, encoded: true}, fields: map[string]meaning{
	"command": commandField, "cmd": commandField, "file_path": writeField, "include": onlyField, "pattern": globField,
	"input": patchField, "url": urlField, "edits.path": readField, "workdir": folderField, "files": filesField,
}}

// The walk over an input finds in it what encoding/json finds, and never fails on what that accepts.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		`{"file_path":"/a","edits":[{"path":"b"},["c"]]}`, `{"command":"x","cmd":"y"}`, `{"a\u0062":"\ud800"}`,
		` { } `, `[{}]`, `{"a":1,"a":2}`, `{"paths":["a",["b"],{"path":"c"}],"n":-1.5e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in input
		in.read(data, fuzzTool)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(data, &object) == nil && object != nil
		if !isObject && in.problem == "" {
			t.Fatalf("%q: no problem with what is no object", data)
		}
		if !isObject || in.problem != "" || in.hidden {
			return
		}
		var command string
		isText := json.Unmarshal(object["command"], &command) == nil && object["command"] != nil && object["command"][0] == '"'
		if _, other := object["cmd"]; !other && isText && (!in.isRun || in.command != command) {
			t.Fatalf("%q: command %q, want %q", data, in.command, command)
		}
		var path string
		if json.Unmarshal(object["file_path"], &path) == nil && path != "" && strings.TrimSpace(path) != "" && !slices.ContainsFunc(in.named, func(n namedPath) bool { return n.path == path }) {
			t.Fatalf("%q: paths %+v lack %q", data, in.named, path)
		}
	})
}
