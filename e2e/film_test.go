//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filmed is one request of the film, what a user presses to answer it, and what its caller then gets.
type filmed struct {
	send  []string
	keys  []string // the last one once the affirmative works
	long  bool     // does not fit the window
	typed string   // before the last key
	want  string
}

// TestFilm has three agents ask ten things at once, and a user answer them all by keyboard.
// It says how long that took and how many keys; with NOD_FILM each step is left in that folder as a picture.
func TestFilm(t *testing.T) {
	t.Parallel()
	n := start(t, slowToArm)
	from := func(agent, session string, args ...string) []string {
		return append(args, "--agent", agent, "--session", session, "--cwd", n.project())
	}
	approve := func(input string) []string { return []string{"approve", "--tool", "Bash", "--input", input} }
	form := filepath.Join(n.Home(), "form.json")
	must(t, os.WriteFile(form, []byte(`{"title": "New service", "questions": [
		{"id": "lang", "question": "Which language?", "options": [{"label": "Go"}, {"label": "Rust"}]},
		{"id": "tests", "question": "Which tests?", "options": [{"label": "Unit"}, {"label": "End to end"}]}]}`), 0o600))
	script := strings.Repeat(`printf '%s\\n' step\n`, 80)
	film := []filmed{
		{send: from("claude-code", "s1", approve(`{"command":"make all"}`)...), keys: []string{"ctrl+Return"}, want: "allow"},
		{send: from("claude-code", "s1", approve(`{"command":"`+script+`"}`)...), keys: []string{"ctrl+Return"},
			long: true, want: "allow"},
		{send: from("codex", "s2", "ask", "Which database?", "--option", "SQLite", "--option", "Postgres"),
			keys: []string{"2", "ctrl+Return"}, want: "Postgres"},
		{send: from("codex", "s2", approve(`{"command":"rm -rf build && rm -rf ~/src"}`)...), keys: []string{"ctrl+d"},
			want: "deny"},
		{send: from("gemini-cli", "s3", "confirm", "Deploy version 1.4.2 to staging now?"), keys: []string{"ctrl+Return"},
			want: "yes"},
		{send: from("gemini-cli", "s3", "form", form), keys: []string{"1", "Return", "2", "ctrl+Return"},
			want: `{"lang":["Go"],"tests":["End to end"]}`},
		{send: from("claude-code", "s1", "confirm", "Delete the old branch as well?"), keys: []string{"ctrl+d"}, want: "no"},
		{send: from("codex", "s2", "ask", "What should the branch be called?"), keys: []string{"ctrl+Return"},
			typed: "fix/late-reply", want: "fix/late-reply"},
		{send: from("gemini-cli", "s3", approve(`{"command":"npm test"}`)...), keys: []string{"ctrl+Return"}, want: "allow"},
		{send: from("claude-code", "s1", approve(`{"command":"git push --force"}`)...), keys: []string{"ctrl+d"},
			want: "deny"},
	}
	var ids []string
	for _, f := range film {
		id, status := n.send(append(f.send, "--detach")...).result()
		if status != 0 {
			t.Fatalf("%q: %q, status %d", f.send, id, status)
		}
		ids = append(ids, strings.TrimSpace(id))
	}
	n.prompt()
	began, keys := time.Now(), 0
	for i, f := range film {
		n.frame(fmt.Sprintf("%02d-asks", i+1))
		last := len(f.keys) - 1
		n.press(f.keys[:last]...)
		n.write(f.typed)
		keys += len(f.keys) + len(f.typed)
		if f.long {
			n.readToTheEnd()
		}
		n.armed()
		n.frame(fmt.Sprintf("%02d-is-answered", i+1))
		n.press(f.keys[last])
		n.disarmed() // the next prompt is there
	}
	took := time.Since(began)
	for i, f := range film {
		out, _ := n.send("wait", ids[i]).result()
		if first, _, _ := strings.Cut(out, "\n"); first != f.want {
			t.Errorf("%q: got %q, want %q", f.send, first, f.want)
		}
	}
	n.noWindow()
	t.Logf("ten requests of three agents: %.1f s, %d keys", took.Seconds(), keys)
}

// frame leaves a picture of the film, if one is made.
func (n *nod) frame(name string) {
	n.t.Helper()
	if folder := os.Getenv("NOD_FILM"); folder != "" {
		must(n.t, n.Screen.Save(filepath.Join(folder, name+".png")))
	}
}
