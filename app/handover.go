package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"nod/interact"
)

const (
	calmPatience   = time.Minute      // how long the person may go on with what they do in nod's windows
	settlePatience = 3 * time.Second  // how long an answer may take into the journal
	calmInterval   = time.Second / 10 // between two looks at these
)

// runningProgram is, on Linux, the program that runs, also when its file was replaced or removed.
const runningProgram = "/proc/self/exe"

// newUpgrade returns what has nod go on as the program that replaces it, where the system tells which program runs and
// can have a process go on as another one.
func newUpgrade(dialogs string, log *slog.Logger) (*upgrade, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of nod: %w", err)
	}
	u := &upgrade{
		self: self, dialogs: dialogs, running: runningProgram, try: tryOut, log: log, hint: make(chan struct{}, 1),
		settle: upgradeSettles, retries: upgradeRetries,
	}
	u.failed.Store(runtime.GOOS != "linux")
	return u, nil
}

// followUpgrades has nod go on as the program that replaces it.
func (p *program) followUpgrades() {
	if runtime.GOOS != "linux" {
		return
	}
	p.upgrade.calm = func(ctx context.Context) {
		p.await(ctx, calmPatience, func() bool { return p.desk.IsCalm() && p.desk.IsSettled() })
	}
	p.upgrade.handOver = p.handOver
	p.upgrade.tell = func(sentence string) { p.desk.Say(interact.Warning, sentence) }
	if err := p.upgrade.run(p.ctx); err != nil {
		p.log.Warn("nod must be started again after an upgrade", "err", err)
	}
}

// handOver has this process go on as the program that lies where its own did.
//
// Nothing is closed for that but the windows. What was asked and answered is in the journal before anybody hears of it,
// and a caller whose nod is gone waits for the next: nod must survive being killed at any moment, and this is no more
// than that, only that no answer is under way and the next one runs at once.
func (p *program) handOver(ctx context.Context) error {
	p.desk.StopWindows()
	p.await(ctx, settlePatience, p.desk.IsSettled)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	args := slices.Clone(os.Args)
	if !p.opts.Background {
		args = slices.Insert(args, 1, "--background") // no person starts nod now
	}
	err := syscall.Exec(p.upgrade.self, args, os.Environ())
	// It was removed at this very moment. What runs can always be run again.
	return errors.Join(err, syscall.Exec(runningProgram, args, os.Environ()))
}

// await waits until something is so, but not for ever.
func (p *program) await(ctx context.Context, most time.Duration, isSo func() bool) {
	for end := time.Now().Add(most); !isSo() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(calmInterval):
		}
	}
}
