package ipc

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/peer"
	"nod/policy"
)

// As many requests as there may be wait, each with its caller and one who polls for its answer. Whoever comes then is
// told to come back, what needs nobody goes on, and when all have ended nothing of them is left: however often.
func TestFullLoad(t *testing.T) {
	d := openQuiet(t)
	d.policy.Set("Read", policy.Allow)
	var heaps []uint64
	var goroutines []int
	for range 5 {
		d.fullLoad()
		d.socket.CloseIdleConnections()
		heaps, goroutines = append(heaps, heapInUse()), append(goroutines, runtime.NumGoroutine())
	}
	t.Logf("heap in use, in KiB: %v; goroutines: %v", heaps, goroutines)
	// Two rounds fill what is kept of the finished.
	if early, late := slices.Max(heaps[1:3]), slices.Min(heaps[3:]); late > early+early/10 {
		t.Errorf("the heap grows: %v", heaps)
	}
	if early, late := slices.Max(goroutines[:3]), slices.Min(goroutines[3:]); late > early+50 {
		t.Errorf("goroutines are left: %v", goroutines)
	}
}

// heapInUse is what is in use, in KiB, once all that nobody needs is gone.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what the first only made ready
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 10
}

// patientHuman is one who never answers, and forgets.
type patientHuman struct{}

// Prompt implements [interact.Prompter].
func (patientHuman) Prompt(ctx context.Context, _ interact.Request, _ policy.Decision) (interact.Answer, error) {
	<-ctx.Done()
	return interact.Answer{}, ctx.Err()
}

// blankJournal keeps nothing.
type blankJournal struct{}

func (blankJournal) Open(context.Context, interact.Record) error   { return nil }
func (blankJournal) Update(context.Context, interact.Record) error { return nil }
func (blankJournal) Settle(context.Context, interact.Record) error { return nil }

// openQuiet is open without what remembers all that happens: log, human and journal.
func openQuiet(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{t: t, policy: &interacttest.Policy{}}
	d.broker = interacttest.Broker(patientHuman{}, d.policy, func(c *interact.BrokerConfig) {
		c.Journal, c.Processes = blankJournal{}, peer.Table{}
	})
	server, err := Listen(Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(t.TempDir(), "nod"), Broker: d.broker, Version: "1",
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.http.ReadHeaderTimeout = time.Minute // of many who call at once, each is slow on a busy machine
	d.endpoint = server.Endpoint()
	d.socket = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.endpoint.Socket)
		},
	}}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() {
		d.broker.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return d
}

// fullLoad has as many wait as may, and end.
func (d *fixture) fullLoad() {
	const agents = interact.MaxPending / interact.MaxPendingPerRequester
	d.t.Helper()
	changed, stop := d.broker.Changes()
	defer stop()
	var waits sync.WaitGroup
	for i := range interact.MaxPending {
		waits.Go(func() {
			body := fmt.Sprintf(`{"question":"Which of %d?","agent":"agent %d"}`, i, i%agents)
			if g := d.do(d.request("POST", "/v1/ask", body)); g.body["outcome"] != "withdrawn" {
				d.t.Errorf("a caller has %s", g.text)
			}
		})
	}
	for len(d.broker.Pending()) < interact.MaxPending {
		<-changed
	}
	pending := d.broker.Pending()
	var polls sync.WaitGroup
	for _, r := range pending {
		polls.Add(1)
		waits.Go(func() {
			request := d.request("GET", fmt.Sprintf("/v1/requests/%s?wait=60", r.ID), "")
			polls.Done()
			if g := d.do(request); g.body["status"] != "withdrawn" {
				d.t.Errorf("a poller has %s", g.text)
			}
		})
	}
	polls.Wait()
	for _, agent := range []string{"agent 0", "another"} {
		g := d.post("/v1/ask", fmt.Sprintf(`{"question":"One more?","agent":%q}`, agent))
		g.want(d.t, 429, map[string]any{"code": "RATE_LIMITED"})
		if g.header.Get("Retry-After") == "" {
			d.t.Error("nobody says when to come back")
		}
	}
	d.post("/v1/approve", `{"tool":"Read","input":{}}`).want(d.t, 200, map[string]any{"decision": "allow"})
	d.get("/v1/health").want(d.t, 200, map[string]any{"pending": float64(interact.MaxPending)})
	for _, r := range pending {
		d.do(d.request("DELETE", "/v1/requests/"+string(r.ID), "")).want(d.t, 200, map[string]any{"status": "withdrawn"})
	}
	waits.Wait()
}
