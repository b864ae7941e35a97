package asking

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"nod/interact"
	"nod/ipc/operator"
)

// reports has the running process say which prompt it shows.
func (d *desk) reports(id interact.ID) {
	d.t.Helper()
	synctest.Wait()
	if err := d.now().client.Report(d.t.Context(), operator.Screen{Prompt: id}); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

// dies has the windows die while they show that prompt, and waits for the next ones.
func (d *desk) dies(showing interact.ID) {
	d.t.Helper()
	d.reports(showing)
	d.now().die(errKilled)
	synctest.Wait()
}

// A prompt of which the windows die ends, with its draft, and no other does.
func TestAPromptOfWhichTheWindowsDie(t *testing.T) {
	for name, test := range map[string]struct {
		deaths func(*desk)
		ended  string
	}{
		"once":              {func(d *desk) { d.dies("a") }, ""},
		"twice":             {func(d *desk) { d.dies("a"); d.dies("a") }, "a"},
		"another one twice": {func(d *desk) { d.dies("b"); d.dies("b") }, "b"},
		"in turns":          {func(d *desk) { d.dies("b"); d.dies("a"); d.dies("c") }, ""},
		"one after the other": {func(d *desk) {
			for _, id := range []interact.ID{"a", "a", "b", "b"} {
				d.dies(id)
			}
		}, "a b"},
		"with a minute in between": {func(d *desk) { d.dies("a"); time.Sleep(2 * deathWindow); d.dies("a") }, "a"},
		"shown for a minute in between": {func(d *desk) {
			d.dies("a")
			d.reports("a")
			time.Sleep(deathWindow + 2*pingEvery)
			d.dies("a")
		}, ""},
		"hangs": {func(d *desk) {
			for range 2 {
				d.reports("b")
				d.now().hangs.Store(true)
				time.Sleep(pingEvery + pingPatience + time.Second)
			}
		}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				all := []*asked{d.ask("a"), d.ask("b"), d.ask("c")}
				for _, a := range all {
					if err := d.answers().SaveDraft(t.Context(), a.id, []byte("draft")); err != nil {
						t.Fatal(err)
					}
				}
				test.deaths(d)
				synctest.Wait()
				d.w.mu.Lock()
				drafts := maps.Clone(d.w.drafts)
				d.w.mu.Unlock()
				ended := []operator.Prompt{}
				for _, a := range all {
					select {
					case <-a.done:
						d.wantUnavailable(a, "failed 2 times while they showed this request, so nobody was asked")
						ended = append(ended, operator.Prompt{ID: a.id})
					default:
						if string(drafts[a.id]) != "draft" {
							t.Errorf("the draft of %s is gone", a.id)
						}
					}
				}
				if ids(ended) != test.ended || d.failed != len(ended) || len(drafts) != len(all)-len(ended) {
					t.Errorf("ended: %q, told %d times, drafts %v; want %q", ids(ended), d.failed, drafts, test.ended)
				}
				d.wantPending(d.ask("later"))
			})
		})
	}
}

// Windows that wait for a processor do not hang.
func TestWindowsOnABusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.wantPending(d.ask("a"))
		p := d.now()
		p.hangs.Store(true)
		const slow = 10 // of the time, one tenth is theirs
		for waited := time.Duration(0); waited < slow/2*pingPatience; waited += time.Second {
			p.waited.Add(int64(time.Second * (slow - 1) / slow))
			time.Sleep(time.Second)
		}
		if p.killed.Load() {
			t.Fatal("they were ended although they had half of their time")
		}
		time.Sleep(pingPatience)
		if !p.killed.Load() {
			t.Error("they still run although they had their time, and all of the machine")
		}
	})
}

func TestUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	if _, err := os.ReadFile("/proc/self/schedstat"); err != nil {
		t.Skip(err)
	}
	before := usageOf(os.Getpid())
	if before == (usage{}) {
		t.Errorf("%+v", before)
	}
	if gone := usageOf(1 << 30); gone != (usage{}) {
		t.Error(fmt.Sprint("of no process: ", gone))
	}
}

// While nod-desktop is about to follow the windows to another version, what is pending waits, however often these end.
func TestPromptsWaitForTheUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.follows.Store(true)
		d.set(&d.crash, operator.ErrVersion)
		a := d.ask("a")
		time.Sleep(time.Minute)
		d.wantPending(a)
		d.follows.Store(false) // nothing came of it
		time.Sleep(time.Minute)
		d.wantUnavailable(a, "updated")
		if d.failed != 1 {
			t.Errorf("the user was told %d times", d.failed)
		}
	})
}

// The windows stay for who types, has something open, or may want something back.
func TestCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		time.Sleep(time.Minute)
		is := func(want bool) {
			t.Helper()
			if got := d.w.IsCalm(); got != want {
				t.Errorf("calm: %v, want %v", got, want)
			}
		}
		a := d.ask("a")
		is(true)
		if err := d.answers().SaveDraft(t.Context(), a.id, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		is(false)
		time.Sleep(typingPause)
		is(true)
		if err := d.w.Report(t.Context(), operator.Screen{Open: true, Focused: true}); err != nil {
			t.Fatal(err)
		}
		is(false)
		if err := d.w.Report(t.Context(), operator.Screen{Open: true}); err != nil {
			t.Fatal(err)
		}
		is(true)
		d.w.undos.add(operator.Undo{Kind: operator.UndoRule}, time.Second, func() error { return nil })
		is(false)
		time.Sleep(time.Second)
		synctest.Wait()
		is(true)
	})
}
