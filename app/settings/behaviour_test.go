package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"nod/policy"
)

const commented = `# my rules
policy:
  auto_allow: [read_only] # keep it so
  rules:
    - id: no-prod # never
      effect: deny
      tool: "mcp__prod__*"
`

// withFile opens the settings on a policy file, the real one.
func withFile(t *testing.T, text string) (w *Window, file func() string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := policy.OpenStore(path, filepath.Join(dir, "grants.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return openWindow(t, store, "light"), func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestASwitchIsWrittenToTheFile(t *testing.T) {
	w, file := withFile(t, commented)
	test.Tap(w.allow.classes[policy.Network].check)
	got := file()
	for _, want := range []string{"# my rules", "# keep it so", "# never", "- read_only", "- network"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	test.Tap(w.allow.classes[policy.Network].check)
	if got := file(); strings.Contains(got, "network") || !strings.Contains(got, "read_only") {
		t.Errorf("and back:\n%s", got)
	}
}

func TestARuleIsAdded(t *testing.T) {
	w, file := withFile(t, commented)
	w.allow.edit(policy.Rule{})
	e := w.allow.editor
	e.effect.SetSelected(effectName(policy.Allow))
	e.texts["tool"].SetText("Bash")
	e.texts["command"].SetText("make test ")
	e.texts["id"].SetText("tests")
	test.Tap(e.save)
	if w.allow.editor != nil {
		t.Error("the editor stayed open")
	}
	got := file()
	for _, want := range []string{"# my rules", "# keep it so", "# never", "id: tests", `command: "make test "`} {
		if !strings.Contains(got, want) && !strings.Contains(got, strings.ReplaceAll(want, `"`, `'`)) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if rules := w.opts.Store.Config().Policy.Rules; len(rules) != 2 || rules[1].Command != "make test " {
		t.Errorf("rules %+v", rules)
	}
}

func TestABadRuleIsNotSaved(t *testing.T) {
	tests := map[string]struct {
		fill map[string]string
		at   string // the field that complains
	}{
		"matches everything": {map[string]string{"id": "x"}, "effect"},
		"no name":            {map[string]string{"id": "", "tool": "Bash"}, "id"},
		"a name twice":       {map[string]string{"id": "no-prod", "tool": "Bash"}, "id"},
		"a broken pattern":   {map[string]string{"id": "x", "path": "~/src/["}, "path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, file := withFile(t, commented)
			w.allow.edit(policy.Rule{})
			e := w.allow.editor
			for key, text := range tt.fill {
				e.texts[key].SetText(text)
			}
			if !e.save.Disabled() {
				t.Error("it could be saved")
			}
			if e.wrong[tt.at].label.Text == "" {
				t.Errorf("nothing is said at %s", tt.at)
			}
			test.Tap(e.save)
			if file() != commented {
				t.Error("the file changed")
			}
		})
	}
}

func TestEditingKeepsThePlace(t *testing.T) {
	w, file := withFile(t, commented)
	w.allow.edit(w.opts.Store.Config().Policy.Rules[0])
	w.allow.editor.texts["note"].SetText("ask Grace first")
	test.Tap(w.allow.editor.save)
	got := file()
	if !strings.Contains(got, "id: no-prod # never") || !strings.Contains(got, "note: ask Grace first") {
		t.Errorf("file:\n%s", got)
	}
}

// What is typed into the try-it box is decided as the policy would, at each key.
func TestTryACall(t *testing.T) {
	w, _ := withFile(t, commented)
	try := w.allow.try
	says := func() string { return test.RenderObjectToMarkup(try.result) }
	tests := []struct{ agent, tool, input, want string }{
		{"claude-code", "Bash", "ls -l", "Allow"},
		{"claude-code", "Bash", "rm -rf x", "Ask"},
		{"claude-code", "Read", "README.md", "Allow"},
		{"codex", "mcp__prod__deploy", "", "Deny"},
		{"claude-code", "Bash", `{"command":`, "Not JSON yet"},
		{"claude-code", "", "", "Name a tool."},
	}
	for _, tt := range tests {
		try.agent.SetText(tt.agent)
		try.tool.SetText(tt.tool)
		try.input.SetText(tt.input)
		if got := says(); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// A broken file is shown and cannot be edited over.
func TestABrokenFile(t *testing.T) {
	const broken = "policy:\n  rules: [{id: a, effect: alow, tool: x}]\n"
	w, file := withFile(t, broken)
	if !w.allow.classes[policy.Write].check.Disabled() {
		t.Error("a switch works")
	}
	if !strings.Contains(test.RenderToMarkup(w.win.Canvas()), "alow") {
		t.Error("the mistake is not shown")
	}
	if file() != broken {
		t.Error("the file changed")
	}
}

func TestGeneralIsCheckedAndSaved(t *testing.T) {
	w, file := withFile(t, commented)
	e := w.general.timeout
	e.SetText("soon")
	e.commit()
	if e.field.problem.label.Text == "" || file() != commented {
		t.Errorf("%q was taken: %s", "soon", file())
	}
	e.SetText("2m")
	e.commit()
	if got := file(); !strings.Contains(got, "timeout: 2m") || !strings.Contains(got, "# my rules") {
		t.Errorf("file:\n%s", got)
	}
}
