package config

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"nod/policy"
)

// Whatever a file may say survives JSON, to the last empty list.
func TestConfigSurvivesJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for i := range 500 {
		want := randomConfig(random, Default())
		want.Prompt.ArmAfter = time.Duration(random.Int64())
		want.Agents.AskMore = random.IntN(2) == 0
		want.Agents.Strict = pick(random, nil, []string{}, []string{"codex", "<&>"})
		want.Policy.Rules = append(want.Policy.Rules, policy.Rule{
			ID: "run", Effect: policy.Allow, Run: pick(random, nil, []string{"go test"}),
			Note:     pick(random, "", "a\nb\u2028<é>"),
			Examples: policy.Examples{Match: pick(random, nil, []string{"go test ./..."})},
		})
		want.Policy.Normalize()
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Config
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) || !got.equal(want) {
			t.Fatalf("%d: %v\ngot  %+v\nwant %+v", i, err, got, want)
		}
	}
}

// A list that a file leaves empty is the same as none, so that a copy that was sent as JSON is still what it was.
func TestEmptyListsSurviveJSON(t *testing.T) {
	cfg, err := parse([]byte(`policy:
  auto_allow: []
  trusted_roots: []
  rules: [{id: a, effect: deny, tool: x, run: [], args: [], examples: {match: [], no_match: []}}]
`), "config.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := json.Unmarshal(text, &got); err != nil || !got.equal(cfg) {
		t.Errorf("%v: %+v, want %+v", err, got, cfg)
	}
}

const replaced = `# mine
look:
  theme: light # by day
policy:
  rules:
    - {id: build, effect: allow, command: make}
`

func TestReplace(t *testing.T) {
	t.Setenv("NOD_LOOK_LANGUAGE", "zh-CN")
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, replaced)
	f := openFile(t, path)
	base := f.Config()
	next := base.Clone()
	next.Prompt.OnTop = false
	next.Policy.Rules[0].Disabled = true
	if _, err := f.Replace(base, next); err != nil {
		t.Fatal(err)
	}
	if got := f.Config(); !got.equal(next) {
		t.Errorf("%+v, want %+v", got, next)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# mine\nlook:\n  theme: light # by day\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if strings.Contains(string(text), "zh-CN") {
		t.Errorf("what the environment says got into the file:\n%s", text)
	}
}

// A change that starts from what is no longer so changes nothing, whoever was quicker.
func TestReplaceOfWhatHasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	for name, meanwhile := range map[string]func(*testing.T, *file){
		"nod": func(t *testing.T, f *file) {
			if err := f.Update(func(c *Config) error { c.Look.Theme = "dark"; return nil }); err != nil {
				t.Fatal(err)
			}
		},
		"an editor, not noticed yet": func(t *testing.T, _ *file) {
			write(t, path, strings.Replace(replaced, "effect: allow", "effect: deny", 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, replaced)
			f := openFile(t, path)
			base := f.Config()
			next := base.Clone()
			next.Prompt.OnTop = false
			meanwhile(t, f)
			if _, err := f.Replace(base, next); !errors.Is(err, ErrChanged) {
				t.Errorf("%v, want ErrChanged", err)
			}
			f.refresh()
			if !f.Config().Prompt.OnTop {
				t.Error("it was changed all the same")
			}
			base = f.Config()
			next = base.Clone()
			next.Prompt.OnTop = false
			if _, err := f.Replace(base, next); err != nil {
				t.Errorf("once more: %v", err)
			}
		})
	}
	write(t, path, "policy: [\n")
	f := openFile(t, path)
	if _, err := f.Replace(f.Config(), Default()); err == nil {
		t.Error("a broken file was overwritten")
	}
}
