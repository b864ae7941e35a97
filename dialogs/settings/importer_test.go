package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/controls"
	"nod/dialogs/dialogstest"
	"nod/policy"
)

const claudeRules = `{"permissions": {
  "allow": ["Bash(npm test)", "Read(~/notes/**)", "Bash(python:*)"],
  "deny": ["Read(**/.env)"]
}}`

// rulesFound are those that the import offers.
func rulesFound(t *testing.T, w *Window) (rules []policy.Rule) {
	t.Helper()
	all, err := findRules(w.opts.Machine, w.allow.imports.folder.Text, w.allow.imports.rules())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		rules = append(rules, one.result.Rules...)
	}
	return rules
}

// withClaudeRules opens the import of rules, with rules of Claude Code's own in the home folder.
func withClaudeRules(t *testing.T, rules string) (*Window, *fakeOperator) {
	t.Helper()
	w, o := few(t)
	m, err := w.opts.Machine()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(m.Home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.Home, ".claude", "settings.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	w.tabs.selectIndex(onAllow)
	w.allow.startImport()
	return w, o
}

// chooseAll ticks every box in o.
func chooseAll(o fyne.CanvasObject) {
	dialogstest.Walk(o, func(o fyne.CanvasObject) {
		if box, ok := o.(*controls.Check); ok {
			box.SetChecked(true)
		}
	})
}

func TestRulesAreImported(t *testing.T) {
	w, o := withClaudeRules(t, claudeRules)
	o.isAs(t, fewRules()) // the user has not agreed yet
	found := rulesFound(t, w)
	for _, one := range found {
		if !strings.Contains(one.Note, ".claude") {
			t.Errorf("the note %q does not say where the rule is from", one.Note)
		}
	}
	for _, r := range found {
		if slices.ContainsFunc(w.allow.imports.choice.chosen, r.Equal) == r.Effect.Permits() {
			t.Errorf("chosen by itself: %+v", r)
		}
	}
	chooseAll(w.allow.imports.body)
	test.Tap(w.allow.imports.choice.add)
	want := fewRules()
	want.Policy.Rules = append(want.Policy.Rules, found...)
	o.isAs(t, want)
	var text strings.Builder
	for _, r := range found {
		text.WriteString(controls.Sentence(r))
	}
	got := text.String()
	if !strings.Contains(got, "npm test") || !strings.Contains(got, "**/.env") || strings.Contains(got, "python") {
		t.Errorf("added %s", got)
	}
	if w.allow.imports != nil {
		t.Error("the import stays open")
	}
	w.allow.startImport()
	if n := len(rulesFound(t, w)); n != 0 {
		t.Errorf("%d rules would be added again", n)
	}
}

// Only visible rules are added: many are offered in parts.
func TestManyRulesAreImportedInParts(t *testing.T) {
	var all []string
	for i := range rowsShown + 50 {
		all = append(all, fmt.Sprintf("\"Bash(npm run test%d)\"", i))
	}
	w, o := withClaudeRules(t, `{"permissions": {"allow": [`+strings.Join(all, ",")+`]}}`)
	for _, want := range []int{rowsShown, rowsShown + 50} {
		chooseAll(w.allow.imports.body)
		test.Tap(w.allow.imports.choice.add)
		if got := len(o.rules()) - 1; got != want {
			t.Errorf("%d rules were added, want %d", got, want)
		}
		w.allow.startImport()
	}
	if n := len(rulesFound(t, w)); n != 0 {
		t.Errorf("%d rules would be added again", n)
	}
}

func TestAnImportThatFailsSaysSo(t *testing.T) {
	w, o := withClaudeRules(t, "{")
	if len(rulesFound(t, w)) != 0 || !w.allow.imports.choice.add.Disabled() {
		t.Error("something to add from a file that cannot be read")
	}
	if markup := test.RenderObjectToMarkup(w.allow.imports.body); !strings.Contains(markup, "settings.json") {
		t.Errorf("the file is not named in %s", markup)
	}
	w.allow.imports.folder.SetText("relative")
	w.allow.imports.look()
	if !w.allow.imports.problem.Content.Visible() {
		t.Error("a folder that is none is taken")
	}
	w.allow.escape()
	if w.allow.imports != nil {
		t.Error("cancelled, but open")
	}
	o.isAs(t, fewRules())
}
