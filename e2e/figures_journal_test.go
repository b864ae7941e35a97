//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/e2e/desktop"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/interacttest"
	"nod/interact/journal"
	"nod/ipc"
	"nod/ipc/api"
	"nod/ipc/client"
	"nod/ipc/endpoint"
	"nod/policy"
	"nod/policy/config"
)

// bigJournals is where journals lie that take long to write.
const bigJournals = "../build/journals"

// keepAll keeps everything, as the configuration of a nod does that gets a big journal.
const keepAll = settings + "history:\n  keep: 36500d\n  max_size: 100000\n"

// TestStartFigures measures how soon nod can be asked, by how much its journal holds: make figures runs it.
func TestStartFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	for _, entries := range []int{0, 100_000, 1_000_000} {
		n := startDesktop(t)
		n.ctx = t.Context()
		n.writeConfig(keepAll)
		if entries > 0 {
			must(t, os.MkdirAll(filepath.Dir(n.journalPath()), 0o700))
			for _, part := range []string{"", "-index"} {
				must(t, copyFile(bigJournal(t, entries)+part, n.journalPath()+part))
			}
		}
		ready := median(5, nil, func() time.Duration {
			begin := time.Now()
			n.startProgram(n.program("nod-desktop", "--background"))
			took := time.Since(begin)
			must(t, n.cmd.Process.Kill())
			<-n.ended
			return took
		})
		info, err := os.Stat(n.journalPath())
		must(t, err)
		fmt.Printf("nod-desktop to ready:          %v median of 5, with %d entries (%.0f MB)\n",
			ready, entries, float64(info.Size())/1e6)
	}
}

// TestSearchFigures measures a search in a million entries: make figures runs it.
func TestSearchFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	j := journal.Open(bigJournal(t, 1_000_000), journal.Options{Log: slog.New(slog.DiscardHandler), Config: keepsAll})
	defer j.Close()
	for _, q := range []history.Query{
		{}, {Text: "m"}, {Text: "make"}, {Text: "make target"}, {Text: "target 123456"}, {Text: "nothing has this"},
		{Tool: "Bash", Outcome: interact.Denied}, {Text: "make", Agent: "codex", By: interact.ByHuman},
	} {
		first := time.Now()
		page, err := j.Search(t.Context(), q)
		must(t, err)
		cold := time.Since(first).Round(10 * time.Microsecond)
		again := median(20, func() {
			_, err := j.Search(t.Context(), q)
			must(t, err)
		})
		fmt.Printf("search 1,000,000 entries:      %v the first time, %v median of 20: %+v, %d lines\n",
			cold, again, q, len(page.Lines))
	}
}

func keepsAll() config.History {
	return config.History{Keep: 36500 * 24 * time.Hour, MaxSize: 100_000, KeepInputs: true}
}

// bigJournal returns the path of a journal with so many entries, written as nod writes it and kept for the next time.
func bigJournal(t *testing.T, entries int) string {
	t.Helper()
	path := filepath.Join(bigJournals, fmt.Sprintf("%d.db", entries))
	if hasEntries(t, path, entries) {
		return path
	}
	must(t, os.RemoveAll(path))
	j := journal.Open(path, journal.Options{Log: slog.New(slog.DiscardHandler), Config: keepsAll})
	begin := time.Now()
	var writers sync.WaitGroup
	const atOnce = 256 // what the journal writes in one transaction
	for i := range atOnce {
		writers.Go(func() {
			for k := i; k < entries; k += atOnce {
				if err := j.Settle(t.Context(), bigEntry(k, entries)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	took := time.Since(begin)
	for !isIndexed(t, path, entries) {
		time.Sleep(time.Second) // this is no test: nothing tells when the index is done
	}
	must(t, j.Close())
	fmt.Printf("journal of %d entries:    written in %v, %.0f entries/s; indexed in %v\n",
		entries, took.Round(time.Second), float64(entries)/took.Seconds(), time.Since(begin).Round(time.Second))
	return path
}

// isIndexed reports whether the index of a journal covers so many entries.
func isIndexed(t *testing.T, path string, entries int) bool {
	t.Helper()
	conn, err := sqlite.OpenConn(path+"-index", sqlite.OpenReadOnly)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	last, err := sqlitex.ResultInt(conn.Prep("SELECT seq FROM state"))
	return err == nil && last >= entries
}

// copyFile copies a file that may be written to afterwards.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// hasEntries reports whether there is a journal with so many entries.
func hasEntries(t *testing.T, path string, entries int) bool {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	r, err := journal.OpenReader(path)
	must(t, err)
	defer r.Close()
	head, err := r.Head(t.Context())
	return err == nil && head.Seq == int64(entries)
}

// bigEntry is the k-th of a year's entries: nine of ten pass by policy, and a few are denied or missed.
func bigEntry(k, of int) interact.Record {
	random := rand.New(rand.NewPCG(uint64(k), 0))
	agent := pick(random, []string{"claude-code", "codex", "gemini-cli", "opencode"})
	project := pick(random, []string{"shop", "api", "infra", "docs", "app"})
	created := time.Now().Add(-time.Duration(of-k) * 365 * 24 * time.Hour / time.Duration(of))
	tool, input := "Bash", map[string]any{"command": fmt.Sprintf("make target-%d %s", k, pick(random, []string{
		"&& git status", "| tail -20", "VERBOSE=1", "2>&1 | grep -n error",
	}))}
	if random.IntN(2) == 0 {
		path := fmt.Sprintf("/home/person/src/%s/pkg%d/file%d.go", project, k%97, k)
		tool, input = "Read", map[string]any{"file_path": path}
	}
	text, _ := json.Marshal(input) // a map of texts always encodes
	r := interact.Record{
		Request: interact.Request{
			ID: interact.ID(uuid.Must(uuid.NewV7()).String()), Created: created, Deadline: created.Add(5 * time.Minute),
			Requester: interact.Requester{
				Agent: agent, Session: fmt.Sprintf("%s-%d", agent, k/200), CWD: "/home/person/src/" + project,
				Process: interact.Process{PID: 4711, Exe: "/usr/bin/node", CWD: "/home/person/src/" + project},
			},
			Body: interact.Approve{Tool: tool, Input: text, ToolUseID: fmt.Sprintf("toolu_%d", k)},
		},
		Why: policy.Decision{
			Effect: policy.Allow, Rule: "builtin:read_only", Reason: "it only reads", Class: policy.ReadOnly,
		},
		Answer: interact.Answer{
			Outcome: interact.Allowed, By: interact.ByPolicy, Rule: "builtin:read_only", At: created.Add(time.Millisecond),
			ShownSHA256: interact.Digest(text),
		},
	}
	switch random.IntN(40) {
	case 0:
		r.Answer.Outcome, r.Answer.By, r.Answer.Rule, r.Answer.Reason = interact.Denied, interact.ByHuman, "", "not now"
	case 1:
		r.Answer.Outcome, r.Answer.By, r.Answer.Rule = interact.TimedOut, interact.ByTimeout, ""
	case 2, 3:
		r.Answer.By, r.Answer.Rule, r.Answer.At = interact.ByHuman, "", created.Add(4*time.Second)
	}
	return r
}

// TestJournalFigures measures what the journal adds to a call that nobody is asked about: make figures runs it.
func TestJournalFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	on := journal.Open(filepath.Join(t.TempDir(), "nod.db"), journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer on.Close()
	for _, j := range []struct {
		name string
		interact.Journal
	}{{"off", noJournal{}}, {"on", on}} {
		for _, callers := range []int{1, 16} {
			all := autoAllowed(t, j.Journal, callers)
			fmt.Printf("auto-allowed call, journal %-3s %v p50, %v p99, of %d by %d callers at once\n", j.name+":",
				all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond), len(all), callers)
		}
	}
	must(t, on.Problem())
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Open(context.Context, interact.Record) error   { return nil }
func (noJournal) Update(context.Context, interact.Record) error { return nil }
func (noJournal) Settle(context.Context, interact.Record) error { return nil }

// autoAllowed has so many callers ask 10,000 times what the policy allows, and returns how long each took, sorted.
func autoAllowed(t *testing.T, j interact.Journal, callers int) []time.Duration {
	t.Helper()
	passes := &interacttest.Policy{}
	passes.Set("Read", policy.Allow)
	dir, err := os.MkdirTemp("", "nod-") // t.TempDir is too long for the path of a socket
	must(t, err)
	defer os.RemoveAll(dir)
	broker := interacttest.Broker(&interacttest.Prompter{}, passes, func(c *interact.BrokerConfig) { c.Journal = j })
	defer broker.Close()
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(dir, "nod"), Version: "1", Broker: broker,
		Log: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = server.Serve(ctx) }()
	e, err := endpoint.Read(filepath.Join(dir, "nod"))
	must(t, err)
	c := &client.Client{Endpoint: e}
	defer c.Close()
	const calls = 10_000
	took := make([]time.Duration, calls)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for k := i; k < calls; k += callers {
				begin := time.Now()
				reply, err := c.Approve(ctx, api.ApproveRequest{Approve: api.Approve{
					Tool: "Read", Input: fmt.Appendf(nil, `{"file_path":"/src/shop/file%d.go"}`, k),
				}})
				took[k] = time.Since(begin)
				if err != nil || !reply.Allowed() {
					t.Errorf("call %d: %+v, %v", k, reply, err)
				}
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// TestRecoveryFigures measures how soon after a kill the prompt that waited is on the screen again: make figures runs
// it.
func TestRecoveryFigures(t *testing.T) {
	if !*figures {
		t.Skip("run make figures")
	}
	n := start(t, settings)
	n.ctx = t.Context()
	c := n.send(bash("make all")...)
	n.prompt()
	const times = 10
	took := median(times, nil, func() time.Duration {
		begin := time.Now()
		must(t, n.cmd.Process.Kill())
		<-n.ended
		n.startProgram(n.program("nod-desktop", "--background"))
		var shown time.Duration
		must(t, n.Screen.Await(n.ctx, "the prompt to come back", func() (bool, error) {
			all, err := n.Screen.Windows()
			windows := n.dialogs()
			shown = time.Since(begin)
			return slices.ContainsFunc(all, func(w desktop.Window) bool {
				return w.Title == promptTitle && w.PID == windows
			}), err
		}))
		n.prompt()
		c.pending()
		return shown
	})
	fmt.Printf("kill to waiting prompt:        %v median of %d\n", took, times)
	n.affirm()
	c.wants("allow", 0)
	n.endsOrderly(syscall.SIGTERM)
}
