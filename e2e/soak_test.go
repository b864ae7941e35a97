//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
)

var soakTime = flag.Duration("soak", 80*time.Second, "how long TestSoak has nod work")

const (
	soakCallers = 8
	soakPause   = 300 * time.Millisecond // between two requests of a caller, at most
)

// What nod may have at the end of a soak beyond what it had when it was fresh. A leak has more within minutes.
const (
	moreFiles      = 24 // three more readers of the history, at five files each, and callers that run
	moreGoroutines = 20
	moreMemory     = 64 // MiB
)

// TestSoak has nod work for long, with real windows and a user at the keyboard: make soak runs it for an hour.
// Nothing grows that should not: goroutines, open files, the memory of both processes; and the journal has everything.
func TestSoak(t *testing.T) {
	t.Parallel()
	n := startDesktop(t)
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime+5*patience)
	defer cancel()
	n.ctx = ctx
	n.writeConfig(trafficConfig)
	n.startNod()
	n.alive()
	goroutines := n.goroutines()

	n.startNod()
	n.alive()
	var table soakTable
	begin := time.Now()
	fresh := table.add(n, 0, 0)
	soaked, stop := context.WithTimeout(ctx, *soakTime)
	defer stop()
	traffic := &traffic{n: n, dir: bin, seed: uint64(begin.Unix()), easy: 90, pause: soakPause}
	var all sync.WaitGroup
	all.Go(func() { traffic.drive(soaked, soakCallers) })
	asked := make(chan struct{})
	go func() { all.Wait(); close(asked) }()
	random := rand.New(rand.NewPCG(traffic.seed, 0))
	every := *soakTime / 8
	for next, busy := every, true; busy; {
		n.personAtKeyboard(random)
		if now := time.Since(begin); now >= next {
			table.add(n, now, traffic.count())
			next += every
		}
		select {
		case <-asked:
			busy = false
		default:
		}
	}
	n.pendingIs(0)
	n.alive()
	end := table.add(n, time.Since(begin), traffic.count())
	now := n.goroutines()
	t.Logf("after %v:\n%sgoroutines: nod-desktop %d when fresh, %d at the end; nod-dialogs %d, %d",
		*soakTime, &table, goroutines.tray, now.tray, goroutines.windows, now.windows)
	fresh.holdAgainst(t, end)
	if now.tray > goroutines.tray+moreGoroutines || now.windows > goroutines.windows+moreGoroutines {
		t.Error("goroutines are left behind")
	}
	n.journalHas(traffic.stories)
}

// personAtKeyboard answers the prompt that is on screen, if one can be answered.
func (n *nod) personAtKeyboard(random *rand.Rand) {
	n.t.Helper()
	_, works, err := n.affirmative()
	must(n.t, err)
	all, err := n.left()
	must(n.t, err)
	switch {
	case works:
		n.press(pick(random, []string{"ctrl+Return", "ctrl+Return", "ctrl+Return", "ctrl+d", "Escape"}))
	case len(all) > 0 && random.IntN(8) == 0:
		n.write("yes") // into the field of a question
	}
	select {
	case <-time.After(150 * time.Millisecond): // a user is no faster
	case <-n.ctx.Done():
		n.t.Fatal(n.ctx.Err())
	}
}

// count is how many requests were made.
func (t *traffic) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.stories)
}

// A sample is what both processes have at one time.
type sample struct {
	at            time.Duration
	requests      int
	tray, windows usage
	journal       float64 // MB, with what goes with the file
}

// usage is what a process has.
type usage struct {
	memory         float64 // MiB, resident
	files, threads int
}

// usage looks at a process.
func (n *nod) usage(pid int) (u usage) {
	n.t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	must(n.t, err)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	must(n.t, err)
	return usage{memory: n.resident(pid), files: len(files), threads: len(threads)}
}

// soakTable is the samples of a soak.
type soakTable []sample

// add takes a sample.
func (s *soakTable) add(n *nod, at time.Duration, requests int) sample {
	n.t.Helper()
	now := sample{at: at, requests: requests, tray: n.usage(n.cmd.Process.Pid), windows: n.usage(n.windowsProcess())}
	files, err := filepath.Glob(n.journalPath() + "*")
	must(n.t, err)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil { // SQLite may just have removed it
			now.journal += float64(info.Size()) / 1e6
		}
	}
	*s = append(*s, now)
	return now
}

// String is a table for a user.
func (s *soakTable) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%8s %9s | nod-desktop %4s %6s %8s | nod-dialogs %4s %6s %8s | %s\n",
		"", "requests", "MiB", "files", "threads", "MiB", "files", "threads", "journal MB")
	for _, one := range *s {
		fmt.Fprintf(&text, "%8v %9d | %16.1f %6d %8d | %16.1f %6d %8d | %.2f\n", one.at.Round(time.Second), one.requests,
			one.tray.memory, one.tray.files, one.tray.threads,
			one.windows.memory, one.windows.files, one.windows.threads, one.journal)
	}
	return text.String()
}

// holdAgainst fails the test when much more is there at the end than when nod was fresh.
func (s sample) holdAgainst(t *testing.T, end sample) {
	t.Helper()
	for name, both := range map[string][2]usage{
		"nod-desktop": {s.tray, end.tray}, "nod-dialogs": {s.windows, end.windows},
	} {
		fresh, now := both[0], both[1]
		if now.files > fresh.files+moreFiles {
			t.Errorf("%s has %d files open, %d when it was fresh", name, now.files, fresh.files)
		}
		if now.memory > fresh.memory+moreMemory {
			t.Errorf("%s has %.0f MiB resident, %.0f when it was fresh", name, now.memory, fresh.memory)
		}
	}
}

// counts is how many goroutines both processes have.
type counts struct{ tray, windows int }

var goroutineLine = regexp.MustCompile(`goroutine \d+ (gp=\S+ m=\S+ (mp=\S+ )?)?\[`)

// goroutines ends both processes with SIGQUIT, at which each says what its goroutines are at, and counts them. The
// windows say so into nod's log.
func (n *nod) goroutines() (c counts) {
	n.t.Helper()
	log := n.size(n.logPath())
	must(n.t, syscall.Kill(n.windowsProcess(), syscall.SIGQUIT))
	for !strings.Contains(n.since(n.logPath(), log), "the windows died") {
		select {
		case <-time.After(lookAgain):
		case <-n.ctx.Done():
			n.t.Fatal("the windows do not die of SIGQUIT")
		}
	}
	c.windows = len(goroutineLine.FindAllString(n.since(n.logPath(), log), -1))
	stderr := filepath.Join(n.Home(), "nod-desktop.stderr")
	said := n.size(stderr)
	must(n.t, n.cmd.Process.Signal(syscall.SIGQUIT))
	<-n.ended
	c.tray = len(goroutineLine.FindAllString(n.since(stderr, said), -1))
	for _, path := range []string{stderr, n.logPath()} { // what it says is for this count, not for who looks for crashes
		must(n.t, os.Truncate(path, 0))
	}
	return c
}

// size is how long a file is.
func (n *nod) size(path string) int {
	n.t.Helper()
	info, err := os.Stat(path)
	must(n.t, err)
	return int(info.Size())
}

// since is what was added to a file since it was so long.
func (n *nod) since(path string, size int) string {
	n.t.Helper()
	text, err := os.ReadFile(path)
	must(n.t, err)
	return string(text[min(size, len(text)):])
}

// journalHas fails the test unless the journal has every outcome that callers were told of.
func (n *nod) journalHas(stories []*story) {
	n.t.Helper()
	outcomes := map[interact.ID]api.Outcome{}
	for _, r := range n.settled() {
		outcomes[r.Request.ID] = r.Answer.Outcome
	}
	told := 0
	for _, s := range stories {
		for _, r := range s.replies {
			if r.id == "" || r.err != nil {
				continue
			}
			told++
			if outcomes[r.id] != r.outcome {
				n.t.Errorf("%s was told %v; the journal has %q", s.token, r, outcomes[r.id])
			}
		}
	}
	n.t.Logf("%d replies, %d entries in the journal, which is whole", told, len(outcomes))
}
