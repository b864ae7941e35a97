//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sandboxed has the commands of a test's project run in the sandbox.
const sandboxed = settings + `
policy:
  sandbox: {projects: [~/src/shop]}
  rules:
    - {id: bare, effect: allow, tool: Bash, run: [touch bare.txt]}
`

// claudeHands plays a Claude Code that hands its commands to nod.
type claudeHands struct{ *nod }

func newClaudeHands(t *testing.T) claudeHands {
	t.Helper()
	c := claudeHands{startDesktop(t)}
	c.containing()
	c.writeConfig(sandboxed)
	must(t, os.WriteFile(filepath.Join(c.project(), ".env"), []byte("KEY=1\n"), 0o600))
	c.startNod()
	c.awaitSandbox()
	return c
}

// containing skips a test on a machine that can contain nothing.
func (c claudeHands) containing() {
	c.t.Helper()
	if out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		if os.Getenv("NOD_SANDBOX") != "" {
			c.t.Fatalf("NOT TESTED: this machine lets bubblewrap make no sandbox: %v: %s", err, out)
		}
		c.t.Skipf("NOT TESTED: this machine lets bubblewrap make no sandbox: %v: %s", err, out)
	}
}

// awaitSandbox waits until nod has tried the sandbox, which it does beside everything else.
func (c claudeHands) awaitSandbox() {
	c.t.Helper()
	for !strings.Contains(c.hook("ls"), "in the sandbox") {
		select {
		case <-c.ctx.Done():
			c.t.Fatal("nod never contains a command")
		case <-time.After(100 * time.Millisecond):
		}
	}
	if out, _ := c.run("ls"); strings.Contains(out, "KEY") {
		c.t.Fatal(out)
	}
}

// handed has nod run a line, as Claude Code does: for a hook or a command of the model's.
func (c claudeHands) handed(line, as string) *exec.Cmd {
	cmd := c.program("nod", "-c", line)
	cmd.Env = append(cmd.Env, "AI_AGENT=claude-code_2-1-330_"+as, "CLAUDE_CODE_ENTRYPOINT=cli")
	return cmd
}

// hook asks nod about a command and returns the reply.
func (c claudeHands) hook(command string) string {
	c.t.Helper()
	cmd := c.handed(filepath.Join(bin, "nod")+" hook claude-code", "harness")
	payload, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": c.project(),
		"tool_input": map[string]string{"command": command},
	})
	must(c.t, err)
	cmd.Stdin = strings.NewReader(string(payload))
	out, _ := c.launch(cmd).result()
	return out
}

// start has nod run a command of the model's.
func (c claudeHands) start(command string) *call {
	c.t.Helper()
	quoted := "'" + strings.ReplaceAll(command, "'", `'"'"'`) + "'"
	line := "{ shopt -u extglob; } >/dev/null 2>&1 || true && eval " + quoted +
		" < /dev/null && pwd -P >| " + c.folderFile()
	return c.launch(c.handed(line, "agent"))
}

func (c claudeHands) folderFile() string { return filepath.Join(c.Home(), "claude-1-cwd") }

// run is start to its end. What it returns is all that the agent reads.
func (c claudeHands) run(command string) (out string, status int) {
	c.t.Helper()
	started := c.start(command)
	out, status = started.result()
	return out + started.errout.String(), status
}

// made reports whether a file of the project is there.
func (c claudeHands) made(name string) bool {
	_, err := os.Stat(filepath.Join(c.project(), name))
	return err == nil
}

// What the policy contains runs in the sandbox, and only there: it changes the project and nothing else, its shell's
// folder and its status are as without, and it can be taken back.
func TestCommandsRunInTheSandbox(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	outside := filepath.Join(c.Home(), "outside.txt")
	work := `mkdir -p sub && cd sub && echo "it's ✓" > made.txt && cat made.txt ../.env && ls ~ && ./x || exit 7`
	if reply := c.hook(work); !strings.Contains(reply, "no rule covers this") && !strings.Contains(reply, `"ask"`) {
		t.Errorf("a command that names a secret is not asked about: %s", reply)
	}
	work = `mkdir -p sub && cd sub && echo "it's ✓" > made.txt && cat made.txt`
	if reply := c.hook(work); !strings.Contains(reply, `"allow"`) || !strings.Contains(reply, "sandbox") {
		t.Fatalf("the reply is %s", reply)
	}
	if out, status := c.run(work); status != 0 || !strings.Contains(out, "it's ✓") || !c.made("sub/made.txt") {
		t.Errorf("status %d: %s", status, out)
	}
	folder, err := os.ReadFile(c.folderFile())
	if must(t, err); strings.TrimSpace(string(folder)) != filepath.Join(c.project(), "sub") {
		t.Errorf("the shell's folder is %q", folder)
	}

	probe := fmt.Sprintf(`python3 -c 'import os
print(os.path.exists("/run/user"), sorted(os.listdir(os.path.expanduser("~"))), open(".env").read())
try: open(%q, "w")
except OSError as e: print("refused", e.errno)
os.makedirs(".claude/hooks", exist_ok=True)' || exit 7`, outside)
	if reply := c.hook(probe); !strings.Contains(reply, "sandbox") {
		t.Fatalf("the reply is %s", reply)
	}
	out, status := c.run(probe)
	_, err = os.Stat(outside)
	if strings.Contains(out, "KEY") || !errors.Is(err, fs.ErrNotExist) || c.made(".claude") ||
		!strings.Contains(out, "False ['src']") {
		t.Errorf("status %d: %s", status, out)
	}
	if status != 0 && !strings.Contains(out, "nod run --outside") {
		t.Errorf("status %d without a word of what to do: %s", status, out)
	}

	list, status := c.launch(c.program("nod", "undo")).result()
	if status != 0 || !strings.Contains(list, "mkdir -p sub") {
		t.Errorf("status %d: %s", status, list)
	}
	undo := c.launch(c.program("nod", "undo", "--last", "--yes"))
	if out, status := undo.result(); status != 0 || c.made("sub/made.txt") {
		t.Errorf("status %d: %s%s", status, out, undo.errout.String())
	}
	if list, _ := c.launch(c.program("nod", "history")).result(); !strings.Contains(list, "sandboxed") {
		t.Errorf("the history does not say what ran in the sandbox: %s", list)
	}
}

// A server that a command starts and ends has its clients in the sandbox, and git puts files back there.
func TestServersAndGitInTheSandbox(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	kept := filepath.Join(c.project(), "kept.txt")
	must(t, os.WriteFile(kept, []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(c.project(), ".gitignore"), []byte(".env\n"), 0o600))
	for _, line := range []string{
		"init -q", "add kept.txt", "-c user.name=n -c user.email=n@example.org commit -q -m one",
	} {
		if out, err := exec.Command("git", append([]string{"-C", c.project()}, strings.Fields(line)...)...).
			CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, out)
		}
	}
	for _, line := range []string{"git checkout -- kept.txt", "git restore kept.txt"} {
		must(t, os.WriteFile(kept, []byte("new"), 0o600))
		if reply := c.hook(line); !strings.Contains(reply, "in the sandbox") {
			t.Fatalf("%s: the reply is %s", line, reply)
		}
		out, status := c.run(line)
		if text, err := os.ReadFile(kept); status != 0 || err != nil || string(text) != "old" {
			t.Errorf("%s: status %d: %s; the file holds %q, %v", line, status, out, text, err)
		}
	}
	branch := "git switch -c side"
	if reply := c.hook(branch); !strings.Contains(reply, "in the sandbox") {
		t.Errorf("%s: the reply is %s", branch, reply)
	}
	if out, status := c.run(branch); status != 0 {
		t.Errorf("%s: status %d: %s", branch, status, out)
	}
	own := c.launch(c.program("nod", "run", "--", "git", "-c", "user.name=n", "-c", "user.email=n@example.org",
		"commit", "-q", "--allow-empty", "-m", "by hand"))
	if out, status := own.result(); status != 0 {
		t.Errorf("the user's own commit: status %d: %s%s", status, out, own.errout.String())
	}
	log := exec.Command("git", "-C", c.project(), "log", "-1", "--format=%s", "side")
	if out, err := log.Output(); err != nil || string(out) != "by hand\n" {
		t.Errorf("%q, %v", out, err)
	}
	serve := `python3 -m http.server --bind 127.0.0.1 8765 & python3 -c '
import time, urllib.request
for _ in range(100):
    try: print(urllib.request.urlopen("http://127.0.0.1:8765/kept.txt").read()); break
    except OSError: time.sleep(0.1)'; kill $!`
	if reply := c.hook(serve); !strings.Contains(reply, "in the sandbox") {
		t.Fatalf("the reply is %s", reply)
	}
	if out, status := c.run(serve); status != 0 || !strings.Contains(out, "b'old'") {
		t.Errorf("status %d: %s", status, out)
	}
}

// What the user allows outside runs outside, and so do hooks, also while another command waits for the sandbox.
func TestCommandsRunBareWhereAllowed(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	c.hook("mkdir waits")
	if reply := c.hook("touch bare.txt"); !strings.Contains(reply, "bare") {
		t.Fatal(reply)
	}
	if out, status := c.run("touch bare.txt"); status != 0 || !c.made("bare.txt") || strings.Contains(out, "sandbox") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := c.launch(c.handed("echo $NOD_SHELL", "harness")).result(); status != 0 || len(out) < 2 {
		t.Errorf("a hook: status %d: %q", status, out)
	}
	push := "git push origin main"
	if reply := c.hook(push); strings.Contains(reply, `"allow"`) {
		t.Errorf("%s passes: %s", push, reply)
	}
}

// A command that was to run in the sandbox never runs outside, whatever becomes of nod-desktop.
func TestNeverBareWithoutNod(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	if reply := c.hook("mkdir late"); !strings.Contains(reply, "sandbox") {
		t.Fatal(reply)
	}
	must(t, c.cmd.Process.Signal(syscall.SIGKILL))
	<-c.ended
	if out, status := c.run("mkdir late"); status != 126 || c.made("late") || !strings.Contains(out, "not run") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status := c.run("mkdir other"); status != 0 || !c.made("other") {
		t.Errorf("a command that nobody contained: status %d: %s", status, out)
	}
	c.startNod()
	c.awaitSandbox()
	if out, status := c.run("mkdir late"); status != 0 || !c.made("late") {
		t.Errorf("nod has started again: status %d: %s", status, out)
	}
}

// A host that nobody allowed is asked about while the connection is held, also if that is this computer.
func TestTheBoundaryAsks(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(patience))
			_, _ = conn.Read(make([]byte, 4096))
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
			conn.Close()
		}
	}()
	fetch := fmt.Sprintf(`python3 -c '
import http.client, os
proxy = http.client.HTTPConnection(os.environ["HTTP_PROXY"].split("//")[1])
proxy.request("GET", "http://%s/")
reply = proxy.getresponse()
print(reply.status, reply.read())
exit(reply.status != 200)'`, l.Addr())
	if reply := c.hook(fetch); !strings.Contains(reply, "sandbox") {
		t.Fatal(reply)
	}
	started := c.start(fetch)
	c.prompt()
	c.armed()
	c.shot("boundary")
	c.press("ctrl+Return")
	if out, status := started.result(); status != 0 || !strings.Contains(out, "hello") {
		t.Errorf("status %d: %s%s", status, out, started.errout.String())
	}
	fetch = "curl -sSf http://" + l.Addr().String()
	c.hook(fetch)
	started = c.start(fetch)
	c.prompt()
	c.armed()
	c.press("ctrl+d")
	if out, status := started.result(); status == 0 || strings.Contains(out, "hello") ||
		!strings.Contains(started.errout.String(), "nod run --outside") {
		t.Errorf("status %d: %s%s", status, out, started.errout.String())
	}
}

// A user runs commands in the sandbox, too.
func TestRunOfOnesOwn(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	run := func(args ...string) (string, int) {
		started := c.launch(c.program("nod", append([]string{"run"}, args...)...))
		out, status := started.result()
		return out + started.errout.String(), status
	}
	const hint = "nod run --outside"
	out, status := run("--", "sh", "-c", "touch own.txt; echo FAIL; exit 9")
	if status != 9 || !c.made("own.txt") || strings.Contains(out, hint) {
		t.Errorf("status %d: %s", status, out)
	}
	for _, line := range []string{"touch /usr/made", "not-there"} {
		if out, status := run("--", "sh", "-c", line); status == 0 || !strings.Contains(out, hint) {
			t.Errorf("%s: status %d: %s", line, status, out)
		}
	}
	const ends = "trap 'exit 7' TERM; touch ready; while :; do sleep 0.1; done"
	patient := c.launch(c.program("nod", "run", "sh", "-c", ends))
	must(t, c.Screen.Await(c.ctx, "the command to begin", func() (bool, error) { return c.made("ready"), nil }))
	must(t, patient.cmd.Process.Signal(syscall.SIGTERM))
	if out, status := patient.result(); status != 7 {
		t.Errorf("a command that ends itself when told to: status %d: %s%s", status, out, patient.errout.String())
	}
	const prints = "trap '' PIPE; i=0; while [ $i -lt 20000 ]; do echo line; i=$((i+1)); done 2>&-; touch finished"
	piped := c.launch(c.inProject(c.Command("sh", "-c", filepath.Join(bin, "nod")+` run sh -c "$0" | head -1`, prints)))
	if out, _ := piped.result(); out != "line\n" || !c.made("finished") {
		t.Errorf("a command whose output nobody reads to the end: %q%s", out, piped.errout.String())
	}
	if out, status := run("--outside", "--", "sh", "-c", "touch ~/out.txt; exit 8"); status != 8 {
		t.Errorf("outside: status %d: %s", status, out)
	}
	if out, status := run("--", "no-such-command"); status != 127 && status != 126 {
		t.Errorf("no such command: status %d: %s", status, out)
	}
	if out, status := run(); status != 2 || !strings.Contains(out, "needs a command") {
		t.Errorf("without a command: status %d: %s", status, out)
	}
}

// The kernel shields nod-desktop, and lets such a process make no namespaces, unless it is root's as in other tests.
func TestTheSandboxOfAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("one runs the other tests")
	}
	c := claudeHands{startDesktop(t)}
	c.containing()
	c.writeConfig(sandboxed)
	bin := c.strangersCopy()
	as := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Path = filepath.Join(bin, filepath.Base(cmd.Path))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerID, Gid: strangerID}}
		return cmd
	}
	desktop := as(c.program("nod-desktop", "--background"))
	must(t, desktop.Start())
	t.Cleanup(func() { _, _ = desktop.Process.Kill(), desktop.Wait() })
	for {
		run := as(c.program("nod", "run", "--", "sh", "-c", "touch own.txt; touch ~/out.txt; touch ../out.txt"))
		run.Dir = c.project()
		out, _ := run.CombinedOutput()
		if c.made("own.txt") {
			break
		}
		select {
		case <-c.ctx.Done():
			t.Fatalf("nod never contains a command: %s", out)
		case <-time.After(100 * time.Millisecond):
		}
	}
	if c.made("../out.txt") {
		t.Error("it can write outside")
	}
}

// Several commands of a project run at once, and end at different times; a killed one leaves nothing running, and
// nothing in the project.
func TestCommandsAtOnceInTheSandbox(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	var all []*call
	for i := range 5 {
		command := fmt.Sprintf("sleep 0.%d; echo %d > at-once-%d.txt", i, i, i)
		if reply := c.hook(command); !strings.Contains(reply, "sandbox") {
			t.Fatal(reply)
		}
		all = append(all, c.start(command))
	}
	for i, started := range all {
		if out, status := started.result(); status != 0 || !c.made(fmt.Sprintf("at-once-%d.txt", i)) {
			t.Errorf("command %d: status %d: %s%s", i, status, out, started.errout.String())
		}
	}
	c.hook("touch begun; sleep 1000")
	started := c.start("touch begun; sleep 1000")
	must(t, c.Screen.Await(c.ctx, "the command to begin", func() (bool, error) { return c.made("begun"), nil }))
	must(t, started.cmd.Process.Kill())
	<-started.ended
	must(t, c.Screen.Await(c.ctx, "nothing to be left in the project", func() (bool, error) {
		return !c.made(".claude"), nil
	}))
}

// The user sees in the history what a command changed, and takes it back: whole, or not at all if nod is killed.
func TestTakeBackInTheHistory(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	notes := filepath.Join(c.project(), "notes.txt")
	must(t, os.WriteFile(notes, []byte("mine\n"), 0o600))
	work := "echo theirs > notes.txt && mkdir made && for i in $(seq 300); do echo $i > made/$i.txt; done"
	if reply := c.hook(work); !strings.Contains(reply, "sandbox") {
		t.Fatal(reply)
	}
	if out, status := c.run(work); status != 0 || !c.made("made/300.txt") {
		t.Fatalf("status %d: %s", status, out)
	}
	isBack := func() (bool, error) {
		text, err := os.ReadFile(notes)
		return string(text) == "mine\n" && !c.made("made"), err
	}
	c.takesBack("taken-back")
	must(t, c.Screen.Await(c.ctx, "the files to be as they were", isBack))
	c.press("shift+Tab", "Tab")
	c.still()
	c.shot("taken-back-done")
	c.press("ctrl+w")
	c.noWindow()

	c.takesBack("brought-back")
	must(t, c.Screen.Await(c.ctx, "it to begin", func() (bool, error) { return c.made("made"), nil }))
	must(t, c.cmd.Process.Signal(syscall.SIGKILL))
	<-c.ended
	c.startNod()
	must(t, c.Screen.Await(c.ctx, "nod to finish it", func() (bool, error) {
		text, err := os.ReadFile(notes)
		return string(text) == "theirs\n" && c.made("made/300.txt"), err
	}))
	left, err := filepath.Glob(filepath.Join(c.project(), "*", ".nod-*"))
	if must(t, err); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// takesBack takes back what the newest command in the history changed, by keys alone.
func (c claudeHands) takesBack(shot string) {
	c.t.Helper()
	must(c.t, c.PickFromTray(c.ctx, "History…"))
	w := c.window(historyTitle)
	c.awayWithThePointer()
	c.write("theirs") // the search has the focus
	c.press("Return")
	detail := w.Area
	detail.Min = detail.Min.Add(image.Pt(w.Area.Dx()/2, 130))
	detail.Max.Y -= footHeight
	must(c.t, c.Screen.Await(c.ctx, "the button that takes back", func() (bool, error) {
		_, pixels, err := c.Screen.Matching(detail, func(c color.RGBA) bool { return c == plainButton })
		return pixels > buttonArea, err
	}))
	c.still()
	for range 5 { // past the command, what copies and shows it whole, and what finds all that the rule decided
		c.press("Tab")
	}
	c.shot(shot + "-entry")
	c.press("Return")
	c.accented(w, buttonArea)
	c.shot(shot + "-plan")
	c.press("Return") // the button has the focus
}

// still waits until nothing more is drawn.
func (c claudeHands) still() {
	c.t.Helper()
	before, err := c.Screen.Image()
	must(c.t, err)
	same := 0
	must(c.t, c.Screen.Await(c.ctx, "a screen that stays as it is", func() (bool, error) {
		now, err := c.Screen.Image()
		if same++; err != nil || changedPixels(before, now) > 0 {
			same = 0
		}
		before = now
		return same > 5, err
	}))
}

// What a command changes is in the list also if nod-desktop has ended before the command.
func TestChangesAreNotedWithoutNod(t *testing.T) {
	t.Parallel()
	c := newClaudeHands(t)
	work := "touch begun && while ! test -e over; do sleep 0.1; done; touch late"
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		if reply := c.hook(work); !strings.Contains(reply, "sandbox") {
			t.Fatal(reply)
		}
		started := c.start(work)
		must(t, c.Screen.Await(c.ctx, "the command to begin", func() (bool, error) { return c.made("begun"), nil }))
		must(t, c.cmd.Process.Signal(signal))
		<-c.ended
		must(t, os.WriteFile(filepath.Join(c.project(), "over"), nil, 0o600))
		if out, status := started.result(); status != 0 || !c.made("late") {
			t.Errorf("status %d: %s%s", status, out, started.errout.String())
		}
		must(t, os.WriteFile(filepath.Join(c.project(), "mine"), nil, 0o600))
		undo := c.launch(c.program("nod", "undo", "--last", "--yes"))
		if out, status := undo.result(); status != 0 || c.made("begun") || c.made("late") || !c.made("mine") {
			t.Errorf("%v: status %d: %s%s", signal, status, out, undo.errout.String())
		}
		must(t, os.Remove(filepath.Join(c.project(), "mine")))
		c.startNod()
		c.awaitSandbox()
	}
}
