//go:build unix

package cluster_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"

	"nod/api"
	"nod/e2e/clustertest"
	"nod/interact"
)

var (
	rounds = flag.Int("rounds", 1, "how often each failure happens, at another moment each time")
	seed   = flag.Uint64("seed", 13, "of the moments")
)

// failures is what may break, with what the machine's agents must not notice but by waiting. Each returns how long it
// took, since all was well again or since the others had to do without, until a request was answered.
var failures = []struct {
	name  string
	desks int
	fail  func(*world) time.Duration
}{
	{"node killed", 1, nodeKilled},
	{"network cut between relay and cluster", 1, networkCut},
	{"desk asleep", 2, deskAsleep},
	{"desk killed between answer and acknowledgement", 1, deskKilled},
	{"two desks at once", 2, twoDesks},
	{"replayed and re-ordered messages", 2, replayed},
	{"credentials revoked", 1, credentialsRevoked},
}

// TestFailures breaks what connects a machine with its desks, and sees that each request has exactly one outcome, that
// no agent hears of an allow that nobody had decided, and that everybody hears the same. How long it takes to recover
// is measured only. More rounds: make failures.
func TestFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster and its failures take a minute")
	}
	c := clustertest.New(t, clustertest.Options{Auth: true, TLS: true})
	took := map[string][]time.Duration{}
	for round := range *rounds {
		for i, f := range failures {
			random := rand.New(rand.NewPCG(*seed, uint64(round)<<8|uint64(i)))
			t.Run(fmt.Sprintf("%s/%d", f.name, round), func(t *testing.T) {
				w := newWorld(t, c, random, f.desks)
				d := f.fail(w)
				if !t.Failed() {
					took[f.name] = append(took[f.name], d)
				}
			})
		}
	}
	report(t, took)
}

// TestLeafNode has a machine ask by a leaf node, which is all that it reaches, and desks that are at the cluster.
func TestLeafNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	c := clustertest.New(t, clustertest.Options{Auth: true, TLS: true})
	w := newWorld(t, c, rand.New(rand.NewPCG(*seed, 0)), 2)
	w.machine.url = c.Leaf(t)
	w.begin(100 * time.Millisecond)
	w.ask(10, time.Second)
	w.settle(0, 1)
}

// report logs how long each failure took to recover from.
func report(t *testing.T, took map[string][]time.Duration) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "rounds\tmedian\tlongest\t failure\t")
	for _, f := range failures {
		all := slices.Sorted(slices.Values(took[f.name]))
		if len(all) == 0 {
			continue
		}
		fmt.Fprintf(table, "%d\t%v\t%v\t %s\t\n", len(all), all[len(all)/2].Round(time.Millisecond),
			all[len(all)-1].Round(time.Millisecond), f.name)
	}
	_ = table.Flush()
	t.Logf("until a request was answered again:\n%s", text.String())
}

// begin has everybody there, and one request answered.
func (w *world) begin(think time.Duration) {
	w.Helper()
	w.startMachine()
	for i := range w.desks {
		w.desks[i].Think = think
		w.startDesk(i)
	}
	w.probe(time.Now())
	if w.Failed() {
		w.FailNow()
	}
}

// must ends the test where a failure cannot even be brought about.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// nodeKilled kills a node, which the machine or the desk may be connected with.
func nodeKilled(w *world) time.Duration {
	w.begin(300 * time.Millisecond)
	node := w.random.IntN(3)
	w.ask(8, time.Second)
	w.pause(w.upTo(time.Second))
	w.cluster.Kill(node)
	took := w.probe(time.Now())
	w.ask(4, 0)
	w.settle(0)
	w.must(w.cluster.Restart(node))
	w.must(w.cluster.Ready(w.ctx))
	return took
}

// networkCut has nothing come through between the machine and the cluster, or ends its connection, or both.
func networkCut(w *world) time.Duration {
	w.begin(300 * time.Millisecond)
	w.ask(8, time.Second)
	w.pause(w.upTo(time.Second))
	path := w.machine.path
	path.Cut()
	w.ask(4, time.Second)
	w.pause(w.upTo(2 * time.Second))
	if w.random.IntN(2) == 0 {
		path.Drop()
	}
	path.Heal()
	took := w.probe(time.Now())
	w.settle(0)
	return took
}

// deskAsleep has all desks asleep, and then only one awake.
func deskAsleep(w *world) time.Duration {
	w.begin(300 * time.Millisecond)
	w.ask(8, time.Second)
	w.pause(w.upTo(time.Second))
	for _, d := range w.desks {
		w.must(d.sleep())
	}
	w.ask(4, time.Second)
	w.pause(w.upTo(2 * time.Second))
	early := w.random.IntN(2)
	w.must(w.desks[early].wakeUp())
	took := w.probe(time.Now())
	w.asking.Wait()
	w.must(w.desks[1-early].wakeUp())
	w.settle(0, 1)
	return took
}

// deskKilled kills a desk just after its user has said yes, before or after anybody else can know. Who sits there
// next says no to everything.
func deskKilled(w *world) time.Duration {
	w.desks[0].Says = api.Allowed
	w.begin(100 * time.Millisecond)
	w.mu.Lock()
	before := len(w.events)
	w.mu.Unlock()
	w.ask(6, 50*time.Millisecond)
	w.await("the user has decided", func() bool {
		return slices.ContainsFunc(w.events[before:], func(e event) bool { return e.Kind == isDecided })
	})
	switch w.random.IntN(3) {
	case 0: // the answer has left the desk, and nothing comes back
		w.desks[0].path.Cut()
		w.pause(w.upTo(20 * time.Millisecond))
	case 1:
		w.pause(w.upTo(20 * time.Millisecond))
	}
	w.desks[0].kill()
	w.desks[0].path.Heal()
	w.desks[0].Says = api.Denied
	w.mu.Lock()
	w.desks[0].pending = 0
	w.mu.Unlock()
	began := time.Now()
	w.startDesk(0)
	took := w.probe(began)
	w.settle(0)
	return took
}

// twoDesks has two people answer everything at the same moment, one always yes, the other always no.
func twoDesks(w *world) time.Duration {
	w.desks[0].Says, w.desks[1].Says = api.Allowed, api.Denied
	w.begin(3 * time.Millisecond)
	w.ask(interact.MaxPendingPerRequester-4, 2*time.Second) // also where answers take longer than that
	took := w.probe(time.Now())
	w.settle(0, 1)
	return took
}

// replayed has somebody with all rights on the cluster send again what was sent, elsewhere and in another order. That
// may end a connection, and no more.
func replayed(w *world) time.Duration {
	overheard := w.overhear()
	w.begin(300 * time.Millisecond)
	w.ask(10, time.Second)
	took := w.probe(time.Now())
	for range 3 {
		w.ask(4, 500*time.Millisecond)
		for range 20 {
			w.meddle(overheard())
			w.pause(w.upTo(30 * time.Millisecond))
		}
	}
	w.settle(0, 1)
	return took
}

// overhear has somebody with all rights on the cluster listen from now on. What it returns is all that was sent so far.
func (w *world) overhear() (heard func() []*nats.Msg) {
	var mu sync.Mutex
	var all []*nats.Msg
	s, err := w.cluster.Admin().Subscribe(w.prefix+".>", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
	})
	w.must(err)
	w.Cleanup(func() { _ = s.Unsubscribe() })
	w.must(w.cluster.Admin().Flush())
	return func() []*nats.Msg {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// meddle sends one of the messages again: where it was, cut short, or where another one was.
func (w *world) meddle(heard []*nats.Msg) {
	one, other := heard[w.random.IntN(len(heard))], heard[w.random.IntN(len(heard))]
	forged := &nats.Msg{Subject: one.Subject, Reply: one.Reply, Data: one.Data}
	switch w.random.IntN(3) {
	case 0: // where it was
	case 1:
		forged.Data = one.Data[:w.random.IntN(len(one.Data)+1)]
	default:
		forged.Data = other.Data
	}
	w.must(w.cluster.Admin().PublishMsg(forged))
}

// credentialsRevoked takes the machine's credentials away, and later puts new ones into its file.
func credentialsRevoked(w *world) time.Duration {
	w.begin(300 * time.Millisecond)
	w.ask(4, 500*time.Millisecond)
	w.pause(w.upTo(500 * time.Millisecond))
	w.must(w.cluster.Account.Revoke(w.ctx, w.machine.user))
	w.ask(4, 500*time.Millisecond)
	for s := w.machine.link.State(); s.Up || !strings.Contains(s.Problem, "refuses"); s = w.machine.link.State() {
		if w.ctx.Err() != nil {
			w.Fatalf("the link's state says nothing of refused credentials: %+v", s)
		}
		w.pause(10 * time.Millisecond)
	}
	w.pause(w.upTo(time.Second))
	_, err := w.cluster.Account.User(w.machine.user)
	w.must(err)
	took := w.probe(time.Now())
	w.settle(0)
	return took
}
