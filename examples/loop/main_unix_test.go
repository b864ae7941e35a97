//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/e2e/ipctest"
	"nod/interact"
	"nod/ipc/client"
	"nod/policy"
)

// TestMain makes the test's program the example when a test starts it again.
func TestMain(m *testing.M) {
	if os.Getenv("LOOP_IS_RUN_BY_ITS_TEST") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func appending(path, text string) call {
	input, err := json.Marshal(map[string]string{"path": path, "text": text})
	if err != nil {
		panic(err) // texts always encode
	}
	return call{"append_file", input}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// TestBlocking: the model reads what came of each call.
func TestBlocking(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes")
	answers := map[string]interact.Answer{
		"yes": {Outcome: api.Allowed}, "no": {Outcome: api.Denied, Reason: "not into this file"},
		"hm": {Outcome: api.Dismissed},
	}
	person := &interacttest.Prompter{Answer: func(r interact.Request, _ policy.Decision) (interact.Answer, error) {
		switch b := r.Body.(type) {
		case api.Ask:
			return interact.Answer{Outcome: api.Answered, Text: b.Options[0]}, nil
		case interact.Approve:
			var in struct{ Text string }
			err := json.Unmarshal(b.Input, &in)
			return answers[in.Text], err
		}
		return interact.Answer{}, fmt.Errorf("a %T", r.Body)
	}}
	var out strings.Builder
	a := &agent{state: &state{}, out: &out}
	a.connect(ipctest.Serve(t, person, &interacttest.Policy{}).Client)
	script := []call{
		appending(notes, "yes"), appending(notes, "no"), appending(notes, "hm"),
		{"read_file", json.RawMessage(fmt.Sprintf(`{"path":%q}`, notes))},
		{"ask_person", json.RawMessage(`{"question":"Which?","options":["SQLite","Postgres"]}`)},
		{"rm", json.RawMessage(`{}`)},
	}
	if err := a.run(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	const want = `1 begins
1 append_file: done
2 append_file: denied: not into this file
3 append_file: not done: nobody decided: the person closed the prompt and has not refused
4 read_file: yes
5 ask_person: SQLite
6 rm: there is no such tool
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if n := len(person.Shown()); n != 4 {
		t.Errorf("the person was asked %d times, want 4", n)
	}
}

func TestUnasked(t *testing.T) {
	var log bytes.Buffer
	notes := filepath.Join(t.TempDir(), "notes")
	gate := client.AllowEverythingUnasked{Log: slog.New(slog.NewTextHandler(&log, nil))}
	a := &agent{state: &state{}, out: io.Discard, gate: gate}
	script := []call{appending(notes, "x"), {"ask_person", json.RawMessage(`{"question":"Which?"}`)}}
	if err := a.run(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	if got := read(t, notes); got != "x" || !strings.Contains(log.String(), "UNASKED") {
		t.Errorf("the file holds %q, the log %s", got, &log)
	}
	if got, want := a.state.Results[1], "there is nobody to ask"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// durable is a run of the example with -state, in processes of its own.
type durable struct {
	t                         *testing.T
	runtimeDir, state, script string
}

func newDurable(t *testing.T, runtimeDir string, script []call) durable {
	t.Helper()
	dir := t.TempDir()
	d := durable{t, runtimeDir, filepath.Join(dir, "run.json"), filepath.Join(dir, "script.json")}
	text, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// start starts the example, with the lines that it prints.
func (d durable) start() (*exec.Cmd, *bufio.Scanner) {
	d.t.Helper()
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(self, "-state", d.state, d.script)
	cmd.Env = append(os.Environ(), "LOOP_IS_RUN_BY_ITS_TEST=1", "XDG_RUNTIME_DIR="+d.runtimeDir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// end waits for the example and returns its exit status, -1 when it was killed.
func (d durable) end(cmd *exec.Cmd, out *bufio.Scanner) int {
	d.t.Helper()
	for out.Scan() {
		d.t.Log(out.Text())
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return 0
}

// results are what the state says of the calls so far.
func (d durable) results() []string {
	d.t.Helper()
	s, err := openState(d.state)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Results
}

// leaver is a person who answers only after the program that asks has ended.
type leaver struct {
	mu       sync.Mutex // guards all below
	cmd      *exec.Cmd  // the program that runs; nil: none does
	ended    chan struct{}
	kill     bool // the program as soon as a prompt is on screen
	answered map[string]int
}

// Prompt implements [interact.Prompter].
func (p *leaver) Prompt(ctx context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	p.mu.Lock()
	ended := p.ended
	if p.kill {
		p.cmd.Process.Kill() // unless it has ended by itself
	}
	p.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	input := r.Body.(interact.Approve).Input
	p.answered[string(input)]++
	return interact.Answer{Outcome: api.Allowed, ShownSHA256: interact.Digest(input)}, nil
}

// start starts the example before this person.
func (p *leaver) start(d durable, kill bool) (*exec.Cmd, *bufio.Scanner) {
	p.mu.Lock() // no prompt is looked at before all is set
	defer p.mu.Unlock()
	cmd, out := d.start()
	p.cmd, p.ended, p.kill = cmd, make(chan struct{}), kill
	return cmd, out
}

// end waits for the example, and then has the person answer.
func (p *leaver) end(d durable, cmd *exec.Cmd, out *bufio.Scanner) int {
	status := d.end(cmd, out)
	close(p.ended)
	return status
}

// TestKilled kills the example with -9 again and again, at whatever it is doing: when a prompt appears, or after any
// line that it prints. No call is put to the person twice once they have answered, or happens twice.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	var script []call
	var notes []string
	for n := range 4 {
		notes = append(notes, filepath.Join(dir, fmt.Sprint(n)))
		script = append(script, appending(notes[n], "& once\n"))
	}
	person := &leaver{answered: map[string]int{}}
	d := newDurable(t, ipctest.Serve(t, person, &interacttest.Policy{}).RuntimeDir, script)
	status, kills := -1, 0
	for attempt := 0; status != 0; attempt++ {
		if attempt == 40 {
			t.Fatal("it never comes to an end")
		}
		cmd, out := person.start(d, attempt%3 == 0)
		if attempt%3 == 1 && out.Scan() {
			t.Log(out.Text(), "- killed")
			cmd.Process.Kill()
		}
		if status = person.end(d, cmd, out); status == -1 {
			kills++
		} else if status != 0 && status != exitInterrupted {
			t.Fatalf("exit status %d", status)
		}
	}
	t.Logf("%d kills", kills)
	results := d.results()
	for n, path := range notes {
		text := read(t, path)
		unknown := strings.HasPrefix(results[n], "nobody knows")
		if text != "& once\n" && !(unknown && text == "") || results[n] != "done" && !unknown {
			t.Errorf("call %d: %q, and the file holds %q", n+1, results[n], text)
		}
	}
	for input, times := range person.answered {
		if times != 1 {
			t.Errorf("the person answered %d times: %s", times, input)
		}
	}
}

// TestKilledInTheMiddle kills the example while a tool is at work. It does not do it again, and says what it knows.
func TestKilledInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	fifo, notes := filepath.Join(dir, "fifo"), filepath.Join(dir, "notes")
	if err := unix.Mkfifo(fifo, 0o600); err != nil { // whoever opens it to write waits for a reader
		t.Fatal(err)
	}
	person := &interacttest.Prompter{Answer: interacttest.Always(interact.Answer{Outcome: api.Allowed})}
	s := ipctest.Serve(t, person, &interacttest.Policy{})
	d := newDurable(t, s.RuntimeDir, []call{appending(notes, "a"), appending(fifo, "b"), appending(notes, "c")})
	status := exitInterrupted
	for killed := false; status == exitInterrupted || status == -1; {
		cmd, out := d.start()
		for !killed && out.Scan() {
			if out.Text() == "2 begins" {
				killed = true
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		status = d.end(cmd, out)
	}
	want := []string{"done", "nobody knows whether this was done: the agent was killed in the middle of it", "done"}
	if got := d.results(); status != 0 || !slices.Equal(got, want) {
		t.Errorf("exit status %d with %q, want %q", status, got, want)
	}
	if got := read(t, notes); got != "ac" {
		t.Errorf("the file holds %q", got)
	}
	if n := len(person.Shown()); n != 3 {
		t.Errorf("the person was asked %d times, want 3", n)
	}
}
