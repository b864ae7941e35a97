package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"nod/policy"
)

// Every file in testdata/bad begins with what is to be said about it.
func TestLoadRefuses(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := parse(data, path, nil)
			if err == nil {
				t.Fatalf("accepted: %+v", cfg)
			}
			wanted := 0
			for line := range strings.Lines(string(data)) {
				if want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want "); ok {
					wanted++
					if !strings.Contains("\n"+err.Error(), "\n"+path+":"+want) {
						t.Errorf("got  %v\nwant %s:%s", err, path, want)
					}
				}
			}
			var first *fileError
			if wanted == 0 || !errors.As(err, &first) || first.line == 0 {
				t.Errorf("%d wants; the error names no line: %v", wanted, err)
			}
		})
	}
}

// The line of a syntax error is that of the mistake, or of the beginning of what it is in.
func TestSyntaxErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"a: b: c\n":                                "x:1: this is not YAML: mapping values are not allowed",
		"prompt: {}\na: b: c\n":                    "x:2: this is not YAML: mapping values are not allowed",
		"policy: {rules: [}\n":                     "x:1: this is not YAML: did not find expected node content",
		"prompt: {}\nlook: {}\npolicy: {rules: [}": "x:3: this is not YAML: did not find expected node content",
		"prompt: {}\npolicy: {rules: [1 2: 3\n":    "x:2: this is not YAML: ",
		"- a\nb: c\n":                              "x:2: this is not YAML: did not find expected '-' indicator",
		"prompt: {}\n- a\n":                        "x:2: this is not YAML: ",
		"prompt: {}\nlook: !x!y {}\n":              "x:2: this is not YAML: found undefined tag handle",
		"prompt: {}\nlook: \"a\n":                  "x:2: this is not YAML: found unexpected end of stream",
		"prompt: {}\nlook: [\n\n":                  "x:2: this is not YAML: did not find expected node content",
		"prompt: {}\nlook: @a\n":                   "x:2: this is not YAML: found character that cannot start",
		"prompt: {}\nlook: *a\n":                   "x: this is not YAML: unknown anchor 'a' referenced",
	} {
		if _, err := parse([]byte(text), "x", nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLoadDeveloperFile(t *testing.T) {
	data, err := os.ReadFile("testdata/good/developer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := parse(data, "developer.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Prompt.Timeout = 10 * time.Minute
	want.Policy.AutoAllow = []policy.Class{policy.ReadOnly, policy.Write}
	want.Policy.TrustedAgents = []string{"my-agent"}
	want.Policy.Rules = []policy.Rule{
		{
			ID: "build", Effect: policy.Allow, Agent: "claude-code", Program: "/usr/bin/claude", Command: "make test",
			CWD: "~/src/**",
		},
		{ID: "issues", Effect: policy.Allow, Tool: "mcp__github__get_*"},
		{ID: "no-push", Effect: policy.Deny, Command: "git push --force", Note: "never by force"},
		{ID: "no-secrets", Effect: policy.Deny, Path: "**/.env*"},
		{ID: "look-at-network", Effect: policy.Ask, Class: policy.Network},
		{ID: "asleep", Effect: policy.Deny, Tool: "Read", Disabled: true},
	}
	if !cfg.equal(want) {
		t.Errorf("got %+v\nwant %+v", cfg, want)
	}
	p, err := policy.Compile(cfg.Policy, policy.Places{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, input string
		want        policy.Effect
		rule        string
	}{
		{"Bash", `{"command":"make test"}`, policy.Allow, "build"},
		{"Bash", `{"command":"git push --force"}`, policy.Deny, "no-push"},
		{"Read", `{"file_path":"/home/u/src/shop/.env.local"}`, policy.Deny, "no-secrets"},
		{"WebFetch", `{"file_path":""}`, policy.Ask, "look-at-network"},
		{"Read", `{"file_path":"/home/u/src/shop/a"}`, policy.Allow, "class:read_only"},
		{"Write", `{"file_path":"/home/u/src/shop/a"}`, policy.Allow, "class:write"},
	} {
		call := policy.Call{
			Agent: "claude-code", CWD: "/home/u/src/shop", Programs: []string{"/usr/bin/claude"},
			Tool: tt.tool, Input: policy.ReadInput([]byte(tt.input)),
		}
		if d := policy.Decide(call, p, time.Now()); d.Effect != tt.want || d.Rule != tt.rule {
			t.Errorf("%s %s: %+v, want %s by %s", tt.tool, tt.input, d, tt.want, tt.rule)
		}
	}
}

// What a user has commented out is not there; a list without elements is empty and not the default.
func TestLoadCommentedOut(t *testing.T) {
	data, err := os.ReadFile("testdata/good/commented-out.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := parse(data, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Policy.AutoAllow = nil
	if !cfg.equal(want) {
		t.Errorf("got %+v, want %+v", cfg, want)
	}
}

func TestLoadNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# only words\n", "---\n", "{}", "policy:\n", "policy: {}\nprompt:"} {
		cfg, err := parse([]byte(text), "x", nil)
		if err != nil || !cfg.equal(Default()) {
			t.Errorf("%q: %+v, %v, want the defaults", text, cfg, err)
		}
	}
	f := openFile(t, filepath.Join(t.TempDir(), "none", "config.yaml"))
	if cfg, err := f.Config(), f.State().Err; err != nil || !cfg.equal(Default()) {
		t.Errorf("no file: %+v, %v, want the defaults", cfg, err)
	}
	if _, err := Check(filepath.Join(t.TempDir(), "config.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check of no file: %v, want fs.ErrNotExist", err)
	}
}

// The text that a fresh file starts with says exactly the defaults, and names every key.
// A file that an earlier version wrote has keys that are no more.
func TestRetiredKeysHaveNoEffect(t *testing.T) {
	c, err := parse([]byte("prompt:\n  locked: count\n  shortcut: \"\"\n  undo: 5s\n"), "config.yaml", nil)
	want := Default()
	want.Prompt.Undo = 5 * time.Second
	if err != nil || !c.equal(want) {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestTemplateIsTheDefault(t *testing.T) {
	cfg, err := parse(template, "template.yaml", nil)
	if err != nil || !cfg.equal(Default()) {
		t.Fatalf("%+v, %v, want the defaults", cfg, err)
	}
	for _, section := range fileSchema().keys {
		for _, key := range section.schema.names() {
			if !bytes.Contains(template, []byte("\n  "+key+":")) {
				t.Errorf("%s.%s is not in the template", section.name, key)
			}
		}
	}
	rule := schemaOf(reflect.TypeFor[policy.Rule]())
	for _, key := range rule.names() {
		if !bytes.Contains(template, []byte("#   "+key)) {
			t.Errorf("a rule's %s is not in the template", key)
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for _, p := range pairs {
				if name, value, _ := strings.Cut(p, "="); name == key {
					return value
				}
			}
			return ""
		}
	}
	data := []byte("prompt:\n  timeout: 1m\n  on_top: true\n")
	cfg, err := parse(data, "config.yaml", env(
		"NOD_IPC_ADDRESS=127.0.0.1:0", "NOD_PROMPT_TIMEOUT=2s", "NOD_PROMPT_ARM_AFTER=1s", "NOD_PROMPT_KEEP_READY=1m",
		"NOD_PROMPT_ON_TOP=false", "NOD_PROMPT_APPEAR=tray",
		"NOD_NOTIFICATIONS_PROMPTS=false", "NOD_NOTIFICATIONS_NOTICES=false", "NOD_NOTIFICATIONS_SOUND=false",
		"NOD_NOTIFICATIONS_DO_NOT_DISTURB=true", "NOD_NOTIFICATIONS_QUIET_HOURS=22:00-07:00",
		"NOD_LOOK_THEME=dark", "NOD_LOOK_LANGUAGE=zh-CN", "NOD_HISTORY_KEEP=30d", "NOD_HISTORY_MAX_SIZE=200",
		"NOD_HISTORY_KEEP_INPUTS=false",
	))
	want := Default()
	want.IPC.Address = "127.0.0.1:0"
	want.Prompt = Prompt{Timeout: 2 * time.Second, ArmAfter: time.Second, KeepReady: time.Minute, Undo: 10 * time.Second,
		Appear: AppearInTray}
	want.Notifications = notifications{DoNotDisturb: true, QuietHours: "22:00-07:00"}
	want.Look = look{"dark", "zh-CN"}
	want.History = History{Keep: 30 * day, MaxSize: 200}
	if err != nil || !cfg.equal(want) {
		t.Errorf("got %+v, %v\nwant %+v", cfg, err, want)
	}
	for _, tt := range []struct{ set, want string }{
		{"NOD_PROMPT_TIMEOUT=5", "NOD_PROMPT_TIMEOUT: prompt.timeout: \"5\": want a number with its unit"},
		{"NOD_PROMPT_TIMEOUT=30h", "NOD_PROMPT_TIMEOUT: prompt.timeout: 30h: want 1s to 24h"},
		{"NOD_HISTORY_MAX_SIZE=1e3", "NOD_HISTORY_MAX_SIZE: history.max_size: \"1e3\": want a whole number"},
		{"NOD_HISTORY_MAX_SIZE=9", "NOD_HISTORY_MAX_SIZE: history.max_size: 9: want 10 to 100000 (MB)"},
		{"NOD_PROMPT_ON_TOP=maybe", "NOD_PROMPT_ON_TOP: prompt.on_top: \"maybe\": want true or false"},
		{"NOD_IPC_ADDRESS=0.0.0.0:1", "NOD_IPC_ADDRESS: ipc.address: \"0.0.0.0:1\" could be reached"},
		{"NOD_LOOK_THEME=true", "NOD_LOOK_THEME: look.theme: true is true or false: want a text"},
	} {
		if _, err := parse(data, "config.yaml", env(tt.set)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.set, err, tt.want)
		}
	}
	cfg, err = parse(
		data,
		"config.yaml",
		env("NOD_POLICY_ASK_EVERYTHING=true", "NOD_POLICY_AUTO_ALLOW=unknown", "NOD_PROMPT_TIMEOUT="),
	)
	if err != nil || cfg.Policy.AskEverything || cfg.Policy.AutoAllow[0] != policy.ReadOnly ||
		cfg.Prompt.Timeout != time.Minute {
		t.Errorf("the environment must not change the policy, nor an empty value anything: %+v, %v", cfg, err)
	}
}

func TestLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("#\n"), 1<<19+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
	var p policy.Policy
	for i := range 20_001 {
		p.Rules = append(p.Rules, policy.Rule{ID: fmt.Sprint(i), Effect: policy.Deny, Tool: "x"})
	}
	if found := p.Problems(); len(found) != 1 || found[0].Key != "policy.rules" {
		t.Errorf("too many rules: %v", found)
	}
	many := "policy:\n  auto_allow:\n" + strings.Repeat("    - nonsense\n", 100)
	if _, err := parse([]byte(many), "x", nil); err == nil || strings.Count(err.Error(), "\n") != maxProblems {
		t.Errorf("many problems: %v", err)
	}
}
