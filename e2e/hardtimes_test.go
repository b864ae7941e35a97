//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/desktop"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

// TestNotificationDaemonHangs stops the notification daemon without ending it: prompts come all the same, and a notice
// is reported as not sent.
func TestNotificationDaemonHangs(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	must(t, n.Freeze(desktop.Notifier))
	defer func() { must(t, n.Thaw(desktop.Notifier)) }()
	notice := n.send("notify", "Nobody can see this")
	n.alive()
	if _, status := notice.result(); status != 1 {
		t.Errorf("a notification to a daemon that hangs: status %d, want 1: not sent", status)
	}
	n.endsOrderly(syscall.SIGTERM)
}

// TestSuspendAndResume stops everything of nod's for longer than windows may hang, as a machine does that sleeps: the
// prompt is there afterwards, the windows are not taken for dead, and the answer arrives.
func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	windows := n.windowsProcess()
	all := []int{n.cmd.Process.Pid, windows, c.cmd.Process.Pid}
	for _, pid := range all {
		must(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	select {
	case <-time.After(8 * time.Second): // this is what is tested: the windows may take six to handle an event
	case <-n.ctx.Done():
	}
	for _, pid := range all {
		must(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	c.pending()
	n.affirm()
	c.wants("allow", 0)
	n.noWindow()
	if now := n.windowsProcess(); now != windows {
		t.Errorf("the windows were replaced, though it was not them who slept")
	}
}

// sigtermPromise is how soon everybody has a reply after SIGTERM, as docs/scripts.md says.
const sigtermPromise = 10 * time.Second

// TestSIGTERMAnswersEveryone ends nod while many wait, in all ways that callers have: each hears within two seconds
// that nobody decided, and nobody is allowed anything.
func TestSIGTERMAnswersEveryone(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.client()
	ctx, giveUp := context.WithCancelCause(n.ctx)
	defer giveUp(nil)
	const callers = 50
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			reply, err := c.Approve(ctx, api.ApproveRequest{
				Approve: api.Approve{Tool: "Bash", Input: fmt.Appendf(nil, `{"command":"make %d"}`, i)},
				Common:  api.Common{Session: fmt.Sprint(i)},
			})
			if p, ok := errors.AsType[*client.Problem](err); !ok || p.Outcome != api.Unavailable {
				t.Errorf("after SIGTERM: %+v, %v; want that nobody can be asked", reply, err)
			}
		})
	}
	command := n.send(bash("make all")...)
	n.pendingIs(callers + 1)
	must(t, n.cmd.Process.Signal(syscall.SIGTERM))
	promise := time.AfterFunc(sigtermPromise, func() { giveUp(errors.New("ten seconds have gone by")) })
	all.Wait()
	select {
	case <-command.ended:
	case <-ctx.Done():
		t.Errorf("nod approve: %v", context.Cause(ctx))
	}
	promise.Stop()
	if out, status := command.result(); status == 0 || strings.Contains(out, "allow") {
		t.Errorf("nod approve, after SIGTERM: %q, status %d", out, status)
	}
}

// client is a client of the nod that runs.
func (n *nod) client() *client.Client {
	n.t.Helper()
	e, err := endpoint.Read(filepath.Join(n.Runtime(), "nod"))
	must(n.t, err)
	c := &client.Client{Endpoint: e}
	return c
}

// TestPortTaken has another program on the port: nod takes another one, and whoever looks it up finds it there. A port
// that the user has chosen is not exchanged for another.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	const usual = "127.0.0.1:7463"
	taken, err := net.Listen("tcp", usual)
	isTaken := err == nil // else somebody has it, and may let it go
	if isTaken {
		defer taken.Close()
	}
	n := startDesktop(t)
	n.writeConfig(settings)
	n.startProgram(atItsPort(n.program("nod-desktop", "--background")))
	w, err := n.wire()
	must(t, err)
	if isTaken && w.URL == "http://"+usual || w.URL != n.url {
		t.Errorf("nod says that it is at %s, and publishes %s", n.url, w.URL)
	}
	status, _, err := w.do(n.ctx, "GET", "/v1/health", nil)
	if err != nil || status != 200 {
		t.Errorf("at the port that nod has published: status %d, %v", status, err)
	}
	n.alive()
	n.endsOrderly(syscall.SIGTERM)
}

// TestChosenPortTaken has another program on the port that the user has chosen, which is not exchanged for another.
func TestChosenPortTaken(t *testing.T) {
	t.Parallel()
	chosen, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer chosen.Close()
	n := startDesktop(t)
	n.writeConfig(settings + "ipc:\n  address: " + chosen.Addr().String() + "\n")
	c := n.launch(atItsPort(n.program("nod-desktop", "--background")))
	if out, status := c.result(); status != 1 || !strings.Contains(c.errout.String(), "ipc.address") {
		t.Errorf("nod-desktop: status %d, %q, %q; want 1, and which setting to change", status, out, c.errout.String())
	}
	must(t, n.AwaitNotices(n.ctx, 1))
	if notices, err := n.Notices(); err != nil || !strings.Contains(notices[0].Body, "NOD_IPC_ADDRESS=127.0.0.1:0") {
		t.Errorf("notifications %+v, %v; want one that says what to do", notices, err)
	}
	if _, err := os.Stat(endpoint.Path(filepath.Join(n.Runtime(), "nod"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an endpoint is published though nod does not run: %v", err)
	}
}

// atItsPort has nod listen where its configuration says, not where tests do.
func atItsPort(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "NOD_IPC_ADDRESS=") })
	return cmd
}
