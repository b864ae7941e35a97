package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"nod/interact"
	"nod/ipc/remote"
)

// Link is a relay's way to its desks over NATS. It implements [remote.Link].
type Link struct {
	*hub
	relay remote.Relay
	desks []remote.Key

	mu      sync.Mutex // guards all below
	pending map[interact.ID]*question
	owed    map[interact.ID]end      // that the cluster does not know yet
	met     map[string]*acquaintance // desks, by the key that signs
}

// question is a request that waits for its answer.
type question struct {
	matter
	request remote.Request
	sent    map[string]int       // to which desks, by the number of their pairing
	answer  chan interact.Answer // takes the one that counts
	again   chan struct{}        // takes a signal when it may be time to send it to more desks
	full    time.Time            // since when the stream has had no place for it; zero: it has, or was not asked
}

// end is how a request ended here.
type end struct {
	matter
	answer interact.Answer
	since  time.Time
}

// acquaintance is what a relay knows of one of its desks.
type acquaintance struct {
	seen     time.Time // when it answered last
	word     string    // what it wants to hear next
	paired   bool      // it has said that it takes this machine's requests
	refused  bool      // … that it does not
	pairings int       // how often it has begun to take them, and 1
	trip     time.Duration
	skew     time.Duration
}

// NewLink returns the link of the relay with that identity to those desks.
func NewLink(cfg Config, identity *remote.Identity, desks []remote.Key, relay remote.Relay, log *slog.Logger) *Link {
	l := &Link{
		hub: newHub(cfg, identity, "relay", log), relay: relay, desks: slices.Clone(desks),
		pending: map[interact.ID]*question{}, owed: map[interact.ID]end{}, met: map[string]*acquaintance{},
	}
	for _, d := range desks {
		l.met[d.Sign] = &acquaintance{pairings: 1}
	}
	return l
}

// Run implements [remote.Link].
func (l *Link) Run(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := l.connect(ctx); err != nil {
		return err
	}
	defer l.nc.Close()
	if err := l.subscribe(); err != nil {
		return err
	}
	if l.setUp(ctx) != nil {
		return nil
	}
	var greeters sync.WaitGroup
	defer greeters.Wait()
	defer l.bye()
	hints := make([]chan struct{}, len(l.desks))
	for i, desk := range l.desks {
		hints[i] = make(chan struct{}, 1)
		greeters.Go(func() { l.greetAll(ctx, desk, hints[i]) })
		if _, err := l.listen(l.cfg.subject(sayUp, desk.Sign), func(*nats.Msg) { signal(hints[i]) }); err != nil {
			return err
		}
	}
	return l.watch(ctx, hints)
}

func (l *Link) check() error {
	if len(l.desks) == 0 || len(l.desks) > maxDesks {
		return fmt.Errorf("%w: %d desks: want the public key of at least one, and of %d at most", errConfig,
			len(l.desks), maxDesks)
	}
	for _, d := range l.desks {
		if err := d.Check(); err != nil {
			return fmt.Errorf("%w: desk %s: %w", errConfig, d.Sign, err)
		}
	}
	return nil
}

func (l *Link) subscribe() error {
	_, err := l.listen(l.cfg.subject(sayOutcome, l.me(), "*"), func(m *nats.Msg) {
		_, id := last(m.Subject)
		l.hear(interact.ID(id), m.Data)
	})
	if err != nil {
		return err
	}
	_, err = l.listen(l.cfg.subject(sayPolicy, l.me(), "*"), func(m *nats.Msg) {
		_, desk := last(m.Subject)
		l.apply(desk, m.Data)
	})
	if err != nil {
		return err
	}
	_, err = l.listen(l.cfg.subject(sayForget, l.me(), "*"), l.forget)
	return err
}

// watch looks again for what may have been missed, after each loss of the connection and once in a while.
func (l *Link) watch(ctx context.Context, hints []chan struct{}) error {
	for {
		l.catchUp(ctx)
		for _, h := range hints {
			signal(h)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.again:
		case <-time.After(lookAgain + rand.N(lookAgain/4)):
		}
	}
}

// catchUp reads policies and outcomes that a lost message would have told, and writes the ends that are owed.
func (l *Link) catchUp(ctx context.Context) {
	if !l.nc.IsConnected() {
		return
	}
	for _, desk := range l.desks {
		if entry, err := l.policies.Get(ctx, l.me()+"."+desk.Sign); err == nil {
			l.apply(desk.Sign, entry.Value())
		}
	}
	l.mu.Lock()
	waiting := make([]*question, 0, len(l.pending))
	for _, q := range l.pending {
		waiting = append(waiting, q)
	}
	l.mu.Unlock()
	for _, q := range waiting {
		if a, _, ok := l.ended(ctx, q.matter); ok {
			q.take(a)
		}
		signal(q.again)
	}
	l.payUp(ctx)
}

// payUp writes the ends that the cluster does not know yet.
func (l *Link) payUp(ctx context.Context) {
	l.mu.Lock()
	var owed []end
	for id, e := range l.owed {
		if time.Since(e.since) > maxAge {
			delete(l.owed, id)
			continue
		}
		owed = append(owed, e)
	}
	l.mu.Unlock()
	for _, e := range owed {
		within, cancel := context.WithTimeout(ctx, patience)
		first, by, err := l.settle(within, e.matter, e.answer)
		cancel()
		if err != nil {
			return // later
		}
		l.mu.Lock()
		delete(l.owed, e.id)
		l.mu.Unlock()
		if by != l.identity.Key() {
			l.log.Warn("a desk had answered a request that ended here while the cluster could not be reached",
				"id", e.id, "ended", e.answer.Outcome, "answered", first.Outcome, "desk", by.Sign)
		}
	}
}

// signal wakes whoever waits on c, or will.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take gives q its answer. Only the first counts.
func (q *question) take(a interact.Answer) {
	select {
	case q.answer <- a:
	default:
	}
}

// hear takes in what the bucket has of a request.
func (l *Link) hear(id interact.ID, value []byte) {
	l.mu.Lock()
	q := l.pending[id]
	l.mu.Unlock()
	if q == nil {
		return
	}
	a, _, err := l.read(q.matter, value)
	if err != nil {
		l.log.Warn("what stands for the outcome of a request is none", "id", id, "err", err)
		return
	}
	q.take(a)
}

// apply puts a desk's policy in force.
func (l *Link) apply(sign string, message []byte) {
	i := slices.IndexFunc(l.desks, func(k remote.Key) bool { return k.Sign == sign })
	if i < 0 || len(message) == 0 {
		return
	}
	envelope, err := l.identity.Open(message, l.desks[i])
	var p remote.Policy
	if err == nil {
		err = expect(envelope, remote.KindPolicy, &p)
	}
	if err == nil {
		err = l.relay.Apply(l.desks[i], p)
	}
	if err != nil {
		l.log.Warn("a policy is not applied", "desk", sign, "err", err)
	}
}

// forget ends approvals that a desk wants ended.
func (l *Link) forget(m *nats.Msg) {
	envelope, err := l.identity.Open(m.Data, l.desks...)
	var t told
	if err == nil {
		err = expect(envelope, remote.KindForget, &t)
	}
	if err != nil {
		l.log.Warn("a message that is none of a desk's", "subject", m.Subject, "err", err)
		return
	}
	l.relay.Forget()
	l.answer(m, envelope.From, receipt{Nonce: t.Nonce})
}

// Ask implements [remote.Link].
func (l *Link) Ask(ctx context.Context, r interact.Request) (interact.Answer, error) {
	q, err := l.enter(r)
	if err != nil {
		return interact.Answer{}, fmt.Errorf("%w: %w", interact.ErrUnavailable, err)
	}
	defer l.leave(q)
	a, err := l.wait(ctx, q)
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		l.dropped(q.matter)
	}
	return a, err
}

func (l *Link) wait(ctx context.Context, q *question) (interact.Answer, error) {
	if err := l.readied(ctx); err != nil {
		return interact.Answer{}, err
	}
	if time.Since(q.request.Request.Created) > time.Second { // it came before this relay started, perhaps
		if a, _, ok := l.ended(ctx, q.matter); ok {
			return a, nil
		}
	}
	for tries := 0; ; tries++ {
		again, err := l.send(ctx, q)
		if err != nil {
			return interact.Answer{}, err
		}
		var later <-chan time.Time
		if again {
			later = time.After(delay(tries) / 4)
		}
		select {
		case a := <-q.answer:
			return a, nil
		case <-ctx.Done():
			return interact.Answer{}, ctx.Err()
		case <-q.again:
		case <-later:
		}
	}
}

func (l *Link) matterOf(r interact.Request) (matter, error) {
	digest, err := remote.Request{Request: r}.Digest()
	return matter{machine: l.identity.Key(), id: r.ID, digest: digest, desks: l.desks}, err
}

func (l *Link) enter(r interact.Request) (*question, error) {
	m, err := l.matterOf(r)
	if err != nil {
		return nil, err
	}
	q := &question{
		matter: m, request: remote.Request{Request: r}, sent: map[string]int{},
		answer: make(chan interact.Answer, 1), again: make(chan struct{}, 1),
	}
	l.mu.Lock()
	l.pending[r.ID] = q
	l.mu.Unlock()
	return q, nil
}

func (l *Link) leave(q *question) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[q.id] == q {
		delete(l.pending, q.id)
	}
}

// dropped tells the desks, a little later, that nobody waits for an answer any more, unless [Link.Final] says how the
// request ended.
func (l *Link) dropped(m matter) {
	time.AfterFunc(finalTime, func() {
		l.mu.Lock()
		_, isPending := l.pending[m.id]
		_, isOwed := l.owed[m.id]
		if !isPending && !isOwed {
			l.owed[m.id] = end{m, interact.Answer{
				Outcome: interact.Withdrawn, Reason: "it was settled on the machine that asked",
			}, time.Now()}
		}
		l.mu.Unlock()
		l.look()
	})
}

// send puts a request before every desk that may take it and does not have it yet. again says that some do not have it
// now for a reason that passes. The error wraps [interact.ErrUnavailable]: no desk will ever have it.
func (l *Link) send(ctx context.Context, q *question) (again bool, err error) {
	var full error
	for _, desk := range l.desks {
		pairings, ok := l.takes(desk)
		if !ok || q.sent[desk.Sign] == pairings {
			continue
		}
		err := l.publish(ctx, q, desk, pairings)
		var api *js.APIError
		switch {
		case err == nil:
			q.sent[desk.Sign] = pairings
		case errors.Is(err, nats.ErrMaxPayload):
			return false, fmt.Errorf("%w: the request is larger than NATS takes at once (max_payload: %d bytes)",
				interact.ErrUnavailable, l.nc.MaxPayload())
		case errors.As(err, &api) && api.ErrorCode == js.ErrorCode(storeFailed):
			full = err
		default:
			again = true
			if isLost(err) {
				l.reopen(ctx)
			}
			if ctx.Err() == nil && l.nc.IsConnected() {
				l.log.Warn("NATS: a request was not sent, and will be", "id", q.id, "desk", desk.Sign, "err", err)
			}
		}
	}
	if full != nil && q.full.IsZero() {
		q.full = time.Now()
	}
	if full != nil && len(q.sent) == 0 && !again && time.Since(q.full) > fullTime {
		return false, fmt.Errorf("%w: NATS keeps no more requests of this machine, since too many wait for their desk "+
			"already: %w", interact.ErrUnavailable, full)
	}
	return again || full != nil, nil
}

// fullTime is how long a request waits for a place in the stream: those that have just ended leave theirs soon.
const fullTime = 2 * time.Second

// storeFailed is the code with which the cluster refuses a message for which a limit leaves no place.
const storeFailed = 10077

// takes reports whether a desk may be asked: it has not said that this machine is not paired with it.
func (l *Link) takes(desk remote.Key) (pairings int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.met[desk.Sign]
	return d.pairings, !d.refused
}

func (l *Link) publish(ctx context.Context, q *question, desk remote.Key, pairings int) error {
	if !l.nc.IsConnected() {
		return remote.ErrDown
	}
	q.request.Times = interact.TimesOf(q.request.Request, time.Now())
	message, err := l.identity.Seal(desk, remote.KindRequest, asked{q.request, l.relay.Hello(desk), l.desks})
	if err != nil {
		return err
	}
	if int64(len(message)) > l.nc.MaxPayload() {
		return nats.ErrMaxPayload
	}
	ttl := maxAge
	if left := q.request.Times.Patient; left > 0 {
		ttl = min(left.Round(time.Second)+time.Minute, maxAge)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = l.kept.Publish(ctx, l.cfg.subject(sayRequest, desk.Sign, l.me()), message,
		js.WithMsgID(fmt.Sprint(q.id, ".", desk.Sign, ".", pairings)), js.WithMsgTTL(ttl),
		js.WithExpectStream(l.cfg.requests()))
	return err
}

// Final implements [remote.Link].
func (l *Link) Final(r interact.Request, a interact.Answer) interact.Answer {
	m, err := l.matterOf(r)
	if err != nil {
		l.log.Error("NATS: desks are not told how a request ended", "id", r.ID, "err", err)
		return a
	}
	if ok, _, _ := l.isWorking(); ok {
		ctx, cancel := context.WithTimeout(context.Background(), finalTime)
		defer cancel()
		first, _, err := l.settle(ctx, m, a)
		if err == nil {
			return first
		}
		l.log.Warn("NATS: how a request ended is told later", "id", r.ID, "err", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.owed) < maxOwed {
		l.owed[r.ID] = end{m, a, time.Now()}
	}
	return a
}

// Report implements [remote.Link].
func (l *Link) Report(ctx context.Context, decided []interact.Record) error {
	if err := l.readied(ctx); err != nil {
		return err
	}
	err := fmt.Errorf("%w: no desk is there that has paired this machine", remote.ErrDown)
	for _, desk := range l.desks {
		if !l.isThere(desk) {
			continue
		}
		if err = l.report(ctx, desk, decided); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// report hands records to one desk, in as many messages as it takes. One that is too large for a message goes without
// its input.
func (l *Link) report(ctx context.Context, desk remote.Key, decided []interact.Record) error {
	t := told{Nonce: nonce(), Records: decided}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := l.ask(within, l.cfg.subject(sayRecords, desk.Sign, l.me()), desk, remote.KindRecords, t.Nonce, t)
	if tooLarge := errors.Is(err, nats.ErrMaxPayload); tooLarge && len(decided) > 1 {
		half := len(decided) / 2
		if err := l.report(ctx, desk, decided[:half]); err != nil {
			return err
		}
		return l.report(ctx, desk, decided[half:])
	} else if tooLarge && len(decided) == 1 {
		if a, ok := decided[0].Request.Body.(interact.Approve); ok && a.Input != nil {
			bare := decided[0]
			bare.Request.Body = a.Bare()
			return l.report(ctx, desk, []interact.Record{bare})
		}
	}
	if err == nil && r.Error != "" {
		err = fmt.Errorf("the desk does not keep them: %s", r.Error)
	}
	return err
}

// State implements [remote.Link].
func (l *Link) State() remote.State {
	ok, since, problem := l.isWorking()
	s := remote.State{Up: ok, Since: since, Problem: problem}
	if !ok {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	refused := 0
	for _, d := range l.met {
		if d.isThere() {
			s.Trip, s.Skew, s.Problem = d.trip, d.skew, ""
			return s
		}
		if d.refused {
			refused++
		}
	}
	s.Up = false
	s.Problem = fmt.Sprintf("NATS at %s is there, but no desk is: requests wait until one comes", l.cfg.where())
	if refused > 0 {
		s.Problem = fmt.Sprintf("the desk has not paired this machine: pair it there in Settings → Machines and devices, "+
			"where it is to show %q", l.identity.Key().Fingerprint())
	}
	return s
}
