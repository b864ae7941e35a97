package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"nod/interact"
	"nod/ipc/remote"
)

// Line is a desk's way to its machines over NATS. It implements [remote.Line].
type Line struct {
	*hub
	desk  remote.Desk
	fresh chan struct{} // takes a signal when there may be something to read

	mu       sync.Mutex // guards all below
	machines map[string]*machine
	owed     map[remote.Key]remote.Policy // that the cluster does not have yet
	made     time.Time                    // when the stream was made that is read; zero: not known yet
	readTo   uint64                       // up to where it was read
	hinted   uint64                       // up to where there is something to read, as somebody has said
}

// machine is one that this desk has heard of.
type machine struct {
	key    remote.Key
	peer   remote.Peer // empty: it is not paired
	hello  remote.Hello
	word   string    // what its next greeting must have
	seen   time.Time // when it greeted last
	joined time.Time // when the desk was told last of it; zero: it is not there
	up     time.Time // since when it is there, or is not
	skew   time.Duration
	open   map[interact.ID]*request
	over   map[interact.ID]*request // that ended a while ago
	ends   *nats.Subscription       // to how its requests end
}

// request is one that a machine has asked this desk.
type request struct {
	matter
	remote  remote.Request
	at      time.Time // when it came here, less the time it had waited by then
	seq     uint64    // where it lies in the stream; 0: it does not
	isTaken bool
	tried   bool // this desk has sent an answer, which may have counted
	answer  interact.Answer
	ended   time.Time
}

// Limits of what a desk keeps in mind.
const (
	maxStrangers = 32              // machines that no person has paired
	maxOpen      = 2 * maxWaiting  // requests of one machine
	maxOver      = 256             // … and those that have ended
	retakeAfter  = 5 * time.Second // for a request that the desk could not take
	// removeAfter leaves the desk time to note how a request ended: one that crashes before that hears it again.
	removeAfter = time.Second
)

// NewLine returns the line of the desk with that identity.
func NewLine(cfg Config, identity *remote.Identity, desk remote.Desk, log *slog.Logger) *Line {
	return &Line{
		hub: newHub(cfg, identity, "desk", log), desk: desk, fresh: make(chan struct{}, 1),
		machines: map[string]*machine{}, owed: map[remote.Key]remote.Policy{},
	}
}

// Run implements [remote.Line].
func (l *Line) Run(ctx context.Context) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	defer l.nc.Close()
	if l.setUp(ctx) != nil {
		return nil
	}
	for what, do := range map[string]func(*nats.Msg){
		sayHello: l.greeted, sayRecords: l.keep, sayAsked: l.hint,
	} {
		if _, err := l.listen(l.cfg.subject(what, l.me(), "*"), do); err != nil {
			return err
		}
	}
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() { l.readRequests(ctx) })
	l.watch(ctx)
	return nil
}

// watch looks again for what may have been missed, and sees who has gone.
func (l *Line) watch(ctx context.Context) {
	look := time.NewTimer(0)
	retake := time.NewTicker(retakeAfter)
	defer retake.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-retake.C:
			l.retake()
			l.sweep()
			continue
		case <-l.again:
			if err := l.nc.Publish(l.cfg.subject(sayUp, l.me()), nil); err != nil {
				l.log.Debug("NATS: machines are not told that this desk is back", "err", err)
			}
		case <-look.C:
		}
		signal(l.fresh)
		l.catchUp(ctx)
		look.Reset(lookAgain + rand.N(lookAgain/4))
	}
}

// catchUp sees whether open requests have ended, and writes the policies that the cluster does not have.
func (l *Line) catchUp(ctx context.Context) {
	if !l.nc.IsConnected() {
		return
	}
	l.checkStream(ctx)
	l.writePolicies(ctx)
	l.mu.Lock()
	var open []*request
	for _, m := range l.machines {
		for _, r := range m.open {
			open = append(open, r)
		}
	}
	l.mu.Unlock()
	for _, r := range open {
		if a, by, ok := l.ended(ctx, r.matter); ok {
			l.finish(r, a, by)
		}
	}
}

// checkStream sees what time it is in the cluster, and whether the stream is the one that was read: in one that was
// lost and made anew numbers begin again.
func (l *Line) checkStream(ctx context.Context) {
	made, err := l.readClock(ctx)
	switch {
	case isLost(err):
		l.reopen(ctx)
	case err != nil && ctx.Err() == nil:
		l.log.Warn("NATS", "err", err)
	}
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.made
	if l.made = made; !was.IsZero() && !was.Equal(made) {
		l.log.Warn("NATS: the stream of requests was made anew, and is read from its beginning")
		for _, m := range l.machines {
			m.misplace()
		}
		l.readTo, l.hinted = 0, 0
		signal(l.fresh)
	}
}

// misplace forgets where requests lay in a stream that is lost: others lie there now. The caller holds Line.mu.
func (m *machine) misplace() {
	for _, r := range m.open {
		r.seq = 0
	}
	for _, r := range m.over {
		r.seq = 0
	}
}

// readRequest opens what is in the subject of a machine. The error says why it is no request of that machine.
func (l *Line) readRequest(message []byte, sign string) (*request, remote.Hello, error) {
	envelope, err := l.identity.Open(message)
	if err != nil {
		return nil, remote.Hello{}, err
	}
	var a asked
	if err := expect(envelope, remote.KindRequest, &a); err != nil {
		return nil, remote.Hello{}, err
	}
	digest, err := a.Digest()
	if err != nil {
		return nil, remote.Hello{}, err
	}
	from, forged := envelope.From, func(what string) error { return fmt.Errorf("%w: %s", remote.ErrForged, what) }
	switch {
	case from.Sign != sign:
		err = forged("it is another machine's")
	case time.Since(envelope.Sent).Abs() > maxSkew:
		err = forged("it is more than a day old, or the clock there is wrong by that much")
	case uuid.Validate(string(a.Request.Request.ID)) != nil:
		err = forged("its id is no UUID")
	case len(a.Desks) > maxDesks || !slices.Contains(a.Desks, l.identity.Key()):
		err = forged("this desk is not asked")
	case slices.ContainsFunc(a.Desks, func(k remote.Key) bool { return k == from || k.Check() != nil }):
		err = forged("it asks somebody who is no desk")
	}
	m := matter{machine: from, id: a.Request.Request.ID, digest: digest, desks: a.Desks}
	return &request{matter: m, remote: a.Request}, a.Hello, err
}

// admit enters a request among the open ones of its machine. It reports whether that is new.
func (l *Line) admit(r *request, hello remote.Hello) bool {
	if _, ok := l.join(r.machine, hello, false); !ok {
		l.remove(r.seq)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.machines[r.machine.Sign]
	if m == nil {
		return false
	}
	old := m.open[r.id]
	switch {
	case m.over[r.id] != nil, old == nil && len(m.open) >= maxOpen:
		l.remove(r.seq)
		return false
	case old != nil && old.digest == r.digest: // it was sent twice, the second time perhaps to more desks
		if old.seq < r.seq {
			l.remove(old.seq)
		}
		r.isTaken, r.tried = old.isTaken, old.tried
		m.open[r.id] = r
		return !r.isTaken
	case old != nil:
		l.log.Warn("a machine asks two things by one name: the first counts", "machine", m.peer.Name, "id", r.id)
		l.remove(r.seq)
		return false
	}
	m.open[r.id] = r
	return true
}

// take hands a request to the desk, unless its time is over.
func (l *Line) take(r *request) {
	l.mu.Lock()
	m := l.machines[r.machine.Sign]
	if m == nil || m.open[r.id] != r || r.isTaken {
		l.mu.Unlock()
		return
	}
	peer, now := m.peer, r.remote
	l.mu.Unlock()
	waited := time.Since(r.at)
	if now.Times.Left > 0 && now.Times.Left <= waited {
		return // its relay has ended it, and says so as soon as it can
	}
	now.Times.Age += waited
	now.Times.Left, now.Times.Patient = now.Times.Left-waited, now.Times.Patient-waited
	err := l.desk.Take(peer, now)
	var busy *interact.BusyError
	switch {
	case err == nil:
		l.mu.Lock()
		r.isTaken = true
		l.mu.Unlock()
	case errors.Is(err, remote.ErrNotPaired):
		l.Drop(r.machine)
	case errors.As(err, &busy), errors.Is(err, interact.ErrUnavailable):
		l.log.Debug("a request waits until the desk can take it", "machine", peer.Name, "err", err)
	default:
		l.log.Warn("a request of a machine is not taken", "machine", peer.Name, "id", r.id, "err", err)
	}
}

// retake hands over what the desk could not take before.
func (l *Line) retake() {
	l.mu.Lock()
	var waiting []*request
	for _, m := range l.machines {
		for id, r := range m.open {
			switch {
			case time.Since(r.at) > cmp.Or(max(r.remote.Times.Patient, 0), maxAge)+time.Minute:
				delete(m.open, id) // its relay has ended it, but could not say so
			case !r.isTaken:
				waiting = append(waiting, r)
			}
		}
	}
	l.mu.Unlock()
	slices.SortFunc(waiting, func(a, b *request) int { return a.at.Compare(b.at) })
	for _, r := range waiting {
		l.take(r)
	}
}

// finish ends a request. The desk is told unless it answers it itself, by [Line.Commit].
func (l *Line) finish(r *request, a interact.Answer, by remote.Key) {
	l.mu.Lock()
	m := l.machines[r.machine.Sign]
	if m == nil || m.open[r.id] == nil || m.open[r.id].digest != r.digest {
		l.mu.Unlock()
		return
	}
	tried := r.tried
	r = m.open[r.id] // it may have been sent once more
	delete(m.open, r.id)
	r.answer, r.ended = a, time.Now()
	m.remember(r)
	peer, isOwn := m.peer, (tried || r.tried) && by == l.identity.Key()
	l.mu.Unlock()
	if !isOwn {
		l.desk.End(peer, remote.Answer{ID: r.id, Digest: r.digest, Answer: a})
	}
	time.AfterFunc(removeAfter, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.remove(r.seq)
	})
}

// remember keeps how a request ended, for who asks again. The caller holds Line.mu.
func (m *machine) remember(r *request) {
	r.remote = remote.Request{}
	m.over[r.id] = r
	if len(m.over) <= maxOver {
		return
	}
	oldest := r
	for _, o := range m.over {
		if o.ended.Before(oldest.ended) {
			oldest = o
		}
	}
	delete(m.over, oldest.id)
}

// remove takes a request out of the stream. Where that fails it goes when its time is over.
func (l *Line) remove(seq uint64) {
	if seq == 0 {
		return // it is not there
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err := l.requests.DeleteMsg(ctx, seq)
		if err != nil && !errors.Is(err, js.ErrMsgNotFound) {
			l.log.Debug("NATS: a request that has ended stays in the stream until its time is over", "err", err)
		}
	}()
}

// Commit implements [remote.Line].
func (l *Line) Commit(ctx context.Context, machine remote.Key, a remote.Answer) (interact.Answer, error) {
	l.mu.Lock()
	var r, over *request
	if m := l.machines[machine.Sign]; m != nil && m.key == machine {
		r, over = m.open[a.ID], m.over[a.ID]
	}
	if r != nil {
		r.tried = true
	}
	l.mu.Unlock()
	switch {
	case over != nil && over.digest == a.Digest:
		return over.answer, nil
	case r == nil:
		return interact.Answer{}, fmt.Errorf("%w: the request is not here", remote.ErrDown)
	case r.digest != a.Digest:
		return interact.Answer{}, fmt.Errorf("%w: the answer is to another request", remote.ErrForged)
	case !l.nc.IsConnected():
		return interact.Answer{}, fmt.Errorf("%w: NATS at %s", remote.ErrDown, l.cfg.where())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sent := time.Now()
	first, by, err := l.settle(ctx, r.matter, a.Answer)
	if err != nil {
		return interact.Answer{}, err
	}
	l.took(time.Since(sent))
	l.finish(r, first, by)
	return first, nil
}

// Apply implements [remote.Line].
func (l *Line) Apply(machine remote.Key, p remote.Policy) {
	l.mu.Lock()
	l.owed[machine] = p
	l.mu.Unlock()
	l.look()
}

// writePolicies hands the cluster the policies that it does not have.
func (l *Line) writePolicies(ctx context.Context) {
	l.mu.Lock()
	owed := maps.Clone(l.owed)
	l.mu.Unlock()
	for machine, p := range owed {
		message, err := l.identity.Seal(machine, remote.KindPolicy, p)
		if err == nil {
			within, cancel := context.WithTimeout(ctx, patience)
			_, err = l.policies.Put(within, machine.Sign+"."+l.me(), message)
			cancel()
		}
		if isLost(err) {
			l.reopen(ctx)
		}
		if err != nil {
			l.log.Warn("NATS: a policy is handed over later", "machine", machine.Sign, "err", err)
			continue
		}
		l.mu.Lock()
		if l.owed[machine].Serial == p.Serial {
			delete(l.owed, machine)
		}
		l.mu.Unlock()
	}
}

// Forget implements [remote.Line].
func (l *Line) Forget(ctx context.Context, machine remote.Key) error {
	if ok, _, problem := l.isWorking(); !ok {
		return fmt.Errorf("%w: %s", remote.ErrDown, problem)
	}
	t := told{Nonce: nonce()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := l.ask(ctx, l.cfg.subject(sayForget, machine.Sign, l.me()), machine, remote.KindForget, t.Nonce, t)
	return err
}
