package policy

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
			var first *FileError
			if wanted == 0 || !errors.As(err, &first) || first.Line == 0 {
				t.Errorf("%d wants; the error names no line: %v", wanted, err)
			}
		})
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
	want.Policy.AutoAllow = []Class{ReadOnly, Write}
	want.Policy.TrustedAgents = []string{"my-agent"}
	want.Policy.Rules = []Rule{
		{ID: "build", Effect: Allow, Agent: "claude-code", Program: "/usr/bin/claude", Command: "make test", CWD: "~/src/**"},
		{ID: "issues", Effect: Allow, Tool: "mcp__github__get_*"},
		{ID: "no-push", Effect: Deny, Command: "git push --force", Note: "never by force"},
		{ID: "no-secrets", Effect: Deny, Path: "**/.env*"},
		{ID: "look-at-network", Effect: Ask, Class: Network},
		{ID: "asleep", Effect: Deny, Tool: "Read", Disabled: true},
	}
	if !sameConfig(cfg, want) {
		t.Errorf("got %+v\nwant %+v", cfg, want)
	}
	p := compiled(t, cfg.Policy)
	for _, tt := range []struct {
		call Call
		want Effect
		rule string
	}{
		{bash("make test"), Allow, "build"},
		{bash("git push --force"), Deny, "no-push"},
		{file("Read", "/home/u/src/shop/.env.local"), Deny, "no-secrets"},
		{file("WebFetch", ""), Ask, "look-at-network"},
		{file("Read", "/home/u/src/shop/a"), Allow, "class:read_only"},
		{file("Write", "/home/u/src/shop/a"), Allow, "class:write"},
	} {
		if d := Decide(tt.call, p, testNow); d.Effect != tt.want || d.Rule != tt.rule {
			t.Errorf("%s %s: %+v, want %s by %s", tt.call.Tool, tt.call.Input, d, tt.want, tt.rule)
		}
	}
}

// What a person has commented out is not there; a list without elements is empty and not the default.
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
	if !sameConfig(cfg, want) {
		t.Errorf("got %+v, want %+v", cfg, want)
	}
}

func TestLoadNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# only words\n", "---\n", "{}", "policy:\n", "policy: {}\nprompt:"} {
		cfg, err := parse([]byte(text), "x", nil)
		if err != nil || !sameConfig(cfg, Default()) {
			t.Errorf("%q: %+v, %v, want the defaults", text, cfg, err)
		}
	}
	cfg, err := load(filepath.Join(t.TempDir(), "none", "config.yaml"), nil)
	if err != nil || !sameConfig(cfg, Default()) {
		t.Errorf("no file: %+v, %v, want the defaults", cfg, err)
	}
	if _, err := Check(filepath.Join(t.TempDir(), "config.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check of no file: %v, want fs.ErrNotExist", err)
	}
}

// The text that a fresh file starts with says exactly the defaults, and names every key.
func TestTemplateIsTheDefault(t *testing.T) {
	cfg, err := parse(template, "template.yaml", nil)
	if err != nil || !sameConfig(cfg, Default()) {
		t.Fatalf("%+v, %v, want the defaults", cfg, err)
	}
	for _, section := range fileSchema.keys {
		for _, key := range section.schema.names() {
			if !bytes.Contains(template, []byte("\n  "+key+":")) {
				t.Errorf("%s.%s is not in the template", section.name, key)
			}
		}
	}
	for _, key := range ruleSchema.names() {
		if !bytes.Contains(template, []byte("#   "+key)) {
			t.Errorf("a rule's %s is not in the template", key)
		}
	}
}

// The schema names the fields of the structs, all of them and no others.
func TestSchemaMatchesConfig(t *testing.T) {
	var fields func(typ reflect.Type, key string, yield func(string))
	fields = func(typ reflect.Type, key string, yield func(string)) {
		if typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			yield(key)
			return
		}
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if other := f.Tag.Get("mapstructure"); other != name {
				t.Errorf("%s: yaml calls it %q, mapstructure %q", f.Name, name, other)
			}
			fields(f.Type, key+"."+name, yield)
		}
	}
	want := map[string]bool{}
	fields(reflect.TypeFor[Config](), "", func(key string) { want[key] = true })
	var walk func(s *schema, key string)
	walk = func(s *schema, key string) {
		switch {
		case s.item != nil:
			walk(s.item, key)
		case s.keys == nil:
			if !want[key] {
				t.Errorf("the schema has %s, the structs do not", key)
			}
			delete(want, key)
		}
		for _, f := range s.keys {
			walk(f.schema, key+"."+f.name)
		}
	}
	walk(fileSchema, "")
	for key := range want {
		t.Errorf("the structs have %s, the schema does not", key)
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
		"NOD_IPC_ADDRESS=127.0.0.1:0", "NOD_PROMPT_TIMEOUT=2s", "NOD_PROMPT_ARM_AFTER=1s", "NOD_PROMPT_ON_TOP=false",
		"NOD_NOTIFICATIONS_PROMPTS=false", "NOD_NOTIFICATIONS_NOTICES=false", "NOD_LOOK_THEME=dark", "NOD_LOOK_LANGUAGE=zh-CN",
	))
	want := Default()
	want.IPC.Address = "127.0.0.1:0"
	want.Prompt = PromptConfig{Timeout: 2 * time.Second, ArmAfter: time.Second}
	want.Notifications = NotificationConfig{}
	want.Look = LookConfig{"dark", "zh-CN"}
	if err != nil || !sameConfig(cfg, want) {
		t.Errorf("got %+v, %v\nwant %+v", cfg, err, want)
	}
	for _, tt := range []struct{ set, want string }{
		{"NOD_PROMPT_TIMEOUT=5", "NOD_PROMPT_TIMEOUT: prompt.timeout: \"5\": want a number with its unit"},
		{"NOD_PROMPT_TIMEOUT=30h", "NOD_PROMPT_TIMEOUT: prompt.timeout: 30h0m0s: want 1s to 24h0m0s"},
		{"NOD_PROMPT_ON_TOP=maybe", "NOD_PROMPT_ON_TOP: prompt.on_top: \"maybe\": want true or false"},
		{"NOD_IPC_ADDRESS=0.0.0.0:1", "NOD_IPC_ADDRESS: ipc.address: \"0.0.0.0:1\" could be reached"},
		{"NOD_LOOK_THEME=true", "NOD_LOOK_THEME: look.theme: true is true or false: want a text"},
	} {
		if _, err := parse(data, "config.yaml", env(tt.set)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.set, err, tt.want)
		}
	}
	cfg, err = parse(data, "config.yaml", env("NOD_POLICY_ASK_EVERYTHING=true", "NOD_POLICY_AUTO_ALLOW=unknown", "NOD_PROMPT_TIMEOUT="))
	if err != nil || cfg.Policy.AskEverything || cfg.Policy.AutoAllow[0] != ReadOnly || cfg.Prompt.Timeout != time.Minute {
		t.Errorf("the environment must not change the policy, nor an empty value anything: %+v, %v", cfg, err)
	}
}

func TestLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("#\n"), maxFile/2+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
	var p Policy
	for i := range maxRules + 1 {
		p.Rules = append(p.Rules, Rule{ID: fmt.Sprint(i), Effect: Deny, Tool: "x"})
	}
	if found := p.problems(); len(found) != 1 || found[0].Key != "policy.rules" {
		t.Errorf("too many rules: %v", found)
	}
	many := "policy:\n  auto_allow:\n" + strings.Repeat("    - nonsense\n", 100)
	if _, err := parse([]byte(many), "x", nil); err == nil || strings.Count(err.Error(), "\n") != maxProblems {
		t.Errorf("many problems: %v", err)
	}
}

// An error comes without a configuration that could allow anything, and nothing makes the loader panic.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.yaml", "testdata/good/*.yaml", "template.yaml"} {
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
	store, err := OpenStore(path, filepath.Join(folder, "grants.json"), nil)
	if err != nil {
		f.Fatal(err)
	}
	store.getenv = func(string) string { return "" }
	calls := []Call{bash("make"), file("Read", "/srv/x"), file("Write", "/srv/x"), file("mcp__x__y", ""), {}}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		store.Reload()
		cfg := store.Config()
		for _, call := range calls {
			d := store.Decide(call)
			if d.Effect == Allow && (store.Err() != nil || len(cfg.Policy.Rules)+len(cfg.Policy.AutoAllow) == 0) {
				t.Fatalf("allowed by %s, with error %v and policy %+v", d.Rule, store.Err(), cfg.Policy)
			}
		}
		if err := cfg.Validate(); err != nil {
			t.Fatalf("loaded what it does not accept: %v", err)
		}
	})
}
