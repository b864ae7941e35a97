//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"nod/api"
	"nod/bench/sample"
	"nod/e2e/clustertest"
	"nod/interact"
	"nod/ipc/remote"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/session"
	"nod/policy"
	"nod/policy/config"
)

// fleet is all relays and desks.
type fleet struct {
	cluster *clustertest.Cluster
	relays  []*relay
	desks   []*desk
	stop    context.CancelFunc

	mu    sync.Mutex // guards all below
	seen  map[string]bool
	under map[interact.ID]*trip
}

// trip is a request on its way.
type trip struct {
	asked, shown, decided time.Time
}

// relay is a machine with a link.
type relay struct {
	link *session.Link

	mu   sync.Mutex // guards over
	over map[interact.ID]chan interact.Answer
}

func (r *relay) Hello(remote.Key) remote.Hello {
	return remote.Hello{Name: "build-server", User: "somebody", System: "linux/amd64", Version: "0", Clock: time.Now()}
}
func (r *relay) Admit(remote.Key) error                { return nil }
func (r *relay) Vouch(remote.Key, []remote.Key)        {}
func (r *relay) Apply(remote.Key, remote.Policy) error { return nil }
func (r *relay) Forget()                               {}

// Settled implements what a [session.Link] needs.
func (r *relay) Settled(ctx context.Context, id interact.ID) (interact.Answer, error) {
	r.mu.Lock()
	over := r.over[id]
	r.mu.Unlock()
	if over == nil {
		return interact.Answer{}, interact.ErrNotFound
	}
	select {
	case a := <-over:
		over <- a
		return a, nil
	case <-ctx.Done():
		return interact.Answer{}, ctx.Err()
	}
}

// ask asks the desk.
func (r *relay) ask(ctx context.Context, q interact.Request) (interact.Answer, error) {
	over := make(chan interact.Answer, 1)
	r.mu.Lock()
	r.over[q.ID] = over
	r.mu.Unlock()
	a, err := r.link.Ask(ctx, q)
	over <- a
	return a, err
}

// desk has a line, and a person who allows everything at once.
type desk struct {
	fleet    *fleet
	identity *remote.Identity
	machines map[remote.Key]bool
	line     remote.Line
}

// Join implements [remote.Desk].
func (d *desk) Join(machine remote.Key, _ remote.Hello) (remote.Peer, error) {
	if !d.machines[machine] {
		return remote.Peer{}, remote.ErrNotPaired
	}
	d.fleet.mu.Lock()
	defer d.fleet.mu.Unlock()
	d.fleet.seen[machine.Sign] = true
	return remote.Peer{Name: "machine", Role: remote.RoleMachine, Key: machine}, nil
}

// paired lists the machines of the desk.
func (d *desk) paired() []remote.Key { return slices.Collect(maps.Keys(d.machines)) }

func (d *desk) Leave(remote.Key)                          {}
func (d *desk) Desks() []remote.Key                       { return nil }
func (d *desk) Policy() (remote.Policy, error)            { return remote.Policy{}, nil }
func (d *desk) Open(remote.Peer) []interact.ID            { return nil }
func (d *desk) End(remote.Peer, remote.Answer)            {}
func (d *desk) Keep(remote.Peer, []interact.Record) error { return nil }

// Take implements [remote.Desk].
func (d *desk) Take(from remote.Peer, r remote.Request) error {
	digest := r.Digest()
	isNew := d.fleet.note(r.Request.ID, func(t *trip) *time.Time { return &t.shown })
	if !isNew {
		return nil
	}
	go d.answer(from, r.Request, digest)
	return nil
}

// answer allows a request, until the line has taken that.
func (d *desk) answer(from remote.Peer, r interact.Request, digest string) {
	d.fleet.note(r.ID, func(t *trip) *time.Time { return &t.decided })
	a := remote.Answer{ID: r.ID, Digest: digest, Answer: interact.Answer{
		Outcome: api.Allowed, By: api.ByHuman, Scope: policy.Once, At: time.Now(),
		ShownSHA256: interact.Digest(r.Body.(interact.Approve).Input),
	}}
	for d.fleet.isUnder(r.ID) {
		ctx, cancel := context.WithTimeout(context.Background(), waits)
		_, err := d.line.Commit(ctx, from.Key, a)
		cancel()
		if !errors.Is(err, remote.ErrDown) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// note writes down when something happened to a request, and reports whether it did for the first time.
func (f *fleet) note(id interact.ID, field func(*trip) *time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.under[id]
	if t == nil || !field(t).IsZero() {
		return false
	}
	*field(t) = time.Now()
	return true
}

func (f *fleet) isUnder(id interact.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.under[id] != nil
}

// start makes all ends and has them run.
func (f *fleet) start(ctx context.Context, relays, desks int) error {
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.under = map[interact.ID]*trip{}
	log := slog.New(slog.DiscardHandler)
	for i := range desks {
		d := &desk{fleet: f, machines: map[remote.Key]bool{}}
		cfg, identity, err := f.end(fmt.Sprintf("desk%d", i))
		if err != nil {
			return err
		}
		d.identity = identity
		carrier := cluster.NewDesk(cfg, identity.Key(), d.paired, log)
		d.line = session.NewLine(identity, d, carrier, log, func() {})
		f.desks = append(f.desks, d)
	}
	for i := range relays {
		d := f.desks[i%desks]
		cfg, identity, err := f.end(fmt.Sprintf("relay%d", i))
		if err != nil {
			return err
		}
		d.machines[identity.Key()] = true
		r := &relay{over: map[interact.ID]chan interact.Answer{}}
		desks := []remote.Key{d.identity.Key()}
		carrier := cluster.NewRelay(cfg, identity.Key(), func() []remote.Key { return desks }, log)
		r.link = session.NewLink(identity, r, carrier, log)
		f.relays = append(f.relays, r)
	}
	for _, d := range f.desks {
		f.run(ctx, d.line)
	}
	for _, r := range f.relays {
		f.run(ctx, r.link)
		time.Sleep(time.Millisecond) // nobody starts 10,000 machines at the same moment
	}
	return nil
}

// end is how a new end reaches the cluster, and its keys.
func (f *fleet) end(name string) (config.NATS, *remote.Identity, error) {
	credentials, err := f.cluster.Account.User(name)
	if err != nil {
		return config.NATS{}, nil, err
	}
	identity, err := remote.NewIdentity()
	return config.NATS{URL: f.cluster.URL(), Credentials: credentials, CA: f.cluster.CA()}, identity, err
}

func (f *fleet) run(ctx context.Context, end interface{ Run(context.Context) error }) {
	go func() {
		if err := end.Run(ctx); err != nil {
			fmt.Println("an end cannot run:", err)
		}
	}()
}

// joined is how many relays have met their desk so far.
func (f *fleet) joined() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

// up is how many relays say that their link is up.
func (f *fleet) up() (n int) {
	for _, r := range f.relays {
		if r.link.State().Up {
			n++
		}
	}
	return n
}

// waits is how long a request waits for its answer.
const waits = 30 * time.Second

// got is what came of the requests of one rate.
type got struct {
	sync.Mutex
	asked, failed         int
	whole, prompt, answer sample.Times // from asking to the answer; to the prompt; from deciding to the answer
	took                  time.Duration
}

// late reports whether too few were answered, or too late to work with.
func (g *got) late() bool {
	return g.failed > g.asked/20 || g.whole.P99() > 5
}

func (g *got) slowest() (most time.Duration) {
	for _, d := range g.whole {
		most = max(most, d)
	}
	return most
}

// ask has relays ask at a rate, each moment another one, and waits for what is under way in the end.
func (f *fleet) ask(ctx context.Context, rate int, lasts time.Duration) *got {
	var g got
	var under sync.WaitGroup
	begin := time.Now()
	for next := begin; next.Sub(begin) < lasts && ctx.Err() == nil; next = next.Add(time.Second / time.Duration(rate)) {
		time.Sleep(time.Until(next)) // late ones come at once, so that the rate stays
		r := f.relays[rand.IntN(len(f.relays))]
		g.asked++
		under.Go(func() { f.one(ctx, r, &g) })
	}
	under.Wait()
	g.took = time.Since(begin)
	return &g
}

// one has a relay ask once.
func (f *fleet) one(ctx context.Context, r *relay, g *got) {
	request, id := aRequest()
	t := &trip{asked: time.Now()}
	f.mu.Lock()
	f.under[id] = t
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, waits)
	defer cancel()
	a, err := r.ask(ctx, request)
	now := time.Now()
	f.mu.Lock()
	delete(f.under, id)
	f.mu.Unlock()
	g.Lock()
	defer g.Unlock()
	if err != nil || a.Outcome != api.Allowed {
		g.failed++
		return
	}
	g.whole = append(g.whole, now.Sub(t.asked))
	g.prompt = append(g.prompt, t.shown.Sub(t.asked))
	g.answer = append(g.answer, now.Sub(t.decided))
}

// aRequest is one as an agent's: a command of about 300 bytes.
func aRequest() (interact.Request, interact.ID) {
	id := interact.ID(uuid.Must(uuid.NewV7()).String())
	command := slices.Repeat([]string{"go test ./..."}, 20)
	input, _ := json.Marshal(map[string]any{"command": fmt.Sprint(command, id)})
	now := time.Now()
	return interact.Request{
		ID: id, Requester: interact.Requester{Agent: "claude-code", CWD: "/home/somebody/project"},
		Created: now, Deadline: now.Add(waits), Until: now.Add(waits), Timeout: waits,
		Body: interact.Approve{Tool: "Bash", Input: input},
	}, id
}
