package journal_test

import (
	"errors"
	"os"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
)

// tamper changes a journal behind nod's back.
func tamper(tb testing.TB, path, script string) {
	tb.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(tb, err)
	must(tb, errors.Join(sqlitex.ExecScript(conn, script), conn.Close()))
}

func TestVerify(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		broken int64 // 0: none is
	}{
		"untouched": {"", 0},
		"head changed": {
			"UPDATE entries SET head = cast(replace(head, 'allowed', 'denied') AS BLOB) WHERE seq = 3", 3,
		},
		"head and hash changed": {
			"UPDATE entries SET head = cast('{}' AS BLOB), hash = randomblob(32) WHERE seq = 3", 3,
		},
		"hash of another length":    {"UPDATE entries SET hash = x'00' WHERE seq = 5", 5},
		"first missing":             {"DELETE FROM entries WHERE seq = 1", 1},
		"one in the middle missing": {"DELETE FROM entries WHERE seq = 4", 4},
		"reordered": {
			`UPDATE entries SET seq = 99 WHERE seq = 2; UPDATE entries SET seq = 2 WHERE seq = 3;
			UPDATE entries SET seq = 3 WHERE seq = 99`, 2,
		},
		"numbered anew after a loss": {
			`DELETE FROM entries WHERE seq = 2; UPDATE entries SET seq = -seq WHERE seq > 2;
			UPDATE entries SET seq = -seq - 1 WHERE seq < 0`, 2,
		},
		"column says something else": {"UPDATE entries SET outcome = 'denied' WHERE seq = 6", 6},
		"time says something else":   {"UPDATE entries SET settled = settled + 1 WHERE seq = 6", 6},
		"body changed": {
			`UPDATE entries SET body = cast(replace(body, 'build', 'other') AS BLOB) WHERE seq = 7`, 7,
		},
		"asked elsewhere":    {"UPDATE entries SET machine = 'build-1' WHERE seq = 7", 7},
		"answered elsewhere": {"UPDATE entries SET device = 'Pixel' WHERE seq = 7", 7},
		"body gone":          {"UPDATE entries SET body = NULL WHERE seq = 7", 7},
		"one added": {
			`INSERT INTO entries SELECT 11, 'x', created, settled, kind, agent, session, project, tool, class, gist,
			outcome, by, rule, hash, head, body, machine, device FROM entries WHERE seq = 10`, 11,
		},
		"beginning moved":              {"UPDATE anchor SET hash = randomblob(32)", 1},
		"front gone, anchor as it was": {"DELETE FROM entries WHERE seq < 4", 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			j := healthy(t, path)
			for n := range 10 {
				must(t, j.Settle(t.Context(), settled(approval(n), api.Allowed)))
			}
			must(t, j.Close())
			tamper(t, path, c.script)
			r, err := journal.OpenReader(path)
			must(t, err)
			defer r.Close()
			err = r.Verify(t.Context())
			var broken *journal.BrokenError
			if c.broken == 0 && err != nil || c.broken != 0 && (!errors.As(err, &broken) || broken.Seq != c.broken) {
				t.Errorf("got %v, want entry %d", err, c.broken)
			}
		})
	}
}

// TestHeadOfNothingHolds notes the head before there is an entry, as on the first day.
func TestHeadOfNothingHolds(t *testing.T) {
	j := healthy(t, file(t))
	head, err := j.Head(t.Context())
	must(t, err)
	if seq, err := j.Noted(t.Context(), head.Hash); seq != 0 || err != nil {
		t.Errorf("entry %d, %v: want 0", seq, err)
	}
	if _, err := j.Noted(t.Context(), "00ff"); !errors.Is(err, interact.ErrNotFound) {
		t.Errorf("another hash: %v, want it not found", err)
	}
}

// What reading entries may not come to SQLite finds.
func TestVerifyFindsDamage(t *testing.T) {
	path := filled(t, 500)
	verify := func() error {
		r, err := journal.OpenReader(path)
		must(t, err)
		defer r.Close()
		return r.Verify(t.Context())
	}
	must(t, verify())
	info, err := os.Stat(path)
	must(t, err)
	overwrite(t, path, 5*4096, int(info.Size())-5*4096)
	if err := verify(); err == nil {
		t.Error("no damage found")
	}
}
