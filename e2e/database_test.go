//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
)

// startOnDisk starts nod with its data on a disk of a few megabytes that it alone sees, after doing something to it in
// a shell, and returns where others find that.
func startOnDisk(t *testing.T, n *nod, first string) (disk string) {
	t.Helper()
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").CombinedOutput(); err != nil {
		t.Skipf("this system lets nobody mount a disk of their own: %v: %s", err, out)
	}
	data := filepath.Join(n.Home(), ".local", "share")
	script := `cp -a "$1" "$1.copy" && mount -t tmpfs -o size=4m none "$1" && cp -a "$1.copy/." "$1" && ` + first +
		` && exec "$2" --background`
	program := filepath.Join(bin, "nod-desktop")
	n.startProgram(n.inProject(n.Command("unshare", "-rm", "sh", "-c", script, "sh", data, program)))
	return fmt.Sprintf("/proc/%d/root%s", n.cmd.Process.Pid, data)
}

// TestDiskFull fills the disk: the user is asked about everything and is obeyed, and nothing passes unasked until
// there is room again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	n.writeConfig(settings)
	disk := startOnDisk(t, n, "true")
	n.passes()
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	n.asksAboutEverything("disk-full")
	must(t, os.Remove(ballast))
	n.passes()
	n.endsOrderly(syscall.SIGTERM)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	for _, size := range []int{64 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// passes fails the test unless a call that the policy allows passes without a prompt.
func (n *nod) passes() {
	n.t.Helper()
	c := n.send(read("README.md", "--agent", "claude-code", "--json")...)
	if out, status := c.result(); status != 0 || !strings.Contains(out, `"by":"policy"`) {
		n.t.Errorf("got %s, status %d, stderr %s: want allow by the policy", out, status, c.errout.String())
	}
	n.neverAWindow()
}

// asksAboutEverything fails the test unless nod asks about what the policy allows, and about everything else, and obeys
// the user. The file may still have had room for some entries, which have passed.
func (n *nod) asksAboutEverything(shot string) {
	n.t.Helper()
	asked := make(chan error, 1)
	c := n.client()
	go func() {
		for i := 0; ; i++ {
			reply, err := c.Approve(n.ctx, api.ApproveRequest{Approve: api.Approve{
				Tool: "Read", Input: fmt.Appendf(nil, `{"file_path":%q}`, filepath.Join(n.project(), fmt.Sprint(i, ".md"))),
			}})
			if err != nil || !reply.Allowed() || reply.By == api.ByHuman {
				if err == nil && !reply.Allowed() {
					err = fmt.Errorf("the user allowed it, and it got %+v", reply)
				}
				asked <- err
				return
			}
		}
	}()
	n.prompt()
	n.armed()
	n.shot(shot)
	n.press("ctrl+Return")
	must(n.t, <-asked)
	n.noWindow()
	n.alive()
}

// TestDatabaseReadOnly starts nod where it may write nothing, and later may again. A nod that was killed has left a log
// beside the database, with which SQLite reads it even there.
func TestDatabaseReadOnly(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*nod){
		"ended": func(n *nod) { n.endsOrderly(syscall.SIGTERM) },
		"killed": func(n *nod) {
			must(n.t, n.cmd.Process.Kill())
			<-n.ended
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, settings)
			n.passes()
			end(n)
			startOnDisk(t, n, `mount -o remount,ro "$1"`)
			n.asksAboutEverything("database-read-only-" + name)
			out, err := exec.Command("nsenter", "-t", fmt.Sprint(n.cmd.Process.Pid), "-U", "-m", "--preserve-credentials",
				"mount", "-o", "remount,rw", filepath.Join(n.Home(), ".local", "share")).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			n.passesAgain()
			n.endsOrderly(syscall.SIGTERM)
		})
	}
}

// passesAgain waits until what the policy allows passes without a prompt: nod tries a file that it could not open again
// after a moment. Until then the user is asked, who does not answer.
func (n *nod) passesAgain() {
	n.t.Helper()
	for {
		c := n.send(read("README.md", "--agent", "claude-code", "--json", "--timeout", "1s")...)
		if out, status := c.result(); status == 0 && strings.Contains(out, `"by":"policy"`) {
			return
		}
	}
}

// TestDatabaseLocked has another program work on the journal for long.
func TestDatabaseLocked(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	n.passes()
	other, err := sqlite.OpenConn(n.journalPath(), sqlite.OpenReadWrite)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(other, "BEGIN EXCLUSIVE", nil))
	n.asksAboutEverything("database-locked")
	must(t, other.Close())
	n.passes()
	n.endsOrderly(syscall.SIGTERM)
}

// TestDatabaseSpoilt takes the journal away from under nod in several ways, while it runs and while it does not: nod
// goes on, with another file where it must.
func TestDatabaseSpoilt(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"replaced": func(path string) error {
			other := path + ".other"
			return errors.Join(os.WriteFile(other, []byte("not a database"), 0o600), os.Rename(other, path))
		},
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 5000) },
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, settings)
			n.passes()
			must(t, spoil(n.journalPath()))
			n.goesOn()
			n.endsOrderly(syscall.SIGTERM)
			must(t, spoil(n.journalPath()))
			n.startNod()
			n.goesOn()
			n.endsOrderly(syscall.SIGTERM)
			n.settled() // is whole
		})
	}
}

// goesOn fails the test unless nod asks, obeys, and lets pass what the policy allows: after at most one prompt, while
// it sets the journal right.
func (n *nod) goesOn() {
	n.t.Helper()
	n.alive()
	n.passes()
	n.alive()
}
