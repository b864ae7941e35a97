package config

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/policy"
)

// sealedKeys says of every key of the file whether the seal covers it: whether a change by another program is held
// back. Whoever adds a key decides it here. The text says something else at that key than a fresh file; of a rule it is
// what [ruleWith] makes of it.
var sealedKeys = map[string]struct {
	covered bool
	text    string
}{
	"ipc.address":                      {true, "ipc: {address: 127.0.0.1:9999}"},
	"prompt.timeout":                   {true, "prompt: {timeout: 9m}"},
	"prompt.arm_after":                 {true, "prompt: {arm_after: 900ms}"},
	"prompt.keep_ready":                {false, "prompt: {keep_ready: 3m}"},
	"prompt.undo":                      {false, "prompt: {undo: 0s}"},
	"prompt.on_top":                    {false, "prompt: {on_top: false}"},
	"prompt.appear":                    {false, "prompt: {appear: tray}"},
	"notifications.sound":              {false, "notifications: {sound: false}"},
	"notifications.do_not_disturb":     {false, "notifications: {do_not_disturb: true}"},
	"notifications.quiet_hours":        {false, "notifications: {quiet_hours: '22:00-07:00'}"},
	"notifications.quiet_days":         {false, "notifications: {quiet_days: [sat]}"},
	"notifications.muted":              {false, "notifications: {muted: [codex]}"},
	"notifications.prompts":            {false, "notifications: {prompts: false}"},
	"notifications.notices":            {false, "notifications: {notices: false}"},
	"look.theme":                       {false, "look: {theme: dark}"},
	"look.language":                    {false, "look: {language: en}"},
	"agents.strict":                    {true, "agents: {strict: [codex]}"},
	"agents.ask_more":                  {true, "agents: {ask_more: true}"},
	"history.keep":                     {true, "history: {keep: 1d}"},
	"history.max_size":                 {true, "history: {max_size: 10}"},
	"history.keep_inputs":              {true, "history: {keep_inputs: false}"},
	"remote.machines[].kind":           {true, "remote: {machines: [{kind: docker, host: web}]}"},
	"remote.machines[].host":           {true, "remote: {machines: [{kind: ssh, host: web}]}"},
	"remote.nats.url":                  {true, "remote: {nats: {url: 'tls://nats.example.com'}}"},
	"remote.nats.credentials":          {true, "remote: {nats: {credentials: /home/me/nod.creds}}"},
	"remote.nats.ca":                   {true, "remote: {nats: {ca: /etc/ssl/ca.pem}}"},
	"remote.nats.prefix":               {true, "remote: {nats: {prefix: team}}"},
	"remote.phone.address":             {true, "remote: {phone: {address: '100.64.0.7:7464'}}"},
	"remote.phone.push":                {true, "remote: {phone: {push: webpush}}"},
	"remote.hand_over":                 {true, "remote: {hand_over: 0s}"},
	"policy.auto_allow":                {true, "policy: {auto_allow: [write]}"},
	"policy.ask_everything":            {true, "policy: {ask_everything: true}"},
	"policy.trusted_agents":            {true, "policy: {trusted_agents: [codex]}"},
	"policy.trusted_roots":             {true, "policy: {trusted_roots: [/srv]}"},
	"policy.sandbox.projects":          {true, "policy: {sandbox: {projects: [/srv/shop]}}"},
	"policy.sandbox.hosts":             {true, "policy: {sandbox: {hosts: [example.com]}}"},
	"policy.sandbox.read_only":         {true, "policy: {sandbox: {read_only: false}}"},
	"policy.rules[].id":                {true, ruleWith("id: b")},
	"policy.rules[].effect":            {true, ruleWith("effect: allow")},
	"policy.rules[].agent":             {true, ruleWith("agent: codex")},
	"policy.rules[].program":           {true, ruleWith("program: /usr/bin/claude")},
	"policy.rules[].tool":              {true, ruleWith("tool: y")},
	"policy.rules[].class":             {true, ruleWith("class: write")},
	"policy.rules[].path":              {true, ruleWith("path: /srv/**")},
	"policy.rules[].command":           {true, ruleWith("command: make")},
	"policy.rules[].run":               {true, ruleWith("run: [make]")},
	"policy.rules[].cwd":               {true, ruleWith("cwd: /srv")},
	"policy.rules[].session":           {true, ruleWith("session: s")},
	"policy.rules[].mcp_server":        {true, ruleWith("mcp_server: github")},
	"policy.rules[].host":              {true, ruleWith("host: example.com")},
	"policy.rules[].args[].field":      {true, ruleWith("field: g")},
	"policy.rules[].args[].value":      {true, ruleWith("value: w")},
	"policy.rules[].expires":           {true, ruleWith("expires: 2090-01-01")},
	"policy.rules[].disabled":          {true, ruleWith("disabled: true")},
	"policy.rules[].note":              {true, ruleWith("note: why")},
	"policy.rules[].examples.match":    {true, ruleWith(`examples: {match: ['{"tool":"x","input":{"f":"v"}}']}`)},
	"policy.rules[].examples.no_match": {true, ruleWith("examples: {no_match: [make]}")},
}

// ruleWith is a file with one rule that says something at a key.
func ruleWith(entry string) string {
	const rule = "policy: {rules: [{id: a, effect: deny, tool: x, args: [{field: f, value: v}]}]}"
	key, _, _ := strings.Cut(entry, ":")
	if old := regexp.MustCompile(`\b` + key + `: [a-z]+`); old.MatchString(rule) {
		return old.ReplaceAllLiteralString(rule, entry)
	}
	return strings.Replace(rule, "id: a", "id: a, "+entry, 1)
}

// keysOf lists the places of the file that hold a value.
func keysOf(s *schema, at string) []string {
	switch {
	case s.item != nil && s.item.keys != nil:
		return keysOf(s.item, at+"[]")
	case s.keys == nil:
		return []string{at}
	}
	var all []string
	for _, f := range s.keys {
		all = append(all, keysOf(f.schema, strings.TrimPrefix(at+"."+f.name, "."))...)
	}
	return all
}

func TestEveryKeyIsSealedOrNot(t *testing.T) {
	want, got := slices.Sorted(slices.Values(keysOf(fileSchema(), ""))), slices.Sorted(maps.Keys(sealedKeys))
	if !slices.Equal(got, want) {
		t.Fatalf("decided about\n%v\nthe file has\n%v", got, want)
	}
	for key, is := range sealedKeys {
		t.Run(key, func(t *testing.T) {
			before := ""
			if strings.Contains(key, "rules[]") {
				before = ruleWith("disabled: false")
			}
			f := sealedFile(t, before)
			write(t, f.path, is.text)
			f.refresh()
			if err := f.State().Err; err != nil {
				t.Fatal(err)
			}
			if mustParse(t, is.text).equal(mustParse(t, before)) {
				t.Error("the text says nothing else")
			}
			if _, isHeld := f.Held(); isHeld != is.covered {
				t.Errorf("held: %v, want %v", isHeld, is.covered)
			}
		})
	}
}

// sealedFile is a file whose text was accepted.
func sealedFile(t *testing.T, text string) *file {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write(t, path, text)
	f := openFile(t, path)
	seal, err := openSeal(dir, filepath.Join(dir, "sealed"), false)
	if err != nil {
		t.Fatal(err)
	}
	f.setSeal(seal)
	return f
}

func mustParse(t *testing.T, text string) Config {
	t.Helper()
	cfg, err := parse([]byte(text), "config.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// While a change is held back the stricter of both texts holds beside the policy, too, and what decides nothing is as
// the new one says.
func TestWhatHoldsMeanwhile(t *testing.T) {
	const strict = "{agents: {strict: [codex], ask_more: true}, prompt: {timeout: 2m, arm_after: 2s}, " +
		"ipc: {address: 127.0.0.1:7000}, look: {theme: light}}"
	const lax = "{agents: {strict: [amp]}, history: {keep: 1d}, prompt: {timeout: 9m}, look: {theme: dark}, " +
		"policy: {auto_allow: [execute]}}"
	for _, tt := range []struct {
		name, before, after string
		timeout, keep       time.Duration
		address, theme      string
	}{
		{"laxer", strict, lax, 2 * time.Minute, 90 * day, "127.0.0.1:7000", "dark"},
		{"stricter", lax, strict, 9 * time.Minute, day, Default().IPC.Address, "light"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := sealedFile(t, tt.before)
			write(t, f.path, tt.after)
			f.refresh()
			if _, isHeld := f.Held(); !isHeld {
				t.Fatal("nothing is held back")
			}
			c := f.Config()
			if !c.Agents.AskMore || !slices.Equal(c.Agents.Strict, []string{"amp", "codex"}) ||
				c.Prompt.ArmAfter != 2*time.Second {
				t.Errorf("not the stricter of both: %+v, %+v", c.Agents, c.Prompt)
			}
			if c.Prompt.Timeout != tt.timeout || c.IPC.Address != tt.address {
				t.Errorf("time-out %s and address %s: want those that were accepted", c.Prompt.Timeout, c.IPC.Address)
			}
			if c.History.Keep != tt.keep {
				t.Errorf("the history is kept for %s, want what was accepted", c.History.Keep)
			}
			if c.Look.Theme != tt.theme {
				t.Errorf("theme %s, want the new one", c.Look.Theme)
			}
		})
	}
}

// Whether a file is accepted can be told without nod-desktop, and without a change of the seal.
func TestIsAccepted(t *testing.T) {
	const before = "policy:\n  rules:\n    - {id: a, effect: deny, tool: Bash}\n"
	for name, tt := range map[string]struct {
		after  string
		broken string // a file of the seal that another program has changed
		want   bool
	}{
		"as it was":           {before, "", true},
		"another theme":       {before + "look: {theme: dark}\n", "", true},
		"another rule":        {"policy:\n  rules:\n    - {id: a, effect: allow, tool: Bash}\n", "", false},
		"no rule":             {"", "", false},
		"broken":              {"policy: [", "", false},
		"another key":         {before, keyName, false},
		"another seal":        {before, sealName, false},
		"another seal, empty": {"", sealName, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := sealedFile(t, before)
			folder := filepath.Dir(f.path)
			write(t, f.path, tt.after)
			if tt.broken != "" {
				write(t, filepath.Join(folder, tt.broken), "x")
			}
			if got := IsAccepted(folder, f.path); got != tt.want {
				t.Errorf("accepted: %v, want %v", got, tt.want)
			}
			f.refresh()
			if _, isHeld := f.Held(); tt.broken == "" && f.State().Err == nil && isHeld == tt.want {
				t.Errorf("held: %v, accepted: %v", isHeld, tt.want)
			}
		})
	}
	if !IsAccepted(t.TempDir(), filepath.Join(t.TempDir(), "config.yaml")) {
		t.Error("what was never sealed is not accepted")
	}
}

// An example of a rule may fail in a newer nod, which refuses the file then. What the rule denies holds all the same.
func TestAcceptedByAnOlderNod(t *testing.T) {
	const text = "policy:\n  rules:\n    - {id: a, effect: deny, tool: Bash, examples: {no_match: [make]}}\n"
	f := sealedFile(t, "")
	if err := f.seal.accept(f.path, text); err != nil {
		t.Fatal(err)
	}
	write(t, f.path, text)
	f.refresh()
	f.setSeal(f.seal) // as at a start
	s := f.State()
	if s.Err == nil {
		t.Fatal("the file is good")
	}
	if d := policy.Decide(policy.Call{Tool: "Bash"}, s.Policy.Broken(), time.Now()); d.Effect != policy.Deny {
		t.Errorf("%+v", d)
	}
}

// What was accepted is known again after a restart, however long it is and wherever the file is.
func TestSealKeepsAll(t *testing.T) {
	text := "# " + strings.Repeat(`"`, 900_000) + "\n" + ruleWith("note: why")
	folder := filepath.Join(t.TempDir(), "caf\xe9")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Skip("this file system has no such names:", err)
	}
	path := filepath.Join(folder, "config.yaml")
	for range 2 {
		seal, err := openSeal(folder, filepath.Join(folder, "sealed"), false)
		if err != nil || seal.err != nil {
			t.Fatal(err, seal.err)
		}
		if err := seal.accept(path, text); err != nil {
			t.Fatal(err)
		}
		if got, known := seal.accepted(path); !known || got != text {
			t.Error("it is not known")
		}
	}
}
