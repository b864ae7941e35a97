package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"nod/interact"
	"nod/ipc/remote"
)

// line is the desk's end of all connections that one carrier makes. It implements [remote.Line].
type line struct {
	identity *remote.Identity
	desk     remote.Desk
	carrier  Carrier
	log      *slog.Logger
	changed  func()

	mu       sync.Mutex // guards all below
	machines map[remote.Key]*machine
	since    time.Time             // when a machine came, or the last one went
	problems map[remote.Key]string // why the last connection ended, by the key that it claims; none: the zero key
}

// maxProblems is for how many machines a line remembers a problem, because any program that reaches the desk can cause
// one.
const maxProblems = 256

// NewLine returns the line of the desk with this identity. changed is called whenever a machine connects or
// disconnects. It must not block.
func NewLine(
	identity *remote.Identity, desk remote.Desk, carrier Carrier, log *slog.Logger, changed func(),
) remote.Line {
	return &line{
		identity: identity, desk: desk, carrier: carrier, log: log, changed: changed,
		machines: map[remote.Key]*machine{}, since: time.Now(), problems: map[remote.Key]string{},
	}
}

// Run implements [remote.Line].
func (l *line) Run(ctx context.Context) error { return l.carrier.Run(ctx, l.serve) }

// serve serves a machine on conn until it disconnects or ctx ends, and returns why. It closes conn.
func (l *line) serve(ctx context.Context, conn net.Conn) error {
	secured, key, err := secure(ctx, l.identity, conn, true)
	if err == nil {
		err = newMachine(l, key, newWire(secured, conn)).serve(ctx)
	}
	if ctx.Err() == nil {
		l.log.Info("a connection to a machine ended", "err", err)
		l.failed(conn, problemOf(err))
		l.changed()
	}
	return err
}

// failed notes why a connection ended. It does not report one machine's problem as that of others.
func (l *line) failed(conn net.Conn, problem string) {
	var key remote.Key
	if c, ok := conn.(claimant); ok {
		key = c.Claims()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) == maxProblems {
		clear(l.problems)
	}
	if l.problems[key] = problem; problem == "" {
		delete(l.problems, key)
	}
}

// up notes that m has answered a greeting. An earlier connection with the same machine ends.
func (l *line) up(m *machine) {
	l.mu.Lock()
	old := l.machines[m.key]
	l.machines[m.key] = m
	if old == nil {
		l.since = time.Now()
	}
	delete(l.problems, m.key)
	delete(l.problems, remote.Key{})
	l.mu.Unlock()
	switch {
	case old == m:
		return
	case old != nil:
		old.end(errReplaced)
	}
	l.changed()
}

// down notes that m has ended, and reports whether there is no newer connection with its machine.
func (l *line) down(m *machine) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.machines[m.key] != m {
		return false
	}
	delete(l.machines, m.key)
	l.since = time.Now()
	return true
}

// to returns the connection with a machine. If there is none it starts another attempt, because a caller waits, and the
// error wraps [remote.ErrDown].
func (l *line) to(key remote.Key) (*machine, error) {
	l.mu.Lock()
	m := l.machines[key]
	l.mu.Unlock()
	if m == nil {
		l.carrier.Wake(key)
		return nil, fmt.Errorf("machine %s: %w", key.Fingerprint(), remote.ErrDown)
	}
	return m, nil
}

// Commit implements [remote.Line].
func (l *line) Commit(ctx context.Context, key remote.Key, a remote.Answer) (interact.Answer, error) {
	m, err := l.to(key)
	if err != nil {
		return interact.Answer{}, err
	}
	return m.commit(ctx, a)
}

// Forget implements [remote.Line].
func (l *line) Forget(ctx context.Context, key remote.Key) error {
	m, err := l.to(key)
	if err != nil {
		return err
	}
	return m.call(ctx, methodForget, nil, nil)
}

// Greet implements [remote.Line].
func (l *line) Greet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.machines {
		m.wake.Send()
	}
}

// Drop implements [remote.Line]. The connection is made again, and the machine asks to join.
func (l *line) Drop(key remote.Key) {
	if m, err := l.to(key); err == nil {
		m.peer.Store(nil)
		m.end(errRevoked)
	}
}

// State implements [remote.Line]. Without a key it returns the state of the line, whichever machine is at its end.
func (l *line) State(key remote.Key) remote.State {
	s := l.carrier.State()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[key]
	if key == (remote.Key{}) {
		s.Problem = cmp.Or(s.Problem, l.problems[key])
		for _, m = range l.machines { // any: a line to one machine is as that is
			s.Up, s.Problem, s.Since = true, "", l.since
		}
		if m != nil {
			s.Trip = m.trip
		}
		return s
	}
	if m != nil {
		return remote.State{Up: true, Since: m.since, Trip: m.trip, Skew: m.skew}
	}
	s.Problem = cmp.Or(s.Problem, l.problems[remote.Key{}], l.problems[key])
	if s.Problem == "" && len(l.machines) > 0 && !s.Up {
		s.Problem = problemOtherKey
	}
	s.Up = false
	return s
}
