package jetstream

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"nod/interact"
	"nod/ipc/remote"
)

// attacker is somebody who may do all on the cluster, and has keys of nobody else's.
type attacker struct {
	t  *testing.T
	p  *place
	nc *nats.Conn
	me *remote.Identity
}

func newAttacker(t *testing.T, p *place) attacker {
	nc, err := nats.Connect(p.cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return attacker{t, p, nc, newIdentity(t)}
}

func (a attacker) send(message []byte, subject ...string) {
	a.t.Helper()
	if err := a.nc.Publish(a.p.cfg.subject(subject[0], subject[1:]...), message); err != nil {
		a.t.Fatal(err)
	}
}

func (a attacker) seal(by *remote.Identity, to remote.Key, kind remote.Kind, body any) []byte {
	a.t.Helper()
	message, err := by.Seal(to, kind, body)
	if err != nil {
		a.t.Fatal(err)
	}
	return message
}

// read waits until the line has read, and removed, all that was ever sent: n requests.
func (a attacker) read(n int) {
	a.t.Helper()
	until(a.t, "all is read", func() bool {
		s := stored(a.t, a.p.cfg.URL)
		return s.Msgs == 0 && s.LastSeq == uint64(n)
	})
}

func TestForgedRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	a := newAttacker(t, p)
	desk, machine := p.keys.Key(), p.machine.Key()
	real := asked{remote.Request{Request: newQuestion()}, remote.Hello{Name: "build"}, []remote.Key{desk}}
	other := func(change func(*asked)) asked {
		c := real
		c.Desks = slices.Clone(real.Desks)
		change(&c)
		return c
	}
	forged := map[string][]byte{
		"nothing":              nil,
		"noise":                []byte(`{"from":"X","box":"AAAA"}`),
		"signed by another":    a.seal(a.me, desk, remote.KindRequest, real),
		"of another kind":      a.seal(p.machine, desk, remote.KindHello, real),
		"for another":          a.seal(p.machine, a.me.Key(), remote.KindRequest, real),
		"by a desk":            a.seal(p.keys, desk, remote.KindRequest, real),
		"does not ask the one": a.seal(p.machine, desk, remote.KindRequest, other(func(c *asked) { c.Desks = nil })),
		"asks itself": a.seal(p.machine, desk, remote.KindRequest,
			other(func(c *asked) { c.Desks = append(c.Desks, machine) })),
		"asks no key": a.seal(p.machine, desk, remote.KindRequest,
			other(func(c *asked) { c.Desks = append(c.Desks, remote.Key{Sign: "X"}) })),
		"has a name that is a subject": a.seal(p.machine, desk, remote.KindRequest,
			other(func(c *asked) { c.Request.Request.ID = "a.>" })),
	}
	for _, message := range forged {
		a.send(message, sayRequest, desk.Sign, machine.Sign)
	}
	a.send(a.seal(p.machine, desk, remote.KindRequest, real), sayRequest, desk.Sign, a.me.Key().Sign)
	a.read(len(forged) + 1)
	none(t, p.desk.takes)
}

func TestRequestsComeOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	a := newAttacker(t, p)
	desk, machine := p.keys.Key(), p.machine.Key()
	recorded := make(chan []byte, 10)
	_, err := a.nc.Subscribe(p.cfg.subject(sayRequest, desk.Sign, machine.Sign), func(m *nats.Msg) { recorded <- m.Data })
	if err != nil {
		t.Fatal(err)
	}
	if err := a.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	asking := ask(t.Context(), p.link, newQuestion())
	message := next(t, recorded)
	a.send(message, sayRequest, desk.Sign, machine.Sign) // while it is open
	commit(t, p.line, machine, allow(next(t, p.desk.takes)))
	next(t, asking.answer)
	a.send(message, sayRequest, desk.Sign, machine.Sign) // when it has ended
	p.stop()
	line := NewLine(p.cfg, p.keys, p.desk, logger(t, "desk"))
	start(t, line.Run)
	a.send(message, sayRequest, desk.Sign, machine.Sign) // … and the desk has forgotten it
	a.read(4)
	none(t, p.desk.takes)
}

func TestForgedOutcomes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL()).start(t)
	a := newAttacker(t, p)
	machine := p.machine.Key()
	before := ask(t.Context(), p.link, newQuestion())
	earlier := allow(next(t, p.desk.takes))
	asking := ask(t.Context(), p.link, newQuestion())
	real := allow(next(t, p.desk.takes))
	real.Answer.Outcome = interact.Denied
	of := func(by *remote.Identity, kind remote.Kind, change func(*remote.Answer)) []byte {
		forged := real
		forged.Answer.Outcome = interact.Allowed
		change(&forged)
		text, err := json.Marshal(outcome{machine.Sign: a.seal(by, machine, kind, forged)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	same := func(*remote.Answer) {}
	for name, value := range map[string][]byte{
		"nothing":             nil,
		"noise":               []byte(`{"U":{"from":"x"}}`),
		"of a stranger":       of(a.me, remote.KindAnswer, same),
		"of another kind":     of(p.keys, remote.KindEnd, same),
		"of another request":  of(p.keys, remote.KindAnswer, func(f *remote.Answer) { f.ID = earlier.ID }),
		"of another digest":   of(p.keys, remote.KindAnswer, func(f *remote.Answer) { f.Digest = earlier.Digest }),
		"of the machine's as": of(p.machine, remote.KindAnswer, same),
	} {
		t.Log(name)
		a.send(value, sayOutcome, machine.Sign, string(real.ID))
		if err := a.nc.Publish("$KV.nod_outcomes."+machine.Sign+"."+string(real.ID), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.link.look()
	if got := commit(t, p.line, machine, real); got.Outcome != interact.Denied {
		t.Errorf("%+v counts", got)
	}
	if got := next(t, asking.answer); got.Outcome != interact.Denied {
		t.Errorf("%+v", got)
	}
	commit(t, p.line, machine, earlier)
	if got := next(t, before.answer); got.Outcome != interact.Allowed {
		t.Errorf("%+v", got)
	}
	none(t, p.desk.ends)
	wrong := allow(remote.Request{Request: newQuestion()})
	if _, err := p.line.Commit(t.Context(), machine, wrong); err == nil {
		t.Error("an answer to nothing counts")
	}
}

func TestForgedWords(t *testing.T) {
	t.Parallel()
	p := newPlace(t, startServer(t).ClientURL())
	a := newAttacker(t, p)
	desk, machine := p.keys.Key(), p.machine.Key()
	recorded := make(chan []byte, 10)
	_, err := a.nc.Subscribe(p.cfg.subject(sayHello, desk.Sign, machine.Sign), func(m *nats.Msg) { recorded <- m.Data })
	if err != nil {
		t.Fatal(err)
	}
	if err := a.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	until(t, "the desk is there", func() bool { return p.link.State().Up })
	p.stopLink()
	next(t, p.desk.leaves)
	for len(p.desk.joins) > 0 {
		<-p.desk.joins
	}
	for len(recorded) > 0 {
		a.send(<-recorded, sayHello, desk.Sign, machine.Sign)
	}
	a.send(a.seal(a.me, desk, kindGreeting, greeting{Nonce: "n"}), sayHello, desk.Sign, machine.Sign)
	a.send(a.seal(a.me, machine, remote.KindForget, told{}), sayForget, machine.Sign, desk.Sign)
	a.send(a.seal(a.me, machine, remote.KindPolicy, remote.Policy{Serial: 9}), sayPolicy, machine.Sign, desk.Sign)
	records := told{Records: []interact.Record{{Request: newQuestion()}}}
	a.send(a.seal(a.me, desk, remote.KindRecords, records), sayRecords, desk.Sign, machine.Sign)

	// Where a message wants its receipt may be where only the desk may write.
	trap := make(chan []byte, 1)
	if _, err := a.nc.Subscribe("nod.elsewhere", func(m *nats.Msg) { trap <- m.Data }); err != nil {
		t.Fatal(err)
	}
	message := a.seal(a.me, desk, kindGreeting, greeting{Nonce: "n"})
	subject := p.cfg.subject(sayHello, desk.Sign, a.me.Key().Sign)
	if err := a.nc.PublishRequest(subject, "nod.elsewhere", message); err != nil {
		t.Fatal(err)
	}
	inbox := p.cfg.subject(sayInbox, a.me.Key().Sign) + ".1"
	answers, err := a.nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.nc.PublishRequest(subject, inbox, message); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.NextMsg(soon); err != nil { // so all before it was read
		t.Fatal(err)
	}
	none(t, trap)
	none(t, p.desk.joins)
	none(t, p.desk.records)
	none(t, p.relay.forgets)
	none(t, p.relay.policies)
}

func TestStrangersAreFew(t *testing.T) {
	t.Parallel()
	d := newDesk()
	l := NewLine(Config{}, newIdentity(t), d, logger(t, "desk"))
	heard := 0
	for range 3 * maxStrangers {
		if word, _ := l.words(newIdentity(t).Key(), ""); word != "" {
			heard++
		}
	}
	if heard != maxStrangers || len(l.machines) != maxStrangers {
		t.Errorf("%d were answered, %d are kept", heard, len(l.machines))
	}
	for _, m := range l.machines {
		m.seen = time.Now().Add(-away)
	}
	l.sweep()
	if len(l.machines) != 0 {
		t.Errorf("%d stay", len(l.machines))
	}
}
