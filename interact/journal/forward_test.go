package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact/journal"
	"nod/policy/config"
)

// forwarding is a configuration that forwards to a file.
func forwarding(to string) config.History {
	return config.History{Keep: time.Hour * 24, MaxSize: 1000, KeepInputs: true, Forward: to}
}

// outcomes reads what was forwarded to a file.
func outcomes(tb testing.TB, path string) (all []journal.Outcome) {
	tb.Helper()
	text, err := os.ReadFile(path)
	must(tb, err)
	for line := range strings.Lines(string(text)) {
		var o journal.Outcome
		must(tb, json.Unmarshal([]byte(line), &o))
		all = append(all, o)
	}
	return all
}

func TestForwardToAFile(t *testing.T) {
	to := filepath.Join(t.TempDir(), "outcomes.jsonl")
	c := forwarding(to)
	j := open(t, file(t), keeping(&c))
	must(t, j.Open(t.Context(), approval(1)))
	fill(t, j, 1, 4)
	head, err := j.Head(t.Context())
	must(t, err)
	must(t, j.Close())
	got := outcomes(t, to)
	if len(got) != 3 {
		t.Fatalf("%d outcomes, want 3", len(got))
	}
	at := settled(approval(3), "").Answer.At.Truncate(time.Microsecond)
	same(t, got[2], journal.Outcome{
		Time: at, Seq: 3, ID: approval(3).Request.ID, Kind: "approve", Agent: "claude-code", Session: "s1",
		Project: "/src/shop", Tool: "Bash",
		Class: "execute", Gist: "make target-3", Outcome: "allowed", By: "human", Rule: "r1", Hash: head.Hash,
	})
	if info, err := os.Stat(to); err != nil || !onWindows && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestForwardToAFileThatIsRotated(t *testing.T) {
	if onWindows {
		t.Skip("Windows renames no file that is open")
	}
	synctest.Test(t, func(t *testing.T) {
		to := filepath.Join(t.TempDir(), "outcomes.jsonl")
		c := forwarding(to)
		j := open(t, file(t), keeping(&c))
		fill(t, j, 0, 2)
		synctest.Wait()
		must(t, os.Rename(to, to+".1"))
		fill(t, j, 2, 5)
		must(t, j.Close())
		if before, after := len(outcomes(t, to+".1")), len(outcomes(t, to)); before != 2 || after != 3 {
			t.Errorf("%d before and %d after", before, after)
		}
	})
}

func TestForwardToWhereNothingCanBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := t.TempDir()
		c := forwarding(to)
		j := open(t, file(t), keeping(&c))
		fill(t, j, 0, 3)
		synctest.Wait()
		if path := trouble(t, j, journal.NotForwarded); path != to {
			t.Errorf("it is about %s", path)
		}
		if text := j.Problem().Error(); !strings.HasPrefix(text, "3 outcomes") {
			t.Error(text)
		}
		entries(t, j, 3)
	})
}
