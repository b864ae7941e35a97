package asking

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy/config"
)

// lineSpec says where a line leads: to one machine, or to a NATS server.
type lineSpec struct {
	machine config.Machine
	nats    config.NATS // where machine is nothing
}

func (s lineSpec) name() string {
	if s.machine == (config.Machine{}) {
		return operator.NATSLine
	}
	return s.machine.String()
}

func specs(c config.Remote) []lineSpec {
	var all []lineSpec
	for _, m := range c.Machines {
		all = append(all, lineSpec{machine: m})
	}
	if c.NATS.URL != "" {
		all = append(all, lineSpec{nats: c.NATS})
	}
	return all
}

type machineLine struct {
	remote.Line // nil: it cannot be made
	lineSpec
	problem string // why it does not run
	stop    context.CancelFunc
}

// keepLines keeps the lines that the configuration asks for, until ctx ends.
func (m *machines) keepLines(ctx context.Context, wanted []lineSpec) {
	gone, fresh := m.setLines(wanted)
	for _, old := range gone {
		old.stop()
	}
	for _, one := range fresh {
		m.start(ctx, one)
	}
	if len(gone)+len(fresh) > 0 {
		m.changed.Send()
	}
}

// linesPace is the pause between two updates of the lines' states: a line that does not connect sends no signal.
const linesPace = 15 * time.Second

// looks returns a channel that fires when the lines' states are to be updated; nil without lines.
func (m *machines) looks() <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lines) == 0 {
		return nil
	}
	return time.After(linesPace)
}

// setLines sets which lines are wanted. It returns those no longer wanted, and the new ones.
func (m *machines) setLines(wanted []lineSpec) (gone, fresh []*machineLine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[string]*machineLine{}
	for _, spec := range wanted {
		one := m.lines[spec.name()]
		if one == nil || one.lineSpec != spec {
			one = &machineLine{lineSpec: spec, stop: func() {}}
			fresh = append(fresh, one)
		}
		next[one.name()] = one
	}
	for name, one := range m.lines {
		if next[name] != one {
			gone = append(gone, one)
		}
	}
	m.lines = next
	for _, c := range m.online {
		c.isUp = c.isUp && m.lines[c.line.name()] == c.line
	}
	return gone, fresh
}

// start makes a line and runs it until ctx ends or it is stopped.
func (m *machines) start(ctx context.Context, one *machineLine) {
	ctx, stop := context.WithCancel(ctx)
	line, err := m.dial(one.lineSpec, lineDesk{m, one})
	m.mu.Lock()
	one.Line, one.stop = line, stop
	m.mu.Unlock()
	if err != nil {
		m.failed(one, err)
		return
	}
	m.runs.Go(func() {
		if err := line.Run(ctx); err != nil && ctx.Err() == nil {
			m.failed(one, err)
		}
	})
}

func (m *machines) failed(one *machineLine, err error) {
	m.log.Error("a connection has stopped", "line", one.name(), "err", err)
	m.mu.Lock()
	one.problem = err.Error()
	m.mu.Unlock()
	m.changed.Send()
}

// state returns the state of a line to the machine with this key or, if the key is empty, of the line itself.
func (m *machines) state(one *machineLine, key remote.Key) remote.State {
	m.mu.Lock()
	line, problem := one.Line, one.problem
	m.mu.Unlock()
	if line == nil || problem != "" {
		return remote.State{Problem: problem}
	}
	return line.State(key)
}

// list returns the state of the lines that the configuration asks for, sorted by name.
func (m *machines) list() []operator.Line {
	m.mu.Lock()
	lines := slices.Collect(maps.Values(m.lines))
	m.mu.Unlock()
	all := make([]operator.Line, len(lines))
	for i, one := range lines {
		all[i] = operator.Line{Name: one.name(), State: m.state(one, remote.Key{})}
	}
	slices.SortFunc(all, func(x, y operator.Line) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// peer returns a paired peer with its current state.
func (m *machines) peer(p remote.Peer) operator.Peer {
	m.mu.Lock()
	c, known := m.online[p.Key.Sign]
	last := m.serial
	shown := operator.Peer{Peer: p, Pending: m.askedBy(p.Key)}
	m.mu.Unlock()
	if !known {
		return shown
	}
	shown.Hello, shown.Line = c.hello, c.line.name()
	shown.IsOld = c.hello.Policy > 0 && c.hello.Policy < last
	shown.State = m.state(c.line, p.Key)
	return shown
}
