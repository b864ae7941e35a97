package jetstream

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkRoundTrip measures what a NATS server on the same machine adds: from the ask to the desk, and from the
// desk's answer to the agent.
func BenchmarkRoundTrip(b *testing.B) {
	p := newPlace(b, startServer(b).ClientURL()).start(b)
	until(b, "the desk is there", func() bool { return p.link.State().Up })
	var there, back []time.Duration
	for b.Loop() {
		if n := len(there); n > 0 && n%(maxWaiting/2) == 0 { // a person is slower than to fill the stream
			b.StopTimer()
			until(b, "there is place", func() bool { return stored(b, p.cfg.URL).Msgs == 0 })
			b.StartTimer()
		}
		begun := time.Now()
		a := ask(b.Context(), p.link, newQuestion())
		taken := allow(next(b, p.desk.takes))
		there = append(there, time.Since(begun))
		begun = time.Now()
		committed := make(chan error, 1)
		go func() {
			_, err := p.line.Commit(b.Context(), p.machine.Key(), taken)
			committed <- err
		}()
		next(b, a.answer)
		back = append(back, time.Since(begun))
		if err := next(b, committed); err != nil {
			b.Fatal(err)
		}
	}
	for name, took := range map[string][]time.Duration{"there": there, "back": back} {
		slices.Sort(took)
		for _, percent := range []int{50, 99} {
			at := took[len(took)*percent/100]
			b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("ms-%s-p%d", name, percent))
		}
	}
}
