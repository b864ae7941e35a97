//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
	"nod/policy"
	"nod/policy/config"
)

// entriesOfJournal is the number of entries in the journal that is searched.
func (b *bench) entriesOfJournal() int {
	if b.quick {
		return 10_000
	}
	return 1_000_000
}

// openJournal opens a journal that loses nothing.
func openJournal(path string) *journal.Journal {
	return journal.Open(path, journal.Options{Log: slog.New(slog.DiscardHandler), Config: func() config.History {
		return config.History{Keep: 36500 * 24 * time.Hour, MaxSize: 100_000, KeepInputs: true}
	}})
}

// bigJournal returns the path of a journal with so many entries, written as nod writes it.
func (b *bench) bigJournal(entries int) (path string, err error) {
	path = filepath.Join(b.out, "journals", strconv.Itoa(entries)+".db")
	if whole, err := hasEntries(path, entries); err != nil || whole {
		return path, err
	}
	for _, part := range []string{"", "-wal", "-shm", "-index", "-index-wal", "-index-shm"} {
		if err := os.RemoveAll(path + part); err != nil {
			return "", err
		}
	}
	fmt.Printf("writing a journal of %d entries, once\n", entries)
	j := openJournal(path)
	err = settleAll(b.ctx, j, entries)
	for err == nil && !isIndexed(path, entries) {
		time.Sleep(time.Second) // nothing tells when the index is done
		err = b.ctx.Err()
	}
	return path, errors.Join(err, j.Close())
}

// settleAll writes the entries from as many callers as the journal serves in one transaction.
func settleAll(ctx context.Context, j *journal.Journal, entries int) error {
	const atOnce = 256
	failed := make([]error, atOnce)
	var writers sync.WaitGroup
	for i := range atOnce {
		writers.Go(func() {
			for k := i; k < entries && failed[i] == nil; k += atOnce {
				failed[i] = j.Settle(ctx, bigEntry(k, entries))
			}
		})
	}
	writers.Wait()
	return errors.Join(failed...)
}

// hasEntries reports whether there is a journal with so many entries, and its index.
func hasEntries(path string, entries int) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	head, err := r.Head(context.Background())
	return err == nil && head.Seq == int64(entries) && isIndexed(path, entries), nil
}

// isIndexed reports whether the index of a journal covers so many entries.
func isIndexed(path string, entries int) bool {
	conn, err := sqlite.OpenConn(path+"-index", sqlite.OpenReadOnly)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetBusyTimeout(patience)
	s, err := conn.Prepare("SELECT seq FROM state")
	if err != nil {
		return false // there is no table yet
	}
	last, err := sqlitex.ResultInt(s)
	return err == nil && last >= entries
}

// bigEntry is the k-th of a year's entries: nine of ten pass by policy, and a few are denied or missed.
func bigEntry(k, of int) interact.Record {
	random := rand.New(rand.NewPCG(uint64(k), 0))
	agent := pick(random, "claude-code", "codex", "gemini-cli", "opencode")
	project := pick(random, "shop", "api", "infra", "docs", "app")
	created := time.Now().Add(-time.Duration(of-k) * 365 * 24 * time.Hour / time.Duration(of))
	end := pick(random, "&& git status", "| tail -20", "VERBOSE=1", "2>&1 | grep -n error")
	tool, input := "Bash", map[string]any{"command": fmt.Sprintf("make target-%d %s", k, end)}
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
				Process: api.Process{PID: 4711, Exe: "/usr/bin/node", CWD: "/home/person/src/" + project},
			},
			Body: interact.Approve{Tool: tool, Input: text, ToolUseID: fmt.Sprintf("toolu_%d", k)},
		},
		Why: policy.Decision{
			Effect: policy.Allow, Rule: "builtin:read_only", Reason: "it only reads", Class: policy.ReadOnly,
		},
		Answer: interact.Answer{
			Outcome: api.Allowed, By: api.ByPolicy, Rule: "builtin:read_only", At: created.Add(time.Millisecond),
			ShownSHA256: interact.Digest(text),
		},
	}
	switch random.IntN(40) {
	case 0:
		r.Answer.Outcome, r.Answer.By, r.Answer.Rule, r.Answer.Reason = api.Denied, api.ByHuman, "", "not now"
	case 1:
		r.Answer.Outcome, r.Answer.By, r.Answer.Rule = api.TimedOut, api.ByTimeout, ""
	case 2, 3:
		r.Answer.By, r.Answer.Rule, r.Answer.At = api.ByHuman, "", created.Add(4*time.Second)
	}
	return r
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }
