package journal_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
	"nod/policy/config"
)

// model is what a journal should have.
type model struct {
	open    map[interact.ID]interact.Record
	settled []interact.Record
	next    int // number of the next request
}

// step does something at random to a journal and to the model of it.
func (m *model) step(t *testing.T, random *rand.Rand, j *journal.Journal) {
	t.Helper()
	waiting := slices.Sorted(maps.Keys(m.open))
	var one interact.Record
	if len(waiting) > 0 {
		one = m.open[waiting[random.IntN(len(waiting))]]
	}
	id := one.Request.ID
	switch kind := random.IntN(10); {
	case kind < 3 || id == "" && kind < 6:
		m.wait(t, j)
	case kind < 4:
		one.Detached = !one.Detached
		must(t, j.Update(t.Context(), one))
		m.open[id] = one
	case kind < 5:
		one.Draft = fmt.Appendf(nil, "draft %d", random.IntN(100))
		must(t, j.SaveDraft(t.Context(), id, one.Draft))
		m.open[id] = one
	case kind < 6:
		m.settle(t, j, one)
	case kind < 7:
		m.next++
		m.settle(t, j, approval(m.next))
	case kind < 8:
		m.next++
		r := passed(approval(m.next))
		must(t, j.Settle(t.Context(), r))
		m.settled = append(m.settled, r)
	case kind < 9 && len(m.settled) > 0:
		again := m.settled[random.IntN(len(m.settled))]
		if again.Answer.By == api.ByPolicy {
			must(t, j.Settle(t.Context(), again)) // and is not there twice
			return
		}
		if err := j.Settle(t.Context(), again); !errors.Is(err, interact.ErrSettled) {
			t.Errorf("settled again: %v", err)
		}
		if err := j.Update(t.Context(), again); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("updated once it was settled: %v", err)
		}
	default:
		time.Sleep(time.Duration(random.IntN(5)) * time.Second) // and the keeper works
		synctest.Wait()
	}
}

func (m *model) settle(t *testing.T, j *journal.Journal, r interact.Record) {
	t.Helper()
	r = settled(drafted(r, nil), api.Denied)
	must(t, j.Settle(t.Context(), r))
	delete(m.open, r.Request.ID)
	m.settled = append(m.settled, r)
}

// wait has a new request wait, and returns its id.
func (m *model) wait(t *testing.T, j *journal.Journal) interact.ID {
	t.Helper()
	m.next++
	r := approval(m.next)
	must(t, j.Open(t.Context(), r))
	m.open[r.Request.ID] = r
	return r.Request.ID
}

// drafted is a request with the user's unfinished answer.
func drafted(r interact.Record, draft []byte) interact.Record {
	r.Draft = draft
	return r
}

// check holds a journal against the model.
func (m *model) check(t *testing.T, j *journal.Journal) {
	t.Helper()
	open, last, err := j.Restore(t.Context(), len(m.settled)+1)
	must(t, err)
	var want []interact.Record
	for _, id := range slices.Sorted(maps.Keys(m.open)) {
		want = append(want, m.open[id])
	}
	same(t, open, want)
	same(t, last, m.settled)
	entries(t, j, int64(len(m.settled)))
}

// crash copies the files of a journal as they are now, in a bubble: nobody may write between one and the next, and time
// does not go by for the queue to be taken.
func crash(t *testing.T, path string) string {
	t.Helper()
	synctest.Wait()
	copied := filepath.Join(t.TempDir(), filepath.Base(path))
	for _, end := range []string{"-queue", "", "-wal"} {
		text, err := os.ReadFile(path + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		must(t, errors.Join(err, os.WriteFile(copied+end, text, 0o600)))
	}
	return copied
}

var rounds = flag.Int("rounds", 5, "how many sequences of random steps are tried")

func TestAnyStepsSurviveAKill(t *testing.T) {
	for seed := range *rounds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 11))
			path := file(t)
			j := healthy(t, path)
			m := &model{open: map[interact.ID]interact.Record{}}
			for range 60 {
				m.step(t, random, j)
				if random.IntN(10) == 0 { // it is killed, and starts again
					path = crash(t, path)
					must(t, j.Close())
					j = healthy(t, path)
					m.check(t, j)
				}
			}
			m.check(t, j)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

// After a power cut the end of the log may be missing, from anywhere on: what is there is what was there once.
func TestAPowerCutLosesOnlyWhatCameLast(t *testing.T) {
	for seed := range *rounds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 12))
			path := file(t)
			j := healthy(t, path)
			m := &model{open: map[interact.ID]interact.Record{}}
			for range 40 {
				m.step(t, random, j)
			}
			for size(t, path+"-wal") > 0 { // what a checkpoint has taken out of the log is on the disk
				m.wait(t, j)
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			for range 20 {
				m.next++
				m.settle(t, j, approval(m.next))
			}
			copied := crash(t, path)
			must(t, os.Truncate(copied+"-wal", random.Int64N(size(t, copied+"-wal"))))
			after := healthy(t, copied)
			_, last, err := after.Restore(t.Context(), len(m.settled)+1)
			must(t, err)
			same(t, last, slices.Clip(m.settled[:len(last)]))
			entries(t, after, int64(len(last)))
		})
	}
}

var update = flag.Bool("update", false, "write the file of the newest version of the schema, if there is none yet")

// There is a file of every version that nod has ever written: each is read, and written on.
func TestEveryVersion(t *testing.T) {
	versions, err := filepath.Glob("migrations/*.sql")
	must(t, err)
	forever := config.History{Keep: 100 * 365 * 24 * time.Hour, MaxSize: 1000, KeepInputs: true}
	for v := 1; v <= len(versions); v++ {
		kept := filepath.Join("testdata", fmt.Sprintf("%d.db", v))
		if _, err := os.Stat(kept); *update && err != nil {
			j := open(t, kept, keeping(&forever))
			must(t, j.Open(t.Context(), old(1)))
			must(t, j.Open(t.Context(), old(2)))
			must(t, j.SaveDraft(t.Context(), old(2).Request.ID, []byte("not bef")))
			must(t, j.Settle(t.Context(), settled(old(1), api.Denied)))
			must(t, j.Settle(t.Context(), settled(old(3), api.Allowed)))
			must(t, j.Close())
			must(t, os.Remove(kept+"-index"))
		}
		text, err := os.ReadFile(kept)
		must(t, err)
		path := filepath.Join(t.TempDir(), "nod.db")
		must(t, os.WriteFile(path, text, 0o644))
		j := open(t, path, keeping(&forever))
		must(t, j.Problem())
		waiting, last, err := j.Restore(t.Context(), 10)
		must(t, err)
		same(t, waiting, []interact.Record{drafted(old(2), []byte("not bef"))})
		same(t, last, []interact.Record{settled(old(1), api.Denied), settled(old(3), api.Allowed)})
		must(t, j.Settle(t.Context(), settled(old(2), api.Denied)))
		entries(t, j, 3)
		if info, err := os.Stat(path); err != nil || !onWindows && info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v, %v", info.Mode(), err)
		}
	}
}

// old is a request of a time that never changes.
func old(n int) interact.Record {
	r := approval(n)
	r.Request.Created = time.Date(2026, 3, 4, 5, 6, 7+n, 8009, time.UTC)
	r.Request.Deadline = r.Request.Created.Add(time.Minute)
	return r
}

// Whoever only reads cannot bring an old file up to date, and says who can.
func TestAReaderOfAnOldVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "1.db"))
	must(t, err)
	path := filepath.Join(t.TempDir(), "nod.db")
	must(t, os.WriteFile(path, text, 0o600))
	_, err = journal.OpenReader(path)
	if err == nil || !strings.Contains(err.Error(), "start nod-desktop") {
		t.Errorf("got %v", err)
	}
}
