package jetstream

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"nod/interact"
	"nod/ipc/remote"
)

// rejoin is how often the desk hears of a machine that is still there.
const rejoin = 5 * time.Minute

// greeted takes in that a machine is there. Only one that knows the word that this desk has just said is believed: what
// was recorded proves nothing.
func (l *Line) greeted(msg *nats.Msg) {
	_, sign := last(msg.Subject)
	envelope, err := l.identity.Open(msg.Data)
	var g greeting
	if err == nil {
		err = expect(envelope, kindGreeting, &g)
	}
	if err == nil && (envelope.From.Sign != sign || envelope.From.Check() != nil) {
		err = remote.ErrForged
	}
	if err != nil {
		l.log.Warn("what says that a machine is there is none of its", "machine", sign, "err", err)
		return
	}
	word, fresh := l.words(envelope.From, g.Word)
	if word == "" {
		return // too many strangers
	}
	r := receipt{Nonce: g.Nonce, Word: word, Fresh: fresh}
	switch {
	case fresh && g.Bye:
		l.gone(envelope.From)
	case fresh:
		_, r.Paired = l.join(envelope.From, g.Hello, true)
	}
	l.answer(msg, envelope.From, r)
}

// words compares what a machine heard last with what was said to it, and returns what it hears now: nothing where too
// many machines ask to join.
func (l *Line) words(key remote.Key, heard string) (word string, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[key.Sign]
	if m == nil || m.key != key {
		if m != nil && m.peer.Name != "" || l.strangers() >= maxStrangers {
			return "", false
		}
		m = newMachine(key)
		l.machines[key.Sign] = m
	}
	fresh = m.word != "" && m.word == heard
	if fresh || m.word == "" {
		m.word = nonce()
	}
	if m.peer.Name == "" {
		m.seen = time.Now()
	}
	return m.word, fresh
}

func newMachine(key remote.Key) *machine {
	return &machine{
		key: key, open: map[interact.ID]*request{}, over: map[interact.ID]*request{}, up: time.Now(), seen: time.Now(),
	}
}

// strangers counts the machines that no person has paired. The caller holds Line.mu.
func (l *Line) strangers() int {
	n := 0
	for _, m := range l.machines {
		if m.peer.Name == "" {
			n++
		}
	}
	return n
}

// join tells the desk that a machine is there, unless it knows, and returns who it is. ok is false while no person has
// paired it. isSeen says that the machine has said so just now: what it has asked may be older than that.
func (l *Line) join(key remote.Key, h remote.Hello, isSeen bool) (peer remote.Peer, ok bool) {
	if peer, ok := l.known(key, h, isSeen); ok {
		return peer, true
	}
	peer, err := l.desk.Join(key, h)
	if err == nil && peer.Key != key {
		err = remote.ErrNotPaired
	}
	if err != nil {
		if !errors.Is(err, remote.ErrNotPaired) {
			l.log.Warn("a machine that is there is not let in", "machine", key.Sign, "err", err)
		}
		l.estrange(key)
		return remote.Peer{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[key.Sign]
	if m == nil || m.key != key {
		m = newMachine(key)
		l.machines[key.Sign] = m
	}
	if m.joined.IsZero() {
		m.up = time.Now()
	}
	m.peer, m.hello, m.joined, m.seen = peer, h, time.Now(), time.Now()
	if isSeen {
		m.skew = time.Until(h.Clock).Round(time.Millisecond)
	}
	if m.ends == nil {
		m.ends = l.listenToEnds(m)
	}
	return peer, true
}

// known is a machine that is there, of which there is nothing new for the desk.
func (l *Line) known(key remote.Key, h remote.Hello, isSeen bool) (remote.Peer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[key.Sign]
	if m == nil || m.key != key || m.joined.IsZero() {
		return remote.Peer{}, false
	}
	if !isSeen {
		return m.peer, true
	}
	m.seen, m.skew = time.Now(), time.Until(h.Clock).Round(time.Millisecond)
	old, now := m.hello, h
	old.Clock, now.Clock = time.Time{}, time.Time{}
	return m.peer, old == now && time.Since(m.joined) < rejoin
}

// listenToEnds hears how requests of a machine end. The caller holds Line.mu.
func (l *Line) listenToEnds(m *machine) *nats.Subscription {
	s, err := l.listen(l.cfg.subject(sayOutcome, m.key.Sign, "*"), func(msg *nats.Msg) {
		_, id := last(msg.Subject)
		l.mu.Lock()
		r := m.open[interact.ID(id)]
		l.mu.Unlock()
		if r == nil {
			return
		}
		a, by, err := l.read(r.matter, msg.Data)
		if err != nil {
			l.log.Warn("what stands for the outcome of a request is none", "id", id, "err", err)
			return
		}
		l.finish(r, a, by)
	})
	if err != nil {
		l.log.Warn("NATS: how requests end is seen late", "err", err)
	}
	return s
}

// estrange takes the place among the paired from a machine.
func (l *Line) estrange(key remote.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[key.Sign]
	if m == nil || m.key != key {
		return
	}
	for _, r := range m.open {
		l.remove(r.seq)
	}
	if m.ends != nil {
		_ = m.ends.Unsubscribe() // the connection is gone, and with it the subscription
	}
	word := m.word
	*m = *newMachine(key)
	m.word = word
}

// Drop implements [remote.Line].
func (l *Line) Drop(key remote.Key) {
	l.estrange(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.machines, key.Sign)
	delete(l.owed, key)
}

// gone tells the desk that a machine has gone.
func (l *Line) gone(key remote.Key) {
	l.mu.Lock()
	m := l.machines[key.Sign]
	was := m != nil && !m.joined.IsZero()
	if was {
		m.joined, m.up = time.Time{}, time.Now()
	}
	l.mu.Unlock()
	if was {
		l.desk.Leave(key)
	}
}

// sweep sees which machines have gone without a word.
func (l *Line) sweep() {
	l.mu.Lock()
	var gone []remote.Key
	for sign, m := range l.machines {
		switch {
		case time.Since(m.seen) < away:
		case m.peer.Name == "":
			delete(l.machines, sign)
		case !m.joined.IsZero():
			gone = append(gone, m.key)
		}
	}
	l.mu.Unlock()
	for _, key := range gone {
		l.gone(key)
	}
}

// keep hands what a relay has decided to the desk, for its journal.
func (l *Line) keep(msg *nats.Msg) {
	_, sign := last(msg.Subject)
	l.mu.Lock()
	m := l.machines[sign]
	if m == nil || m.joined.IsZero() {
		l.mu.Unlock()
		return
	}
	peer := m.peer
	l.mu.Unlock()
	envelope, err := l.identity.Open(msg.Data, peer.Key)
	var t told
	if err == nil {
		err = expect(envelope, remote.KindRecords, &t)
	}
	if err != nil {
		l.log.Warn("what stands for records of a machine is none", "machine", sign, "err", err)
		return
	}
	r := receipt{Nonce: t.Nonce}
	if err := l.desk.Keep(peer, t.Records); err != nil {
		l.log.Warn("records of a machine are not kept", "machine", peer.Name, "err", err)
		r.Error = err.Error()
	}
	l.answer(msg, peer.Key, r)
}

// State implements [remote.Line].
func (l *Line) State(key remote.Key) remote.State {
	ok, since, problem := l.isWorking()
	l.hub.mu.Lock()
	s := remote.State{Up: ok, Since: since, Problem: problem, Trip: l.trip}
	l.hub.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == (remote.Key{}) {
		return s
	}
	m := l.machines[key.Sign]
	if m == nil || m.key != key {
		s.Up = false
		return s
	}
	s.Skew = m.skew
	if ok {
		s.Up, s.Since = !m.joined.IsZero(), m.up
	}
	return s
}
