//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAskOption(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("ask", "Which database should the new service use?", "--option", "SQLite",
		"--option", "Postgres", "--agent", "claude-code")
	n.prompt()
	n.armed()
	n.after(func() { n.press("Down") }) // from the first option, which has the focus
	n.shot("ask-option")
	n.press("Return")
	c.wants("Postgres", 0)
	n.noWindow()
}

func TestAskOther(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("ask", "Which database should the new service use?", "--option", "SQLite", "--option", "Postgres")
	n.prompt()
	n.after(func() { n.press("3") })
	n.write("DuckDB, in memory")
	n.armed()
	n.blink()
	n.shot("ask-other")
	n.press("Return")
	c.wants("DuckDB, in memory", 0)
}

func TestAskFreeText(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("ask", "What should the branch be called?", "--placeholder", "fix/…")
	n.prompt()
	n.write("fix/late-reply") // the field has the focus
	n.armed()
	n.blink()
	n.shot("ask-text")
	n.press("ctrl+Return")
	c.wants("fix/late-reply", 0)
}

func TestAskManyLines(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("ask", "What should the release notes say?", "--multiline", "--json")
	n.prompt()
	n.write("First line")
	n.press("Return") // a line break, never an answer
	n.write("Second line")
	n.armed()
	n.blink()
	n.shot("ask-multiline")
	n.press("ctrl+Return")
	out, status := c.result()
	var reply struct{ Answer string }
	must(t, json.Unmarshal([]byte(out), &reply))
	if status != 0 || reply.Answer != "First line\nSecond line" {
		t.Errorf("got %q, status %d", reply.Answer, status)
	}
}

func TestConfirmYes(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("confirm", "Deploy version 1.4.2 to staging now?", "--agent", "claude-code")
	n.prompt()
	n.armed()
	n.shot("confirm")
	n.press("ctrl+Return")
	c.wants("yes", 0)
	n.noWindow()
}

func TestConfirmNo(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("confirm", "Deploy version 1.4.2 to staging now?")
	n.prompt()
	n.press("ctrl+d")
	c.wants("no", 1)
}

func TestConfirmTimeOut(t *testing.T) {
	t.Parallel()
	for _, silence := range []string{"yes", "no"} {
		t.Run(silence, func(t *testing.T) {
			n := start(t, settings)
			c := n.send("confirm", "Keep the branch?", "--default", silence, "--timeout", shortly, "--json")
			n.prompt()
			n.armed()
			n.shot("confirm-silence-means-" + silence)
			out, status := c.result()
			var reply struct{ Confirmed, Defaulted bool }
			must(t, json.Unmarshal([]byte(out), &reply))
			if !reply.Defaulted || reply.Confirmed != (silence == "yes") {
				t.Errorf("silence that means %s: got %s, status %d", silence, out, status)
			}
			n.noWindow()
		})
	}
}

const form = `{
  "title": "Set up the new service",
  "questions": [
    {"id": "database", "header": "Storage", "question": "Which database should it use?", "input_type": "choice",
     "options": [
      {"label": "SQLite", "value": "sqlite", "description": "One file, nothing to run.", "recommended": true},
      {"label": "PostgreSQL", "value": "postgres", "description": "A server of its own."}]},
    {"id": "checks", "question": "Which checks should run?", "input_type": "choice", "multi_select": true, "options": [
      {"label": "Unit tests", "value": "unit"}, {"label": "Linter", "value": "lint"}]},
    {"id": "name", "question": "What should it be called?", "input_type": "text", "placeholder": "orders"}
  ]
}`

func TestForm(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	path := filepath.Join(n.Home(), "form.json")
	must(t, os.WriteFile(path, []byte(form), 0o600))
	c := n.send("form", path, "--agent", "claude-code")
	w := n.prompt()
	n.armed()
	n.shot("form-empty")

	n.after(func() { n.press("space") }) // the first option of the first question
	n.armed()
	n.picture("form", w)
	n.after(n.affirm) // three are required, one is there
	n.armed()
	n.shot("form-missing")
	c.pending()

	// Where an answer is missing, there is the focus: on the first check. Pick it and the next one, and go on.
	n.after(func() { n.press("1", "2", "Return") })
	n.write("orders")
	n.blink()
	n.after(func() { n.press("Escape") }) // asks whether to discard that
	n.shot("form")
	n.press("Return")
	out, status := c.result()
	if want := `{"checks":["unit","lint"],"database":["sqlite"],"name":"orders"}`; status != 0 || compact(t, out) != want {
		t.Errorf("got %s, status %d\nwant %s", out, status, want)
	}
	n.noWindow()
}

func TestFormDeclined(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	path := filepath.Join(n.Home(), "form.json")
	must(t, os.WriteFile(path, []byte(form), 0o600))
	c := n.send("form", path)
	n.prompt()
	n.press("ctrl+d")
	if out, status := c.result(); status != 4 || strings.Contains(out, "answer") {
		t.Errorf("got %q, status %d, want status 4", out, status)
	}
	n.noWindow()
}

// compact is JSON without blanks, its keys in order; the answers only, where a reply wraps them.
func compact(t *testing.T, text string) string {
	t.Helper()
	var value map[string]any
	must(t, json.Unmarshal([]byte(text), &value))
	if answers, wrapped := value["answers"].(map[string]any); wrapped {
		value = answers
	}
	short, err := json.Marshal(value)
	must(t, err)
	return string(short)
}

// Two prompts of a session that nobody answers are enough: from then on nod only counts, until somebody is
// there again.
func TestQuietUntilSomebodyIsThere(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	question := []string{"ask", "Which one?", "--session", "s1", "--timeout", shortly}
	for range 2 {
		c := n.send(question...)
		n.prompt()
		c.wants("", 3)
		n.noWindow()
	}
	third := n.send(question...)
	if _, status := third.result(); status != 3 || !strings.Contains(third.errout.String(), "the user is away") {
		t.Fatalf("the third question: status %d, %s", status, &third.errout)
	}
	n.noWindow()
	n.shot("quiet")
	there := n.send("confirm", "Are you there?")
	n.prompt()
	n.press("ctrl+d")
	there.wants("no", 1)
	n.noWindow()
	c := n.send(question...)
	n.prompt()
	c.wants("", 3)
}
