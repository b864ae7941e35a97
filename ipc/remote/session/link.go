package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"nod/changes"
	"nod/interact"
	"nod/ipc/remote"
)

// relay is the part of a relay that a [Link] needs.
type relay interface {
	// Hello returns what the relay now says about itself to a desk.
	Hello(desk remote.Key) remote.Hello
	// Admit checks that the relay accepts answers and policies of a desk. A relay that was started without desks admits
	// the first one that connects; for others the error is [remote.ErrNotPaired].
	Admit(desk remote.Key) error
	// Vouch notes which other desks the user of a desk has paired, whose answers the relay may accept, too.
	Vouch(desk remote.Key, others []remote.Key)
	// Apply puts a policy of a desk in force.
	Apply(desk remote.Key, p remote.Policy) error
	// Forget ends all approvals that were given for more than once.
	Forget()
	// Settled waits until a request has ended and returns its answer, as [interact.Broker] does.
	Settled(ctx context.Context, id interact.ID) (interact.Answer, error)
}

// maxUnknown limits the connections whose other end has not proven a key. One more ends the oldest, so that connections
// alone cannot keep a desk out.
const maxUnknown = 32

// Link is the relay's end of all connections with desks.
type Link struct {
	identity *remote.Identity
	relay    relay
	carrier  Carrier
	log      *slog.Logger
	changed  changes.Source // of desks
	asked    changes.Source // of requests: one was added
	told     changes.Source // of showing

	mu       sync.Mutex                   // guards all below, and the fields of openRequest and desk that say so
	requests map[interact.ID]*openRequest // that have not ended
	desks    []*desk                      // connected and paired, the oldest first
	unknown  []*desk                      // connected, and not let in yet, the oldest first
	since    time.Time                    // when the first came or the last went
	showing  int                          // requests that desks are shown, or are being told the end of
}

// openRequest is a request that desks are or were asked about.
type openRequest struct {
	id      interact.ID
	digest  string
	over    chan struct{} // closed when it has ended
	refused chan error    // cap 1: why no desk that is connected takes it in

	// Guarded by the link's mu:
	sent    remote.Request // until it has ended; its times change with each sending
	refusal map[*desk]error
	answer  interact.Answer // once it has ended; without an Outcome nobody here knows how
	from    *desk           // whose answer that is, if it is a desk's
}

// isOver reports whether a has ended. The caller holds the link's mu.
func (a *openRequest) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// NewLink returns the link of the relay with this identity.
func NewLink(identity *remote.Identity, relay relay, carrier Carrier, log *slog.Logger) *Link {
	return &Link{
		identity: identity, relay: relay, carrier: carrier, log: log,
		requests: map[interact.ID]*openRequest{}, since: time.Now(),
	}
}

// Run serves desks until ctx ends. The error says why no desk can ever be reached.
func (l *Link) Run(ctx context.Context) error { return l.carrier.Run(ctx, l.Serve) }

// drainTime is how long desks may take to hear how the last requests ended.
const drainTime = time.Second

// Drain waits until the desks know how the requests ended. Call it after the last one has ended.
func (l *Link) Drain() {
	told, stop := l.told.Subscribe()
	defer stop()
	for late := time.After(drainTime); ; {
		l.mu.Lock()
		showing := l.showing
		l.mu.Unlock()
		if showing == 0 {
			return
		}
		select {
		case <-told:
		case <-late:
			return
		}
	}
}

// Serve serves a desk on conn until it disconnects or ctx ends. It closes conn. The error says why a desk was not
// admitted.
func (l *Link) Serve(ctx context.Context, conn net.Conn) error {
	d := newDesk(l)
	l.mu.Lock()
	l.unknown = append(l.unknown, d)
	if len(l.unknown) > maxUnknown {
		l.unknown[0].end(errors.New("too many connections, and this one did not identify itself"))
		l.unknown = l.unknown[1:]
	}
	l.mu.Unlock()
	defer l.isKnown(d)
	proving, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(d.life, stop)()
	secured, key, err := secure(proving, l.identity, conn, false)
	if err != nil {
		return fmt.Errorf("a desk connects: %w", err)
	}
	d.connect(key, newWire(secured, conn))
	return d.serve(ctx)
}

// isKnown takes d off the list of unknown connections: it was admitted or has ended.
func (l *Link) isKnown(d *desk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unknown = slices.DeleteFunc(l.unknown, func(o *desk) bool { return o == d })
}

// Ask sends a request to all desks, including those that connect later, and waits for the first answer. When ctx ends
// it returns ctx's error. The error wraps [interact.ErrUnavailable] if no desk can show the request.
func (l *Link) Ask(ctx context.Context, r interact.Request) (interact.Answer, error) {
	sent, err := remote.NewRequest(r)
	if err != nil {
		return interact.Answer{}, fmt.Errorf("ask the desks: %w", err)
	}
	a := &openRequest{
		id: r.ID, digest: sent.Digest(), sent: sent, refusal: map[*desk]error{},
		over: make(chan struct{}), refused: make(chan error, 1),
	}
	l.mu.Lock()
	l.requests[r.ID] = a
	l.asked.Send()
	for _, d := range l.desks {
		d.show(a)
	}
	l.mu.Unlock()
	select {
	case <-a.over:
		l.mu.Lock()
		defer l.mu.Unlock()
		if a.answer.Outcome == "" {
			return interact.Answer{}, fmt.Errorf("%w: request %s has ended", interact.ErrUnavailable, r.ID)
		}
		return a.answer, nil
	case err := <-a.refused:
		l.end(a, interact.Answer{}, nil)
		return interact.Answer{}, fmt.Errorf("%w: %w", interact.ErrUnavailable, err)
	case <-ctx.Done():
		l.end(a, interact.Answer{}, nil) // how, the relay knows
		return interact.Answer{}, ctx.Err()
	}
}

// end ends a with an answer, unless it has ended before. from is the desk that answered; it may be nil.
func (l *Link) end(a *openRequest, answer interact.Answer, from *desk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.isOver() {
		return
	}
	a.answer, a.from = answer, from
	a.sent, a.refusal = remote.Request{}, nil
	close(a.over)
	if l.requests[a.id] == a { // and it is not asked again
		delete(l.requests, a.id)
	}
}

// commit makes an answer count if it is the first, and returns the one that counts. A relay that has restarted may get
// the answer before it asks again: then commit waits until it has asked.
func (l *Link) commit(ctx context.Context, from *desk, answer remote.Answer) (remote.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, settlingTime)
	defer cancel()
	var settled interact.Answer
	ended := make(chan error, 1)
	go func() {
		var err error
		settled, err = l.relay.Settled(ctx, answer.ID)
		ended <- err
	}()
	asked, stop := l.asked.Subscribe()
	defer stop()
	for {
		if err := l.count(from, answer); err != nil {
			return remote.Answer{}, err
		}
		select {
		case <-asked: // perhaps this one
		case err := <-ended:
			switch {
			case errors.Is(err, interact.ErrNotFound):
				return remote.Answer{}, errUnknown
			case err != nil: // how it ends is not known yet: the desk sends the answer again
				return remote.Answer{}, fmt.Errorf("settle request %s: %w: %w", answer.ID, remote.ErrDown, err)
			}
			return remote.Answer{ID: answer.ID, Digest: answer.Digest, Answer: settled}, nil
		}
	}
}

// count ends the pending request that an answer is for, if desks are asked about it. It fails if the digest is that of
// another request, or the answer is not valid.
func (l *Link) count(from *desk, answer remote.Answer) error {
	l.mu.Lock()
	a := l.requests[answer.ID]
	if a == nil {
		l.mu.Unlock()
		return nil // it was answered before, or is not asked again yet
	}
	request := a.sent.Request
	l.mu.Unlock()
	if answer.Digest != a.digest {
		return fmt.Errorf("%w: the answer is for another request than %s", errRefused, answer.ID)
	}
	if err := request.Check(answer.Answer); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	l.end(a, answer.Answer, from)
	return nil
}

// Report sends what the relay decided by the policy, and returns nil once a desk has it in its journal.
func (l *Link) Report(ctx context.Context, decided []interact.Record) error {
	changed, stop := l.changed.Subscribe()
	defer stop()
	for {
		l.mu.Lock()
		desks := slices.Clone(l.desks)
		l.mu.Unlock()
		for _, d := range desks {
			err := d.report(ctx, decided)
			if err == nil || ctx.Err() != nil {
				return err
			}
			l.log.Warn("a desk does not record decisions", "desk", d.key.Fingerprint(), "err", err)
		}
		select {
		case <-changed:
		case <-time.After(busyRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// State returns whether a desk is connected and, if none is, why.
func (l *Link) State() remote.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := remote.State{Up: len(l.desks) > 0, Since: l.since}
	if !s.Up {
		s.Problem = cmp.Or(l.carrier.State().Problem, "no desk is connected")
	}
	return s
}

// enter adds d, which has just connected or was just paired, and sends it all pending requests.
func (l *Link) enter(d *desk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.desks, d) {
		return
	}
	for _, old := range l.desks {
		if old.key == d.key { // it has lost that connection
			old.end(errReplaced)
		}
	}
	l.desks = append(l.desks, d)
	l.deskChanged(len(l.desks) == 1)
	for _, a := range l.requests {
		d.show(a)
	}
}

// leave removes d, which has disconnected or is no longer paired.
func (l *Link) leave(d *desk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.desks, d); i >= 0 {
		l.desks = slices.Delete(l.desks, i, i+1)
		l.deskChanged(len(l.desks) == 0)
	}
	for _, a := range l.requests {
		delete(a.refusal, d)
	}
}

// deskChanged wakes goroutines that wait for a change of the desks. The caller holds l.mu.
func (l *Link) deskChanged(isTurn bool) {
	if isTurn {
		l.since = time.Now()
	}
	l.changed.Send()
}

// refuse notes that d cannot show a. If no connected desk can, a fails.
func (l *Link) refuse(d *desk, a *openRequest, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.isOver() || !slices.Contains(l.desks, d) {
		return
	}
	a.refusal[d] = err
	for _, other := range l.desks {
		if a.refusal[other] == nil {
			return
		}
	}
	if err != errAway {
		err = errors.New("the desk cannot show this request")
	}
	select {
	case a.refused <- err:
	default: // it was said
	}
}
