package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
)

// passed is a request that the policy allowed.
func passed(r interact.Record) interact.Record {
	r.Answer = interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Rule: "builtin:read", At: r.Request.Created}
	return r
}

func pass(tb testing.TB, j *journal.Journal, from, to int) {
	tb.Helper()
	for n := from; n < to; n++ {
		must(tb, j.Settle(tb.Context(), passed(approval(n))))
	}
}

// What the policy allowed is read at once, after what came before it and before what came after it.
func TestTheQueueKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t)
		j := healthy(t, path)
		fill(t, j, 0, 2)
		pass(t, j, 2, 5)
		if size(t, path+"-queue") == 0 {
			t.Error("it waited for the database")
		}
		fill(t, j, 5, 6)
		pass(t, j, 6, 8)
		entries(t, j, 8)
		if size(t, path+"-queue") != 0 {
			t.Error("it is in two places")
		}
		_, last := restored(t, j, 10)
		same(t, last, ids(0, 8))
		pass(t, j, 8, 9)
		must(t, j.Close())
		if err := j.Settle(t.Context(), passed(approval(9))); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("a closed journal took it: %v", err)
		}
		entries(t, healthy(t, path), 9)
	})
}

// A kill loses nothing that was acknowledged, wherever it comes between a call and the database.
func TestTheQueueSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := file(t)
		j := healthy(t, path)
		waiting := approval(0)
		must(t, j.Open(t.Context(), waiting))
		must(t, j.Settle(t.Context(), passed(waiting))) // as when a rule was added meanwhile
		pass(t, j, 1, 5)
		queued, err := os.ReadFile(path + "-queue")
		must(t, err)
		for cut := 0; cut < 200; cut += 23 { // the sixth is being written
			copied := crash(t, path)
			must(t, os.WriteFile(copied+"-queue", append(queued[:len(queued):len(queued)], queued[:cut]...), 0o600))
			after := healthy(t, copied)
			entries(t, after, 5)
			open, _ := restored(t, after, 0)
			same(t, open, ids(0, 0))
			must(t, after.Close())
			must(t, os.WriteFile(copied+"-queue", queued, 0o600)) // it had not been emptied yet
			again := healthy(t, copied)
			entries(t, again, 5)
			must(t, again.Close())
		}
	})
}

// A queue in which something was changed is set aside.
func TestADamagedQueue(t *testing.T) {
	path := file(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path+"-queue", []byte("{}\n{}\n"), 0o600))
	j := healthy(t, path)
	pass(t, j, 0, 3)
	entries(t, j, 3)
	if aside, err := filepath.Glob(path + ".*-queue"); err != nil || len(aside) != 1 {
		t.Errorf("set aside: %v, %v", aside, err)
	}
}

// A queue that takes no more has callers wait for the database, and then goes on.
func TestAFullQueue(t *testing.T) {
	path := file(t)
	j := open(t, path, keepAll)
	var callers sync.WaitGroup
	const each, count = 15, 8
	for c := range count {
		callers.Go(func() {
			for n := range each {
				r := passed(approval(c*each + n))
				r.Why.Reason = string(make([]byte, 16<<10))
				if err := j.Settle(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	entries(t, j, each*count)
	if size(t, path+"-queue") > 5<<20 {
		t.Error("the queue grew")
	}
}
