package journal_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy/config"
)

// BenchmarkDo is a call that passes unasked, with a journal in memory and with this one: what the longest of them took,
// too.
func BenchmarkDo(b *testing.B) {
	dir := b.TempDir()
	policy, err := config.Open(filepath.Join(dir, "config.yaml"), filepath.Join(dir, "grants.json"), nil)
	must(b, err)
	r := interact.Request{
		Requester: interact.Requester{Agent: "claude-code", Session: "s", CWD: dir},
		Body: interact.Approve{Tool: "Read", Input: json.RawMessage(
			`{"file_path":"` + dir + `/README.md","offset":100,"limit":200}`)},
	}
	journals := map[string]interact.Journal{"memory": new(interacttest.Journal), "file": healthy(b, file(b))}
	for name, journal := range journals {
		b.Run(name, func(b *testing.B) {
			broker := interact.NewBroker(interact.BrokerConfig{
				Policy: policy, Prompter: &interacttest.Prompter{}, Notify: interacttest.Notify, Journal: journal,
				Log: slog.New(slog.DiscardHandler), Timeout: policy.Timeout,
			})
			defer broker.Close()
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				if a, err := broker.Do(b.Context(), r); err != nil || a.Outcome != api.Allowed {
					b.Fatal(a, err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkSettle is what one entry costs when so many callers come at once.
func BenchmarkSettle(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			j := healthy(b, file(b))
			var n atomic.Int64
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for i := int(n.Add(1)); i <= b.N; i = int(n.Add(1)) {
						if err := j.Settle(b.Context(), settled(approval(i), api.Allowed)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}
