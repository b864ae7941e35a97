//go:build unix

package jetstream_test

import (
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// overhear has somebody with all rights on the cluster listen from now on. What it returns is all that was sent so far.
func (w *world) overhear() (heard func() []*nats.Msg) {
	var mu sync.Mutex
	var all []*nats.Msg
	for _, subject := range []string{w.prefix + ".>", "$KV." + w.prefix + "_outcomes.>"} {
		s, err := w.cluster.JetStream().Conn().Subscribe(subject, func(m *nats.Msg) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, m)
		})
		w.must(err)
		w.Cleanup(func() { _ = s.Unsubscribe() })
	}
	w.must(w.cluster.JetStream().Conn().Flush())
	return func() []*nats.Msg {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// meddle sends one of the messages again: where it was, cut short, or where another one was. Every other time it puts
// an old outcome where that of a request belongs which desks still show.
func (w *world) meddle(heard []*nats.Msg) {
	one, other := heard[w.random.IntN(len(heard))], heard[w.random.IntN(len(heard))]
	forged := &nats.Msg{Subject: one.Subject, Data: one.Data, Header: nats.Header{}}
	if strings.HasPrefix(other.Reply, w.prefix+".") {
		forged.Reply = other.Reply
	}
	switch w.random.IntN(6) {
	case 0: // where it was
	case 1:
		forged.Data = one.Data[:w.random.IntN(len(one.Data)+1)]
	case 2:
		forged.Data = other.Data
	default:
		if !w.plant(forged, heard) {
			return
		}
	}
	if isOutcome(forged) && !w.mayDisagree {
		forged.Header.Set(js.ExpectedLastSubjSeqHeader, "0") // only where there is none yet
	}
	w.must(w.cluster.JetStream().Conn().PublishMsg(forged))
}

func isOutcome(m *nats.Msg) bool { return strings.HasPrefix(m.Subject, "$KV.") }

// plant makes m an outcome that was heard, in the place of that of a request which a desk shows now. It reports whether
// there are both.
func (w *world) plant(m *nats.Msg, heard []*nats.Msg) bool {
	heard = slices.DeleteFunc(slices.Clone(heard), func(m *nats.Msg) bool { return !isOutcome(m) })
	if len(heard) == 0 {
		return false
	}
	old := heard[w.random.IntN(len(heard))]
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range slices.Backward(w.events) {
		if _, isOver := w.outcomes[e.ID]; e.Kind == isShown && !isOver {
			m.Data = old.Data
			m.Subject = old.Subject[:strings.LastIndex(old.Subject, ".")+1] + string(e.ID)
			return true
		}
	}
	return false
}
