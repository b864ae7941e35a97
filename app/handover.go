package app

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"nod/changes"
	"nod/interact"
)

const (
	calmPatience   = time.Minute      // how long the user may go on in nod's windows
	settlePatience = 3 * time.Second  // how long an answer may take to reach the journal
	calmInterval   = time.Second / 10 // between two looks at these
)

// runningProgram is the running program on Linux, even after its file was replaced or removed.
const runningProgram = "/proc/self/exe"

// newVersions returns versions that make the windows wait for an upgrade only on Linux: elsewhere a process cannot
// become another program.
func newVersions() *versions {
	v := &versions{hint: changes.NewSignal()}
	v.failed.Store(runtime.GOOS != "linux")
	return v
}

// followUpgrades replaces the running program after an upgrade of its file.
func (p *program) followUpgrades() {
	if runtime.GOOS != "linux" {
		return
	}
	u := &upgrade{
		self: p.self, dialogs: p.dialogs, running: runningProgram, try: tryOut, log: p.log, versions: p.versions,
		settle: upgradeSettles, retries: upgradeRetries, handOver: p.handOver,
		calm: func(ctx context.Context) {
			p.await(ctx, calmPatience, func() bool { return p.desk.IsCalm() && p.desk.IsSettled() })
		},
		warn: func(sentence string) { p.desk.Say(interact.Warning, sentence) },
	}
	if err := u.run(p.ctx); err != nil {
		p.log.Warn("nod must be started again after an upgrade", "err", err)
	}
}

// handOver executes the new program in this process. It returns only if that fails.
//
// It closes only the windows: nod survives being killed at any moment, since the journal has every answer before its
// caller does, and callers reconnect. It just waits until no answer is on its way to the journal.
func (p *program) handOver(ctx context.Context) error {
	p.desk.StopWindows()
	p.await(ctx, settlePatience, p.desk.IsSettled)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	args := slices.Clone(os.Args)
	if !p.opts.Background {
		args = slices.Insert(args, 1, "--background") // the user did not start it
	}
	err := syscall.Exec(p.self, args, os.Environ())
	// The file was removed just now. The running program can always be executed again.
	return errors.Join(err, syscall.Exec(runningProgram, args, os.Environ()))
}

// await waits until isDone returns true, at most for limit.
func (p *program) await(ctx context.Context, limit time.Duration, isDone func() bool) {
	for end := time.Now().Add(limit); !isDone() && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(calmInterval):
		}
	}
}
