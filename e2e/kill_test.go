//go:build linux

package e2e

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"nod/interact"
	"nod/interact/journal"
	"nod/ipc/client"
	"nod/ipc/endpoint"
)

var (
	kills      = flag.Int("kills", 80, "how often TestKill kills a process of nod's")
	mixedKills = flag.Int("mixed-kills", 25, "how often TestKillMixed does")
	killSeed   = flag.Uint64("kill-seed", 0, "seed of both; 0: the time")
)

const (
	killCallers = 16
	// A life is how long nod-desktop lives at most before it is killed: long enough to start and to serve, short
	// enough that many die while they start.
	life = 700 * time.Millisecond
)

// trafficConfig is the policy that the traffic knows.
const trafficConfig = settings + `
prompt:
  timeout: 6s
policy:
  rules:
    - id: look
      effect: allow
      tool: Look
    - id: push
      effect: deny
      tool: Push
`

// TestKill kills both processes of nod again and again while all kinds of callers ask: make kill runs it for longer.
// Afterwards the journal, the callers and the user agree: nothing is lost, nothing counts twice, and nothing was
// allowed that nobody decided.
func TestKill(t *testing.T) {
	t.Parallel()
	newKilling(t, seedOfKills()).run(*kills)
}

// TestKillMixed is TestKill with half of the callers on another machine, whose relay is killed, too, and with a phone
// that answers beside the windows.
func TestKillMixed(t *testing.T) {
	t.Parallel()
	k := newKilling(t, seedOfKills())
	p := k.mix()
	ctx, stop := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	answering.Go(func() { p.answer(ctx) })
	defer answering.Wait()
	defer stop()
	k.run(*mixedKills)
}

func seedOfKills() uint64 { return cmp.Or(*killSeed, uint64(time.Now().Unix())) }

// run kills so many processes, and holds all against all.
func (k *killing) run(count int) {
	t, begin := k.t, time.Now()
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() { k.drive(ctx, killCallers) })
	k.kill(count)
	stop()
	settled := make(chan struct{})
	k.start()
	go func() { callers.Wait(); close(settled) }()
	select {
	case <-settled:
	case <-time.After(3 * callerTime):
		t.Fatalf("seed %d: callers wait though nothing is killed any more", k.seed)
	}
	k.drained()
	k.end()
	notes, err := readNotes(k.notes)
	must(t, err)
	a := newAudit(k.stories, k.n.settled(), notes)
	a.check()
	t.Logf("seed %d: killed nod-desktop %d times, nod-dialogs %d times, the relay %d times, ended nod-desktop %d times "+
		"in %v\n%s", k.seed, k.trays, k.windows, k.relays, k.ends, time.Since(begin).Round(time.Second), a.summary())
	for _, text := range a.report {
		t.Errorf("seed %d: %s", k.seed, text)
	}
}

// killing is a nod that is killed, and its callers.
type killing struct {
	traffic
	t      *testing.T
	random *rand.Rand
	notes  string // path of the stand-in's notes

	tray  *exec.Cmd
	ended <-chan struct{}

	trays, windows, relays int // killed
	ends                   int // of nod-desktop, which was told to

	life time.Duration // of nod-desktop at most
	env  []string      // more of it for nod-desktop
}

// newKilling makes a nod whose windows are the stand-in.
func newKilling(t *testing.T, seed uint64) *killing {
	n := startDesktop(t)
	k := &killing{
		traffic: traffic{n: n, dir: filepath.Join(n.Home(), "bin"), seed: seed, easy: 20},
		t:       t, random: rand.New(rand.NewPCG(seed, 0)), notes: filepath.Join(n.Home(), "notes"), life: life,
	}
	n.writeConfig(trafficConfig)
	must(t, os.Mkdir(k.dir, 0o700))
	for _, name := range []string{"nod", "nod-cli", "nod-desktop"} {
		must(t, copyProgram(filepath.Join(bin, name), filepath.Join(k.dir, name)))
	}
	must(t, os.Symlink(n.borrow(standInName), filepath.Join(k.dir, standInName)))
	return k
}

// start starts nod-desktop and does not wait for it. It has no session bus: a tray icon a second is not what is tested.
func (k *killing) start() {
	k.t.Helper()
	k.tray = k.command("nod-desktop", "--background")
	k.tray.Env = append(k.tray.Env,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent",
		notesVariable+"="+k.notes, seedVariable+"="+fmt.Sprint(k.seed),
		versionFor(k.t, filepath.Join(k.dir, "nod-desktop")))
	k.tray.Env = append(k.tray.Env, k.env...)
	k.tray.Stderr = k.n.openLog("nod-desktop.stderr")
	var err error
	k.ended, err = k.n.Launch(k.tray)
	must(k.t, err)
}

// kill kills so many processes, and starts nod-desktop again at once.
func (k *killing) kill(count int) {
	k.t.Helper()
	for k.trays+k.windows+k.relays+k.ends < count {
		k.start()
		if k.random.IntN(2) == 0 {
			k.ready()
		}
		for range k.random.IntN(3) {
			k.wait(upTo(k.random, k.life))
			if k.there != nil && k.random.IntN(2) == 0 {
				k.killRelay()
			} else if pid := k.dialogs(); pid != 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
				k.windows++
			}
		}
		k.wait(upTo(k.random, k.life))
		if k.random.IntN(12) == 0 {
			must(k.t, k.tray.Process.Signal(syscall.SIGTERM))
			<-k.ended
			k.ends++
		} else {
			must(k.t, k.tray.Process.Kill())
			<-k.ended
			k.trays++
		}
	}
}

// ready waits until nod-desktop can be asked: on a busy machine it would else never live for so long.
func (k *killing) ready() {
	k.t.Helper()
	for begin := time.Now(); ; k.wait(lookAgain) {
		e, err := endpoint.Read(filepath.Join(k.n.Runtime(), "nod"))
		if err == nil && e.PID == k.tray.Process.Pid {
			return
		}
		if time.Since(begin) > patience {
			k.t.Fatalf("seed %d: nod-desktop cannot be asked: %v", k.seed, err)
		}
	}
}

// wait lets nod-desktop run for a while, which it must.
func (k *killing) wait(d time.Duration) {
	k.t.Helper()
	select {
	case <-k.ended:
		k.t.Fatalf("seed %d: nod-desktop ended by itself: %v\n%s", k.seed, k.tray.ProcessState, k.n.lastWords())
	case <-time.After(d):
	}
}

// dialogs is the process with the windows; 0: there is none.
func (k *killing) dialogs() int {
	k.n.cmd = k.tray
	return k.n.dialogs()
}

// drained waits until nothing is pending any more, and the journal has what the relay decided.
func (k *killing) drained() {
	k.t.Helper()
	k.noneIsPending(&story{})
	if k.there != nil {
		k.noneIsPending(&story{remote: true})
		k.reported()
	}
}

func (k *killing) noneIsPending(of *story) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), callerTime)
	defer cancel()
	for {
		pending := 0
		must(k.t, k.reach(ctx, of, func(c *client.Client) error {
			h, err := c.Health(ctx)
			pending = h.Pending
			return err
		}))
		if pending == 0 {
			return
		}
		select {
		case <-ctx.Done():
			k.t.Fatalf("seed %d: %d requests are pending for ever", k.seed, pending)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// end ends nod-desktop in order.
func (k *killing) end() {
	k.t.Helper()
	must(k.t, k.tray.Process.Signal(syscall.SIGTERM))
	select {
	case <-k.ended:
	case <-time.After(patience):
		k.t.Fatalf("seed %d: nod-desktop runs on after SIGTERM", k.seed)
	}
}

// settled are the outcomes that the journal has, now that nod has ended. It must be whole, and nothing in it open.
func (n *nod) settled() []interact.Record {
	n.t.Helper()
	j := journal.Open(n.journalPath(), journal.Options{Log: slog.New(slog.DiscardHandler)})
	defer j.Close()
	must(n.t, j.Problem())
	must(n.t, j.Verify(n.t.Context()))
	open, settled, err := j.Restore(n.t.Context(), math.MaxInt32)
	must(n.t, err)
	for _, r := range open {
		n.t.Errorf("the journal has request %s open, though nod has ended: %+v", r.Request.ID, r.Request.Body)
	}
	return settled
}

// journalPath is where nod's journal is.
func (n *nod) journalPath() string {
	return filepath.Join(n.Home(), ".local", "share", "nod", "nod.db")
}

// upTo is a random time below most.
func upTo(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}
