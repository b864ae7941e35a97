package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"nod/interact"
	"nod/ipc/remote"
)

// How long a line waits before it comes back: twice as long after each failure.
const (
	firstWait = time.Second
	lastWait  = 30 * time.Second
)

// Line is the desk's end: a command that is run again whenever it ends. It implements [remote.Line] for the one machine
// that the command leads to.
type Line struct {
	identity *remote.Identity
	desk     remote.Desk
	log      *slog.Logger
	dial     func() (transport, error)
	changed  func()
	retry    chan struct{} // cap 1: the person wants to be connected now

	mu       sync.Mutex // guards all below
	machine  *machine   // connected
	state    remote.State
	policies map[remote.Key]remote.Policy
}

var _ remote.Line = (*Line)(nil)

// transport is what carries a connection.
type transport interface {
	io.ReadWriteCloser
	// Problem says, once it was closed, why it ended, in words for the person; without any it did not fail.
	Problem() string
}

// NewLine returns a line that the command carries, as [Command] makes it. changed is told whenever the line comes up,
// goes down or has another problem. It must not block.
func NewLine(
	identity *remote.Identity, command []string, desk remote.Desk, log *slog.Logger, changed func(),
) *Line {
	return newLine(identity, func() (transport, error) { return start(command, log) }, desk, log, changed)
}

func newLine(
	identity *remote.Identity, dial func() (transport, error), desk remote.Desk, log *slog.Logger, changed func(),
) *Line {
	return &Line{
		identity: identity, desk: desk, log: log, dial: dial, changed: changed, retry: make(chan struct{}, 1),
		policies: map[remote.Key]remote.Policy{}, state: remote.State{Since: time.Now()},
	}
}

// Run implements [remote.Line].
func (l *Line) Run(ctx context.Context) error {
	wait := firstWait
	for ctx.Err() == nil {
		if wasUp := l.connect(ctx); wasUp {
			wait = firstWait
		}
		select {
		case <-ctx.Done():
		case <-l.retry:
			wait = firstWait
		case <-time.After(wait):
			wait = min(2*wait, lastWait)
		}
	}
	return nil
}

// again has a line that is down come back at once.
func (l *Line) again() {
	select {
	case l.retry <- struct{}{}:
	default: // it is about to
	}
}

// connect runs the command once, for as long as the connection holds, and reports whether it was up.
func (l *Line) connect(ctx context.Context) (wasUp bool) {
	conn, err := l.dial()
	if err != nil {
		l.down(err.Error())
		return false
	}
	m := newMachine(l, conn)
	err = m.serve(ctx)
	_ = conn.Close()
	problem := conn.Problem()
	wasUp = l.State(remote.Key{}).Up
	switch {
	case ctx.Err() != nil:
		return wasUp
	case errors.Is(err, errProtocol):
		problem = errProtocol.Error()
	case errors.Is(err, remote.ErrNotPaired):
		problem = problemOtherDesk
	case errors.Is(err, errNotRPC), errors.Is(err, errTooLong):
		problem = problemChatter
	}
	l.log.Info("the line is down", "err", err, "problem", problem)
	l.down(problem)
	return wasUp
}

// down notes that there is no connection.
func (l *Line) down(problem string) {
	l.mu.Lock()
	l.machine = nil
	l.mu.Unlock()
	l.set(false, problem)
}

// heard notes a sign of life of m, which came after trip, from a clock that is ahead by skew.
func (l *Line) heard(m *machine, trip, skew time.Duration) {
	l.mu.Lock()
	l.machine = m
	l.state.Trip, l.state.Skew = trip, skew
	l.mu.Unlock()
	l.set(true, "")
}

// set notes how the line is.
func (l *Line) set(up bool, problem string) {
	l.mu.Lock()
	was := l.state
	if l.state.Up, l.state.Problem = up, problem; was.Up != up {
		l.state.Since = time.Now()
	}
	l.mu.Unlock()
	if was.Up != up || was.Problem != problem {
		l.changed()
	}
}

// to returns the connection with a machine. The error wraps [remote.ErrDown]; then the line is tried at once, because
// the person waits for it.
func (l *Line) to(key remote.Key) (*machine, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.machine == nil {
		l.again()
	}
	if l.machine == nil || l.machine.key != key {
		return nil, fmt.Errorf("machine %s: %w", key.Fingerprint(), remote.ErrDown)
	}
	return l.machine, nil
}

// Commit implements [remote.Line].
func (l *Line) Commit(ctx context.Context, key remote.Key, a remote.Answer) (interact.Answer, error) {
	m, err := l.to(key)
	if err != nil {
		return interact.Answer{}, err
	}
	return m.commit(ctx, a)
}

// Apply implements [remote.Line].
func (l *Line) Apply(key remote.Key, p remote.Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.policies[key] = p
	if l.machine != nil && l.machine.key == key {
		l.machine.wakeUp()
	}
}

// policy is what the machine with that key is to apply; nil where nobody said.
func (l *Line) policy(key remote.Key) *remote.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.policies[key]; ok {
		return &p
	}
	return nil
}

// Forget implements [remote.Line].
func (l *Line) Forget(ctx context.Context, key remote.Key) error {
	m, err := l.to(key)
	if err != nil {
		return err
	}
	_, err = m.call(ctx, remote.KindForget, nil)
	return err
}

// Drop implements [remote.Line]. The line comes back, and the machine asks to join.
func (l *Line) Drop(key remote.Key) {
	l.mu.Lock()
	delete(l.policies, key)
	l.mu.Unlock()
	if m, err := l.to(key); err == nil {
		m.unpair()
		m.end(errRevoked)
	}
}

// State implements [remote.Line]. With no key it is how the line is, whichever machine is at its end.
func (l *Line) State(key remote.Key) remote.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key != (remote.Key{}) && l.machine != nil && l.machine.key != key {
		return remote.State{Since: l.state.Since, Problem: problemOtherKey}
	}
	return l.state
}
