// Package server_test runs the worker of nod/examples/temporal against a real Temporal server. It is a module of its
// own, because the server is far larger than all that it is asked to test.
package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/temporaltest"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/interact"
	"nod/policy"
)

const id = "note"

// worker returns a command that runs the worker until the workflow has ended.
func worker(t *testing.T, bin string, ts *temporaltest.TestServer, s *ipctest.Server, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(bin, "-temporal", ts.GetFrontendHostPort(), "-namespace", ts.GetDefaultNamespace(),
		"-id", id, "-cwd", dir, "-note", "<a> && <b>")
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+s.RuntimeDir)
	cmd.Stderr = os.Stderr
	return cmd
}

// awaitAsked returns when the workflow, which has asked the person, waits for their answer.
func awaitAsked(t *testing.T, ts *temporaltest.TestServer) {
	t.Helper()
	events := ts.GetDefaultClient().GetWorkflowHistory(
		t.Context(), id, "", true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED {
			return
		}
	}
	t.Fatal("the workflow ended without asking")
}

// TestKilled kills the worker with -9 while the person thinks. They answer while no worker runs, and the next one makes
// the call, once.
func TestKilled(t *testing.T) {
	tests := []struct {
		name   string
		answer interact.Answer
		want   string
		notes  string
	}{
		{"allowed", interact.Answer{Outcome: api.Allowed}, "done", "<a> && <b>\n"},
		{"denied", interact.Answer{Outcome: api.Denied, Reason: "no notes"}, "denied: no notes", ""},
	}
	bin := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.Command("go", "-C", "..", "build", "-o", bin, "./worker").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked, thought := make(chan struct{}, 1), make(chan struct{})
			person := &interacttest.Prompter{Answer: func(interact.Request, policy.Decision) (interact.Answer, error) {
				asked <- struct{}{}
				<-thought
				return test.answer, nil
			}}
			s := ipctest.Serve(t, person, &interacttest.Policy{})
			ts := temporaltest.NewServer(temporaltest.WithT(t))
			dir := t.TempDir()

			first := worker(t, bin, ts, s, dir)
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			awaitAsked(t, ts)
			if err := first.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			first.Wait() // its error is that it was killed
			close(thought)

			out, err := worker(t, bin, ts, s, dir).Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			notes, err := os.ReadFile(filepath.Join(dir, "notes.txt"))
			if err != nil && !os.IsNotExist(err) || string(notes) != test.notes {
				t.Errorf("the notes are %q, %v, want %q", notes, err, test.notes)
			}
			if n := len(person.Shown()); n != 1 {
				t.Errorf("the person was asked %d times", n)
			}
		})
	}
}
