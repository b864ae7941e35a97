package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"nod/interact"
)

const (
	calmPatience   = time.Minute      // how long the person may go on with what they do in nod's windows
	typingPause    = 3 * time.Second  // after which they count as done with typing
	settlePatience = 3 * time.Second  // how long an answer may take into the journal
	calmInterval   = time.Second / 10 // between two looks at these
)

// runningProgram is, on Linux, the program that runs, also when its file was replaced or removed.
const runningProgram = "/proc/self/exe"

// newUpgrade returns what has nod go on as the program that replaces it, where the system tells which program runs and
// can have a process go on as another one.
func (p *program) newUpgrade() (*upgrade, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of nod: %w", err)
	}
	u := &upgrade{
		self: self, dialogs: p.dialogs, running: runningProgram, try: tryOut, log: p.log, hint: make(chan struct{}, 1),
		settle: upgradeSettles, retries: upgradeRetries,
		tell: func(sentence string) { p.say(interact.Warning, sentence) },
	}
	u.failed.Store(runtime.GOOS != "linux")
	return u, nil
}

// followUpgrades has nod go on as the program that replaces it. stopWindows ends the windows for good.
func (p *program) followUpgrades(stopWindows func()) {
	if runtime.GOOS != "linux" {
		return
	}
	p.upgrade.calm = func(ctx context.Context) {
		p.await(ctx, calmPatience, func() bool { return p.windows.isCalm() && p.isSettled() })
	}
	p.upgrade.handOver = func(ctx context.Context) error { return p.handOver(ctx, stopWindows) }
	if err := p.upgrade.run(p.ctx); err != nil {
		p.log.Warn("nod must be started again after an upgrade", "err", err)
	}
}

// handOver has this process go on as the program that lies where its own did.
//
// Nothing is closed for that but the windows. What was asked and answered is in the journal before anybody hears of it,
// and a caller whose nod is gone waits for the next: nod must survive being killed at any moment, and this is no more
// than that, only that no answer is under way and the next one runs at once.
func (p *program) handOver(ctx context.Context, stopWindows func()) error {
	stopWindows()
	<-p.windows.ended
	p.await(ctx, settlePatience, p.isSettled)
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

// isSettled reports whether every answer that the person has given is in the journal.
func (p *program) isSettled() bool {
	pending := p.broker.Pending()
	return len(p.windows.unanswered(pending)) == len(pending)
}

// isCalm reports whether the person would notice little if the windows went: they do not type, have nothing open but
// prompts, and can take nothing back.
func (w *windows) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.typed) >= typingPause && !(w.screen.Open && w.screen.Focused) && !w.undos.any()
}
