//go:build unix

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/remote"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/session"
	"nod/policy"
	"nod/policy/config"
)

// deskVariable has a desk's setup, and tells TestMain that this process is a desk.
const deskVariable = "NOD_TEST_DESK"

// setup is what a desk's process starts with. Its stdin stays open for as long as it is to live.
type setup struct {
	Config   config.NATS
	Identity string // path
	Name     string
	Machine  remote.Key // whom its user has paired
	Seed     uint64
	Think    time.Duration // what its user takes at most
	Says     api.Outcome   // to everything; empty: the user throws a coin
}

// event is a line of a desk's stdout.
type event struct {
	Desk    string
	Kind    eventKind
	ID      interact.ID // as the machine has it
	Outcome api.Outcome
	Device  string
	Pending int
}

type eventKind string

// The kinds of event.
const (
	isShown   eventKind = "shown"   // a prompt is on the screen
	isDecided eventKind = "decided" // the user said so; nobody else knows yet
	isCounted eventKind = "counted" // this is what came of it, says the line
	isClosed  eventKind = "closed"  // the prompt has left the screen without an answer
	isPending eventKind = "pending" // so many wait now
)

// desk is a nod-desktop as far as a line knows it, with a user who answers everything.
type desk struct {
	setup
	line   remote.Line
	broker *interact.Broker
	random func(n int64) int64

	mu    sync.Mutex // guards out and all below
	out   *json.Encoder
	asked map[interact.ID]*asked // by the machine's id
}

// asked is a request of the machine that waits here.
type asked struct {
	digest string
	over   chan struct{} // closed once the machine says that it has ended
}

// deskMain is the whole program where it was started as a desk.
func deskMain() {
	text := os.Getenv(deskVariable)
	if text == "" {
		return
	}
	if err := runDesk(text); err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runDesk(text string) error {
	d := &desk{out: json.NewEncoder(os.Stdout), asked: map[interact.ID]*asked{}}
	if err := json.Unmarshal([]byte(text), &d.setup); err != nil {
		return err
	}
	identity, err := remote.LoadIdentity(d.Identity)
	if err != nil {
		return err
	}
	source := rand.New(rand.NewPCG(d.Seed, 1))
	var mu sync.Mutex
	d.random = func(n int64) int64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Int64N(n)
	}
	level := slog.LevelError
	if os.Getenv("NOD_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("desk", d.Name)
	carrier := cluster.NewDesk(d.Config, identity.Key(), func() []remote.Key { return []remote.Key{d.Machine} }, log)
	d.line = session.NewLine(identity, d, carrier, log, func() {})
	d.broker = interacttest.Broker(d, &interacttest.Policy{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	go d.watch()
	return d.line.Run(ctx)
}

// watch tells how many requests wait, whenever that changes.
func (d *desk) watch() {
	changed, stop := d.broker.Changes()
	defer stop()
	for range changed {
		d.tell(event{Kind: isPending, Pending: len(d.broker.Pending())})
	}
}

func (d *desk) tell(e event) {
	e.Desk = d.Name
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.out.Encode(e) // who reads it may have gone
}

// Join implements [remote.Desk].
func (d *desk) Join(machine remote.Key, _ remote.Hello) (remote.Peer, error) {
	if machine != d.Machine {
		return remote.Peer{}, remote.ErrNotPaired
	}
	return remote.Peer{Name: "machine", Role: remote.RoleMachine, Key: machine}, nil
}

// Leave implements [remote.Desk].
func (d *desk) Leave(remote.Key) {}

// Take implements [remote.Desk].
func (d *desk) Take(from remote.Peer, sent remote.Request) error {
	digest := sent.Digest()
	r := sent.Request
	d.mu.Lock()
	if d.asked[r.ID] == nil {
		d.asked[r.ID] = &asked{digest: digest, over: make(chan struct{})}
	}
	d.mu.Unlock()
	r.Requester.Machine, r.Timeout = from.Name, sent.Times.Left
	r.Patience = r.Timeout
	r.IdempotencyKey = string(r.ID) + "/" + digest
	ticket, err := d.broker.Begin(r)
	if err != nil {
		return err
	}
	ticket.Detach()
	return nil
}

// Open implements [remote.Desk].
func (d *desk) Open(remote.Peer) (ids []interact.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.asked {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Desks implements [remote.Desk].
func (d *desk) Desks() []remote.Key { return nil }

// Policy implements [remote.Desk].
func (d *desk) Policy() (remote.Policy, error) { return remote.Policy{}, nil }

// End implements [remote.Desk].
func (d *desk) End(_ remote.Peer, a remote.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.asked[a.ID]; one != nil {
		select {
		case <-one.over:
		default:
			close(one.over)
		}
	}
}

// Keep implements [remote.Desk].
func (d *desk) Keep(remote.Peer, []interact.Record) error { return nil }

// Prompt implements [interact.Prompter]: the user thinks and answers, and what then counts is the answer.
func (d *desk) Prompt(ctx context.Context, r interact.Request, _ policy.Decision) (interact.Answer, error) {
	id, digest, _ := strings.Cut(r.IdempotencyKey, "/")
	d.mu.Lock()
	one := d.asked[interact.ID(id)]
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.asked, interact.ID(id))
	}()
	d.tell(event{Kind: isShown, ID: interact.ID(id)})
	select {
	case <-time.After(time.Duration(d.random(int64(d.Think) + 1))):
	case <-one.over:
		d.tell(event{Kind: isClosed, ID: interact.ID(id)})
		return interact.Answer{Outcome: api.Withdrawn}, nil
	case <-ctx.Done():
		d.tell(event{Kind: isClosed, ID: interact.ID(id)})
		return interact.Answer{}, ctx.Err()
	}
	said := d.says(r)
	d.tell(event{Kind: isDecided, ID: interact.ID(id), Outcome: said.Outcome})
	return d.commit(ctx, one, remote.Answer{ID: interact.ID(id), Digest: digest, Answer: said})
}

// says is what the user makes of a request.
func (d *desk) says(r interact.Request) interact.Answer {
	a := interact.Answer{Outcome: d.Says, By: api.ByHuman, Device: d.Name, At: time.Now()}
	if a.Outcome == "" {
		a.Outcome = []api.Outcome{api.Allowed, api.Denied}[d.random(2)]
	}
	if a.Outcome == api.Allowed {
		a.Scope, a.ShownSHA256 = policy.Once, interact.Digest(r.Body.(interact.Approve).Input)
	}
	return a
}

// commit gives the answer out, until the line has taken it.
func (d *desk) commit(ctx context.Context, one *asked, a remote.Answer) (interact.Answer, error) {
	for {
		counts, err := d.line.Commit(ctx, d.Machine, a)
		if err == nil {
			d.tell(event{Kind: isCounted, ID: a.ID, Outcome: counts.Outcome, Device: counts.Device})
			return counts, nil
		}
		select {
		case <-ctx.Done():
			d.tell(event{Kind: isClosed, ID: a.ID})
			return interact.Answer{}, ctx.Err()
		case <-one.over:
			d.tell(event{Kind: isClosed, ID: a.ID})
			return interact.Answer{Outcome: api.Withdrawn}, nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}
