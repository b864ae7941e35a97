//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/e2e/desktop"
)

// filming is the argument that has the agent play its part in the moving picture.
const filming = "play"

// scene is the part of the screen that the moving picture shows, stage the terminal in it.
var (
	scene = image.Rect(190, 84, 1083, 667)
	stage = image.Rect(0, 0, 95, 29) // columns and rows
)

// TestMovingPicture makes the moving picture of the README: an agent works in a terminal, and a user answers it.
func TestMovingPicture(t *testing.T) {
	if _, err := exec.LookPath("xterm"); err != nil {
		t.Skip("xterm is missing: run scripts/setup test")
	}
	n := start(t, settings)
	must(t, os.WriteFile(filepath.Join(n.project(), "cart.go"), []byte("package shop\n"), 0o600))
	first := n.send("confirm", "Is everything drawn once, so that it is drawn at once before the camera?")
	n.prompt()
	n.press("ctrl+d")
	first.wants("no", 1)
	n.noWindow()
	cue := filepath.Join(n.Home(), "cue")
	must(t, syscall.Mkfifo(cue, 0o600))
	_, err := n.Launch(n.inProject(n.Command("xterm", "-T", "agent", "-fa", "DejaVu Sans Mono", "-fs", "11",
		"-geometry", fmt.Sprintf("%dx%d+%d+%d", stage.Dx(), stage.Dy(), scene.Min.X+8, scene.Min.Y+8),
		"-bg", "#1d2129", "-fg", "#d7dae0", "-b", "10", "+sb", "-xrm", "*cursorBlink: false",
		"-e", n.borrow(agentName), filming, cue, filepath.Join(bin, "nod"), n.project())))
	must(t, err)
	director, err := os.OpenFile(cue, os.O_WRONLY, 0)
	must(t, err)
	defer director.Close()
	n.terminalWindow()
	f := &film{nod: n, director: director, pointer: image.Pt(860, 640)}
	must(t, n.PointAt(f.pointer))
	pause(time.Second)

	recording, err := n.Screen.Record(scene)
	must(t, err)
	defer recording.Stop()
	pause(800 * time.Millisecond)
	f.cue() // reads
	pause(600 * time.Millisecond)
	f.cue() // unasked
	pause(1500 * time.Millisecond)
	f.cue() // builds
	pause(600 * time.Millisecond)
	f.cue()
	n.prompt()
	pause(300 * time.Millisecond)
	f.point(middle(n.armed()))
	pause(500 * time.Millisecond)
	f.press()
	f.noPrompt()
	pause(1300 * time.Millisecond)
	f.cue() // pushes
	pause(600 * time.Millisecond)
	f.cue()
	w := n.prompt()
	n.armed()
	f.point(image.Pt(w.Area.Min.X+210, w.Area.Max.Y-30))
	pause(600 * time.Millisecond)
	n.after(f.press)
	for _, letter := range strings.Split("Open a pull request instead.", "") {
		n.write(letter)
		pause(45 * time.Millisecond)
	}
	w = n.prompt() // has grown
	f.point(image.Pt(w.Area.Min.X+120, w.Area.Max.Y-28))
	pause(300 * time.Millisecond)
	f.press()
	f.noPrompt()
	pause(900 * time.Millisecond)
	f.cue() // has understood
	pause(2500 * time.Millisecond)
	must(t, recording.Stop())
	must(t, recording.Save(filepath.Join(shots, "pictures", "nod.gif")))
}

// ruled are the settings of the pictures.
const ruled = settings + `
policy:
  auto_allow: [read_only]
  trusted_roots: [~/src]
  rules:
    - id: tests
      effect: allow
      tool: Bash
      run: [go test, go vet, make test]
      cwd: ~/src/**
    - id: edits
      effect: allow
      agent: claude-code
      class: write
      path: ~/src/shop/**
    - id: no-push
      effect: deny
      run: [git push]
      note: Open a pull request instead.
    - id: ask-docs
      effect: ask
      path: ~/src/shop/docs/**
`

// TestPictures makes the pictures of the history and of the settings.
func TestPictures(t *testing.T) {
	n := start(t, ruled)
	must(t, os.MkdirAll(filepath.Join(n.project(), "docs"), 0o700))
	cart := filepath.Join(n.project(), "docs", "cart.md")
	must(t, os.WriteFile(cart, []byte("# Cart\n\nThe total has no taxes.\n"), 0o600))
	change := `{"file_path":"docs/cart.md","old_string":"The total has no taxes.",` +
		`"new_string":"The total includes taxes.\nIt is in cents."}`
	for _, done := range []struct {
		args []string
		key  string // with which a user answers, if one is asked
	}{
		{read("cart.go", "--agent", "claude-code"), ""},
		{bash("go test ./..."), ""},
		{[]string{"ask", "Which database?", "--agent", "codex", "--option", "SQLite", "--option", "Postgres"}, "ctrl+Return"},
		{bash("make migrate"), "ctrl+Return"},
		{bash("git push --force origin main"), ""},
		{[]string{"approve", "--tool", "Edit", "--input", change, "--agent", "claude-code", "--session", "s1"},
			"ctrl+Return"},
		{bash("rm -rf ~/src/blog"), "ctrl+d"},
		{bash("go vet ./..."), ""},
	} {
		c := n.send(done.args...)
		if done.key != "" {
			n.prompt()
			if done.args[0] == "ask" {
				n.after(func() { n.press("2") })
			}
			if done.key == "ctrl+Return" { // what may do harm has no affirmative in the accent's colour
				n.armed()
			} else {
				pause(time.Second)
			}
			n.press(done.key)
		}
		c.result()
		n.noWindow()
	}

	must(t, n.PickFromTray(n.ctx, "History…"))
	w := n.window(historyTitle)
	n.after(func() { must(t, n.Screen.Resize(w, image.Pt(1100, 600))) }) // ends before what started the test
	w = n.window(historyTitle)
	edit := w.Area.Min.Add(image.Pt(280, 275))
	n.after(func() { must(t, n.Click(edit, desktop.LeftButton)) })
	n.awayWithThePointer()
	pause(time.Second)
	n.picture("history", w)
	n.press("ctrl+w")
	n.noWindow()

	must(t, n.PickFromTray(n.ctx, "Settings…"))
	w = n.window(settingsTitle)
	n.after(func() { n.press("ctrl+Tab") })
	n.after(func() { must(t, n.Screen.Resize(w, image.Pt(900, 740))) })
	pause(time.Second)
	n.picture("settings", n.window(settingsTitle))
}

// terminalWindow waits until the terminal shows something. Its title is in a property of old.
func (n *nod) terminalWindow() {
	n.t.Helper()
	must(n.t, n.Screen.Await(n.ctx, "the terminal", func() (bool, error) {
		all, err := n.Screen.Windows()
		if err != nil || len(all) == 0 {
			return false, err
		}
		return n.drawn(all[0].Area)
	}))
}

// noPrompt waits until only the terminal is left.
func (f *film) noPrompt() {
	f.t.Helper()
	must(f.t, f.Screen.Await(f.ctx, "the prompt to close", func() (bool, error) {
		all, err := f.Screen.Windows()
		return len(all) == 1, err
	}))
}

// film is what happens before the camera.
type film struct {
	*nod
	director io.Writer
	pointer  image.Point
}

// cue has the agent go on.
func (f *film) cue() {
	f.t.Helper()
	_, err := f.director.Write([]byte{'\n'})
	must(f.t, err)
}

// pause gives whoever watches time to look.
func pause(length time.Duration) { <-time.After(length) }

// point moves the pointer, as a hand does: fast in the middle of the way.
func (f *film) point(to image.Point) {
	f.t.Helper()
	const steps = 24
	from := f.pointer
	for i := range steps {
		done := float64(i+1) / steps
		done *= done * (3 - 2*done)
		way := to.Sub(from)
		f.pointer = from.Add(image.Pt(int(done*float64(way.X)), int(done*float64(way.Y))))
		must(f.t, f.PointAt(f.pointer))
		pause(20 * time.Millisecond)
	}
}

func (f *film) press() { f.t.Helper(); must(f.t, f.Click(f.pointer, desktop.LeftButton)) }

func middle(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

// playAgent is the agent of the moving picture. At each cue it goes on with its part, for which it calls nod as Claude
// Code does.
func playAgent(cues, nod, project string) error {
	cue, err := os.Open(cues)
	if err != nil {
		return err
	}
	defer cue.Close()
	p := player{cues: cue, nod: nod, project: project}
	const hideCursor = "\033[?25l"
	fmt.Print(hideCursor, "\n\033[36m❯\033[0m \033[1mFix the total of the cart and ship it\033[0m\n")
	p.uses("Read", "cart.go", map[string]string{"file_path": filepath.Join(project, "cart.go")})
	if p.uses("Bash", "make all", map[string]string{"command": "make all", "description": "Build and test"}) {
		fmt.Print("    ok  shop  0.312s\n")
	}
	const push = "git push --force origin main"
	p.uses("Bash", push, map[string]string{"command": push, "description": "Publish the fix"})
	p.awaitCue()
	fmt.Print("\n\033[1m●\033[0m Understood. I open a pull request instead.\n")
	p.awaitCue()
	return p.err
}

// player plays an agent that uses tools. After an error it does nothing more.
type player struct {
	cues         io.Reader
	nod, project string
	err          error
}

func (p *player) awaitCue() {
	if p.err == nil {
		_, p.err = p.cues.Read(make([]byte, 1))
	}
}

// uses says what tool the agent is about to use, asks nod, says what came of it, and reports whether it may.
func (p *player) uses(tool, gist string, input map[string]string) bool {
	p.awaitCue()
	fmt.Printf("\n\033[1m● %s\033[0m  %s\n", tool, gist)
	p.awaitCue()
	d := p.hook("PreToolUse", tool, input)
	may, why := d.PermissionDecision, d.PermissionDecisionReason
	if may == "" {
		d = p.hook("PermissionRequest", tool, input)
		may, why = d.Decision.Behavior, d.Decision.Message
	}
	if why == "" {
		why = "by the user"
	}
	outcome := "\033[91mdenied"
	if may == "allow" {
		outcome = "\033[92mallowed"
	}
	fmt.Printf("  └ %s\033[0m  %s\n", outcome, why)
	return may == "allow"
}

// decided is what Claude Code reads of a hook's reply.
type decided struct {
	PermissionDecision, PermissionDecisionReason string
	Decision                                     struct{ Behavior, Message string }
}

func (p *player) hook(event, tool string, input map[string]string) decided {
	if p.err != nil {
		return decided{}
	}
	payload, _ := json.Marshal(map[string]any{"session_id": "f3bdad4b", "cwd": p.project, "permission_mode": "default",
		"hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_" + event})
	cmd := exec.Command(p.nod, "hook", "claude-code")
	cmd.Stdin = strings.NewReader(string(payload))
	out, err := cmd.Output()
	var reply struct{ HookSpecificOutput decided }
	if err == nil && len(out) > 0 {
		err = json.Unmarshal(out, &reply)
	}
	p.err = err
	return reply.HookSpecificOutput
}
