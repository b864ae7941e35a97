//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestHangUpClosesTheWindow(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send(bash("make all")...)
	n.prompt()
	n.armed()
	n.shot("hang-up-before")
	must(t, c.cmd.Process.Kill())
	n.noWindow()
	n.shot("hang-up-after")
	if out, status := c.result(); status == 0 || strings.Contains(out, "allow") {
		t.Errorf("got %q, status %d", out, status)
	}
}

// TestKilledAgentTakesItsPromptAlong kills an agent while its hook waits, as no agent can prepare for: at once the hook
// ends, or is found to work for nobody when it is in no state to notice.
func TestKilledAgentTakesItsPromptAlong(t *testing.T) {
	t.Parallel()
	const payload = `{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"/","tool_name":"Bash",` +
		`"tool_input":{"command":"make all"}}`
	for name, freeze := range map[string]bool{"hook": false, "frozen hook": true} {
		t.Run(name, func(t *testing.T) {
			n := start(t, settings)
			cmd := n.agent("sh", "-c", filepath.Join(bin, "nod")+" hook claude-code; true")
			cmd.Stdin = strings.NewReader(payload)
			c := n.launch(cmd)
			n.prompt()
			n.armed()
			group := -c.cmd.Process.Pid
			if freeze {
				must(t, syscall.Kill(group, syscall.SIGSTOP))
			}
			must(t, c.cmd.Process.Kill())
			n.noWindow()
			n.press("ctrl+Return") // as the user does who did not see it go
			if freeze {
				must(t, syscall.Kill(group, syscall.SIGCONT))
			}
			if out, _ := c.result(); out != "" {
				t.Errorf("the hook says %q", out)
			}
			n.logs("outcome=cancelled")
			if log, err := os.ReadFile(n.logPath()); err != nil || strings.Contains(string(log), "outcome=allowed") {
				t.Errorf("nod's log, %v:\n%s", err, log)
			}
		})
	}
}

func TestInterruptWithdraws(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.send("ask", "Which one?", "--option", "a", "--option", "b")
	n.prompt()
	must(t, syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT)) // the whole group, as a terminal does
	if _, status := c.result(); status != 4 {
		t.Errorf("status %d, want 4: interrupted", status)
	}
	n.noWindow()
}

// TestHTTP asks without the nod command, as any program can: over TCP, with the token from the file.
func TestHTTP(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	done := make(chan string, 1)
	go func() {
		done <- n.post(n.ctx, "/v1/approve", `{"tool":"Bash","input":{"command":"make all"},"agent":"a-script"}`)
	}()
	n.prompt()
	n.armed()
	n.shot("http")
	n.press("ctrl+Return")
	if reply := <-done; !strings.Contains(reply, `"decision":"allow"`) || !strings.Contains(reply, `"by":"human"`) {
		t.Errorf("got %s, want allow by the human", reply)
	}
	n.noWindow()

	ctx, hangUp := context.WithCancel(n.ctx)
	go func() { done <- n.post(ctx, "/v1/confirm", `{"message":"Still there?"}`) }()
	n.prompt()
	hangUp()
	<-done
	n.noWindow()
}

// post sends a request and returns the body of the reply, or what went wrong.
func (n *nod) post(ctx context.Context, route, body string) string {
	w, err := n.wire()
	if err != nil {
		return err.Error()
	}
	_, reply, err := w.do(ctx, "POST", route, json.RawMessage(body))
	if err != nil {
		return err.Error()
	}
	return string(reply)
}
