package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
)

const claudeRules = `{"permissions": {
  "allow": ["Bash(npm test)", "Read(~/notes/**)", "Bash(python:*)"],
  "deny": ["Read(**/.env)"]
}}`

// withClaudeRules opens the settings on a policy file, with rules of Claude Code's own in the home folder.
func withClaudeRules(t *testing.T, rules string) (w *Window, file func() string) {
	t.Helper()
	w, file = withFile(t, commented)
	m, err := w.opts.Agents.Machine()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(m.Home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.Home, ".claude", "settings.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	w.tabs.SelectIndex(1)
	w.allow.takeOver()
	return w, file
}

func TestRulesAreImported(t *testing.T) {
	w, file := withClaudeRules(t, claudeRules)
	if file() != commented {
		t.Fatal("rules were added before the person agreed")
	}
	for _, one := range w.allow.imports.found {
		if !strings.Contains(one.Note, ".claude") {
			t.Errorf("the note %q does not say where the rule is from", one.Note)
		}
	}
	test.Tap(w.allow.imports.add)
	got := file()
	for _, want := range []string{"# never", "command: npm test", "**/.env"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "python") {
		t.Errorf("what nod cannot say was added:\n%s", got)
	}
	if w.allow.imports != nil {
		t.Error("the import stays open")
	}
	w.allow.takeOver()
	if n := len(w.allow.imports.found); n != 0 {
		t.Errorf("%d rules would be added again", n)
	}
}

func TestAnImportThatFailsSaysSo(t *testing.T) {
	w, file := withClaudeRules(t, "{")
	if len(w.allow.imports.found) != 0 || !w.allow.imports.add.Disabled() {
		t.Error("something to add from a file that cannot be read")
	}
	if markup := test.RenderObjectToMarkup(w.allow.imports.body); !strings.Contains(markup, "settings.json") {
		t.Errorf("the file is not named in %s", markup)
	}
	w.allow.imports.folder.SetText("relative")
	w.allow.imports.look()
	if !w.allow.imports.problem.content.Visible() {
		t.Error("a folder that is none is taken")
	}
	w.allow.escape()
	if file() != commented || w.allow.imports != nil {
		t.Error("cancelled, but not as before")
	}
}
