//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nod/e2e/desktop"
)

var (
	monkeyTime   = flag.Duration("monkey", 40*time.Second, "how long TestMonkey drives nod")
	monkeySeed   = flag.Uint64("monkey-seed", 0, "seed of TestMonkey's first round; 0: the time")
	monkeyShrink = flag.Duration("monkey-shrink", 90*time.Second, "how long TestMonkey shortens a failure's replay")
	monkeyReplay = flag.String("monkey-replay", "", "file of a replay that TestMonkey runs instead")
)

// roundTime is how long one nod is driven before the next is started.
const roundTime = 15 * time.Second

// round is one nod and what a monkey did with it.
type round struct {
	seed    uint64
	mode    monkeyMode
	manager desktop.WindowManager
	config  string
	events  []event
}

// newRound makes a round from its seed.
func newRound(seed uint64) round {
	random := rand.New(rand.NewPCG(seed, 0))
	mode := monkeyModes[seed%uint64(len(monkeyModes))]
	managers := []desktop.WindowManager{desktop.Openbox, desktop.Openbox, desktop.Xfwm4, desktop.I3}
	themes, languages := []string{"light", "dark"}, []string{"en", "zh-CN"}
	if mode.affirms { // and picks from the tray's menu, by its English words
		languages = languages[:1]
	}
	if mode.machine { // which is paired first, by the look of its button
		managers, themes = managers[:1], themes[:1]
	}
	r := round{
		seed: seed, mode: mode, manager: pick(random, managers),
		config: fmt.Sprintf("look:\n  theme: %s\n  language: %s\nprompt:\n  on_top: %v\n",
			pick(random, themes), pick(random, languages), random.IntN(3) > 0),
	}
	if mode.machine {
		r.config += remoteLines("docker")
	}
	return r
}

// TestMonkey drives nod at random: make monkey runs it for longer. No answer reaches a caller that it is not for,
// nobody is allowed anything without the affirmative, nothing crashes, hangs or stays on the screen.
func TestMonkey(t *testing.T) {
	t.Parallel()
	if *monkeyReplay != "" {
		replayFile(t, *monkeyReplay)
		return
	}
	seed := *monkeySeed
	if seed == 0 {
		seed = uint64(time.Now().Unix())
	}
	begin, events, rounds, failures := time.Now(), 0, 0, 0
	for driven := time.Duration(0); driven < *monkeyTime; {
		r := newRound(seed + uint64(rounds))
		length := min(roundTime, *monkeyTime-driven)
		driven += length
		found := r.run(t, length)
		events += len(r.events)
		rounds++
		if found != "" {
			failures++
			t.Logf("seed %d, after %d events: %s\nnow looking for a shorter replay", r.seed, len(r.events), found)
			shorter := r.shrink(t, found)
			t.Errorf("%s", shorter.report(found))
		}
	}
	t.Logf("monkey: seeds %d to %d, %d events in %v, %d failures",
		seed, seed+uint64(rounds)-1, events, time.Since(begin).Round(time.Second), failures)
}

// drive starts nod as the round wants it and lets do have a monkey at it.
func (r *round) drive(t *testing.T, do func(m *monkey) failure) (found failure) {
	t.Run(fmt.Sprint("seed=", r.seed), func(t *testing.T) {
		n := startManaged(t, r.manager)
		ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
		defer cancel()
		n.ctx = ctx
		n.writeConfig(r.config)
		m := &monkey{
			n: n, seed: r.seed, mode: r.mode, random: rand.New(rand.NewPCG(r.seed, 1)),
			pending: map[int]context.CancelFunc{},
		}
		var err error
		if r.mode.machine {
			m.there = n.startAndPair(n.newContainer("docker"))
		} else {
			n.startNod()
		}
		m.wire, err = n.wire()
		must(t, err)
		if found = do(m); found == "" {
			found = m.finish()
		}
		r.events = m.done
	})
	return found
}

// startAndPair starts nod-desktop, pairs that machine, and returns where its agents ask.
func (n *nod) startAndPair(there *machine) *wire {
	n.t.Helper()
	n.startProgram(there.desktop())
	n.pairMachine("build")
	w, err := wireIn(there.path("run"))
	must(n.t, err)
	return &w
}

// run has a monkey do as it likes for a while. It stops at a failure.
func (r *round) run(t *testing.T, length time.Duration) failure {
	return r.drive(t, func(m *monkey) failure {
		begin := []event{}
		for _, entry := range r.mode.menu {
			begin = append(begin, event(fmt.Sprintf(doMenu, entry)), event(fmt.Sprintf(doSleep, 300)))
		}
		for start := time.Now(); time.Since(start) < length; {
			var e event
			if len(begin) > 0 {
				e, begin = begin[0], begin[1:]
			} else {
				e = m.choose()
			}
			if f := m.step(e); f != "" {
				return f
			}
		}
		return ""
	})
}

// replay does again what was done.
func (r *round) replay(t *testing.T, events []event) failure {
	return r.drive(t, func(m *monkey) failure {
		for _, e := range events {
			if f := m.step(e); f != "" {
				return f
			}
		}
		return ""
	})
}

// checkEvery is after how many events a monkey looks whether all is well, which takes a moment.
const checkEvery = 20

func (m *monkey) step(e event) failure {
	if err := m.perform(e); err != nil {
		return m.crashOr(failure("display: " + err.Error()))
	}
	if len(m.done)%checkEvery == 0 {
		return m.check()
	}
	return ""
}

// shrink looks for fewer of a round's events that end in the same failure: first among the last ones, then without
// ever smaller parts (delta debugging).
func (r round) shrink(t *testing.T, found failure) round {
	deadline := time.Now().Add(*monkeyShrink)
	fails := func(events []event) bool {
		again := r
		return time.Now().Before(deadline) && again.replay(t, events).kind() == found.kind()
	}
	best := r.events
	for last := 8; last < len(best); last *= 4 {
		if tail := slices.Concat(requestsOf(best[:len(best)-last]), best[len(best)-last:]); fails(tail) {
			best = tail
			break
		}
	}
	for parts := 2; len(best) > 1 && parts <= 2*len(best) && time.Now().Before(deadline); {
		size := max(1, len(best)/parts)
		shorter := false
		for at := 0; at < len(best); {
			without := slices.Concat(best[:at], best[min(at+size, len(best)):])
			if fails(without) {
				best, shorter = without, true
			} else {
				at += size
			}
		}
		if !shorter || size == 1 {
			if size == 1 && !shorter {
				break
			}
			parts *= 2
		}
	}
	r.events = best
	return r
}

// requestsOf is what a replay of the last events needs of those before: what waits, and what was opened.
func requestsOf(events []event) (needed []event) {
	for _, e := range events[max(0, len(events)-200):] {
		if verb, _, _ := strings.Cut(string(e), " "); slices.Contains([]string{"request", "withdraw", "menu"}, verb) {
			needed = append(needed, e)
		}
	}
	return needed
}

// replays is where the replays of failures go.
const replays = "../build/monkey"

// report writes a replay of a failure to a file and says all that there is to say.
func (r round) report(found failure) string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\n", r.seed)
	for _, e := range r.events {
		fmt.Fprintln(&text, e)
	}
	path := filepath.Join(replays, fmt.Sprintf("%d.replay", r.seed))
	err := os.MkdirAll(replays, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text.String()), 0o644)
	}
	saved := fmt.Sprintf("run it again: make monkey REPLAY=build/monkey/%d.replay", r.seed)
	if err != nil {
		saved = err.Error()
	}
	return fmt.Sprintf("%s\n\nmode %q, window manager %s; %s\n%s", found, r.mode.name, r.manager, saved, text.String())
}

// replayFile runs a replay from a file.
func replayFile(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var seed uint64
	if _, err := fmt.Sscanf(lines[0], "seed %d", &seed); err != nil {
		t.Fatalf("%s: the first line is %q, want seed NUMBER", path, lines[0])
	}
	r := newRound(seed)
	var events []event
	for _, line := range lines[1:] {
		events = append(events, event(line))
	}
	if found := r.replay(t, events); found != "" {
		t.Errorf("%s", found)
	}
}

// stacks ends nod, which hangs, and returns what its goroutines were at. Those of the windows are in the log.
func (n *nod) stacks() string {
	n.t.Helper()
	for _, pid := range append(n.children(), n.cmd.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGQUIT) // one may have ended
		<-time.After(time.Second)              // for what it says
	}
	var said strings.Builder
	for _, path := range []string{n.logPath(), filepath.Join(n.Home(), "nod-desktop.stderr")} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		const enough = 8000 // of the first goroutines: that of the windows is among them
		_, stacks, _ := strings.Cut(string(text), "SIGQUIT")
		fmt.Fprintf(&said, "%s: %s\n", filepath.Base(path), stacks[:min(len(stacks), enough)])
	}
	return said.String()
}
