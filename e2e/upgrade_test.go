//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nod/ipc/endpoint"
)

// nextVersion is the version of the programs that nod is replaced by.
const nextVersion = "999.0.0-next"

// nextBin returns a folder with nod-desktop and nod-dialogs of the next version. All tests share it.
var nextBin = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../build/next")
	if err != nil {
		return "", err
	}
	return dir, build(dir, "-ldflags", "-s -w -X nod/version.number="+nextVersion)
})

// replaceable is nod-desktop, run from a folder in which its programs can be replaced.
type replaceable struct {
	*nod
	bin string
}

// startReplaceable starts a desktop and, on it, nod-desktop from a folder of its own.
func startReplaceable(t *testing.T) *replaceable {
	t.Helper()
	i := &replaceable{nod: startDesktop(t)}
	i.bin = filepath.Join(i.Home(), "bin")
	must(t, os.Mkdir(i.bin, 0o755))
	for _, name := range []string{"nod", "nod-cli", "nod-desktop", "nod-dialogs"} {
		i.put(filepath.Join(bin, name))
	}
	i.writeConfig(settings)
	i.startProgram(i.inProject(i.Command(filepath.Join(i.bin, "nod-desktop"), "--background")))
	return i
}

// put puts a program in the place of the one of its name, as package managers do: in one step.
func (i *replaceable) put(path string) {
	i.t.Helper()
	program, err := os.ReadFile(path)
	must(i.t, err)
	place := filepath.Join(i.bin, filepath.Base(path))
	must(i.t, writeProgram(place+".new", string(program)))
	must(i.t, os.Rename(place+".new", place))
}

// putNext puts a program of the next version there.
func (i *replaceable) putNext(name string) {
	i.t.Helper()
	dir, err := nextBin()
	must(i.t, err)
	i.put(filepath.Join(dir, name))
}

// goesOn waits until nod is the next version: the same process, at which nothing went wrong.
func (i *replaceable) goesOn() {
	i.t.Helper()
	must(i.t, i.Screen.Await(i.ctx, "nod of the next version", func() (bool, error) {
		select {
		case <-i.ended:
			return false, fmt.Errorf("nod ended: %v", i.cmd.ProcessState)
		default:
		}
		e, err := endpoint.Read(filepath.Join(i.Runtime(), "nod"))
		return err == nil && e.Version == nextVersion && e.PID == i.cmd.Process.Pid, nil
	}))
	_, err := i.TrayIcon(i.ctx)
	must(i.t, err)
	if words := i.lastWords(); words != "" {
		i.t.Errorf("after the upgrade: %s", words)
	}
}

// TestUpgradeKeepsWhatWaits replaces nod while two callers wait and a form is half filled in.
func TestUpgradeKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	if _, err := nextBin(); err != nil { // takes a while, which is not nod's
		t.Fatal(err)
	}
	i := startReplaceable(t)
	c := i.halfAForm()
	other := i.send(bash("make all")...)
	i.pendingIs(2)
	i.putNext("nod")
	i.putNext("nod-dialogs")
	i.putNext("nod-desktop")
	i.goesOn()
	i.prompt()
	i.shot("upgraded")
	c.pending()
	other.pending()
	i.write("ers") // the focus is where it was
	i.armed()
	i.after(func() { i.press("ctrl+Return") })
	out, status := c.result()
	if want := `{"checks":["lint"],"database":["sqlite"],"name":"orders"}`; status != 0 || compact(t, out) != want {
		t.Errorf("got %s, status %d\nwant %s", out, status, want)
	}
	i.affirm()
	other.wants("allow", 0)
	i.noWindow()
	i.alive()
}

// TestUpgradeAnswersHooks replaces nod while an agent's hook waits, and the program of that hook, too. It hears what
// the user says then, and they are asked once.
func TestUpgradeAnswersHooks(t *testing.T) {
	t.Parallel()
	if _, err := nextBin(); err != nil {
		t.Fatal(err)
	}
	i := startReplaceable(t)
	cmd := i.agent(filepath.Join(i.bin, "nod"), "hook", "claude-code")
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"` + i.project() +
		`","tool_name":"Bash","tool_input":{"command":"make all"}}`)
	c := i.launch(cmd)
	i.prompt()
	for _, name := range []string{"nod", "nod-dialogs", "nod-desktop"} {
		i.putNext(name)
	}
	i.goesOn()
	i.prompt()
	i.affirm()
	if out, status := c.result(); !strings.Contains(out, `"behavior":"allow"`) || status != 0 {
		t.Errorf("the hook hears %q, status %d, stderr %q", out, status, c.errout.String())
	}
	i.noWindow()
}

// TestUpgradeInTheMiddle asks while only the windows are new: the prompt comes with the rest.
func TestUpgradeInTheMiddle(t *testing.T) {
	t.Parallel()
	if _, err := nextBin(); err != nil {
		t.Fatal(err)
	}
	i := startReplaceable(t)
	i.putNext("nod-dialogs")
	c := i.send(bash("make all")...)
	i.logs("the windows are of another version")
	i.neverAWindow()
	c.pending()
	i.putNext("nod-desktop")
	i.goesOn()
	i.prompt()
	i.affirm()
	c.wants("allow", 0)
}

// TestBrokenUpgrade replaces nod by a program that says the right version but does not start.
func TestBrokenUpgrade(t *testing.T) {
	t.Parallel()
	if _, err := nextBin(); err != nil {
		t.Fatal(err)
	}
	i := startReplaceable(t)
	c := i.send(bash("make all")...)
	i.prompt()
	says, err := exec.Command(filepath.Join(i.bin, "nod-dialogs"), "--version").Output()
	must(t, err)
	_, version, _ := strings.Cut(strings.TrimSpace(string(says)), " ")
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] && exec echo nod-desktop '%s'\nexit 1\n", version)
	must(t, writeProgram(filepath.Join(dir, "nod-desktop"), script))
	i.put(filepath.Join(dir, "nod-desktop"))
	i.logs("nod was replaced: waiting")
	i.affirm()
	c.wants("allow", 0)
	i.alive()
	i.putNext("nod-dialogs")
	i.putNext("nod-desktop")
	i.goesOn()
	i.alive()
}
