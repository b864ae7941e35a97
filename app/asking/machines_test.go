package asking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/policy"
	"nod/policy/config"
)

// fakeLine is a line to machines whose relays count the first answer to each request, as a relay does.
type fakeLine struct {
	desk remote.Desk

	mu      sync.Mutex
	down    bool
	counted map[interact.ID]interact.Answer
	tried   int           // answers that came, counted or not
	lost    int           // acknowledgements that are still to be lost
	takes   time.Duration // from when an answer counts until the desk knows
	fails   error
	greeted int
	dropped []remote.Key
	forgot  []remote.Key
}

func (l *fakeLine) Run(ctx context.Context) error { <-ctx.Done(); return nil }

func (l *fakeLine) Commit(ctx context.Context, _ remote.Key, a remote.Answer) (interact.Answer, error) {
	counts, err := l.count(a)
	select {
	case <-time.After(l.takes):
		return counts, err
	case <-ctx.Done():
		return interact.Answer{}, fmt.Errorf("%w: %w", remote.ErrDown, ctx.Err())
	}
}

func (l *fakeLine) count(a remote.Answer) (interact.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried++
	if l.fails != nil {
		return interact.Answer{}, l.fails
	}
	if l.down {
		return interact.Answer{}, fmt.Errorf("ssh ended: %w", remote.ErrDown)
	}
	if _, isCounted := l.counted[a.ID]; !isCounted {
		l.counted[a.ID] = a.Answer
	}
	if l.lost > 0 {
		l.lost--
		return interact.Answer{}, remote.ErrDown
	}
	return l.counted[a.ID], nil
}

func (l *fakeLine) Greet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.greeted++
}

func (l *fakeLine) Forget(_ context.Context, machine remote.Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgot = append(l.forgot, machine)
	return l.fails
}

func (l *fakeLine) Drop(machine remote.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped = append(l.dropped, machine)
}

func (l *fakeLine) State(remote.Key) remote.State { return remote.State{Up: true} }

func (l *fakeLine) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// pairedDesk is a desk with one line, and a machine that is paired.
type pairedDesk struct {
	t        *testing.T
	m        *machines
	line     *fakeLine
	journal  *deskJournal
	human    *interacttest.Prompter
	presence gate
	web      remote.Peer
	policy   policy.Policy
	said     []string
}

// deskJournal is a journal that says what it has recorded already, and keeps drafts.
type deskJournal struct {
	*interacttest.Journal
	record func(interact.Record) error // in place of Settle; nil: none
	drafts map[interact.ID]string
}

func (j *deskJournal) Settle(ctx context.Context, r interact.Record) error {
	if j.record != nil {
		return j.record(r)
	}
	if j.IsSettled(r.Request.ID) {
		return interact.ErrSettled
	}
	return j.Journal.Settle(ctx, r)
}

func (j *deskJournal) SaveDraft(_ context.Context, id interact.ID, draft []byte) error {
	j.drafts[id] = string(draft)
	return nil
}

const keptADay = testHistory / historyShare

// testHistory is how large the history may be: machines add up to its twentieth a day, by reports and by requests.
const testHistory = 200 << 20

var webLine = config.Machine{Kind: config.MachineSSH, Host: "web"}

func newPairedDesk(t *testing.T, human *interacttest.Prompter) *pairedDesk {
	d := &pairedDesk{
		t: t, human: human, policy: policy.Default(),
		journal: &deskJournal{Journal: new(interacttest.Journal), drafts: map[interact.ID]string{}},
		line:    &fakeLine{counted: map[interact.ID]interact.Answer{}},
	}
	d.presence = newGate(human, func() {})
	peers := book.Open(filepath.Join(t.TempDir(), "peers.json"), []byte("seal"))
	d.web = remote.Peer{Name: "web", Role: remote.RoleMachine, Key: newKey(t)}
	if err := peers.Add(d.web); err != nil {
		t.Fatal(err)
	}
	d.m = newMachines(machinesConfig{
		log: slog.New(slog.DiscardHandler), name: "desk-1", book: peers, journal: d.journal,
		prompter: d.presence, silences: d.presence.silences,
		notify:  func(context.Context, interact.Request) bool { return true },
		policy:  func() remote.Policy { return remote.Policy{Policy: d.policy.Clone()} },
		history: func() int64 { return testHistory },
		say:     func(_ string, sentence string) { d.said = append(d.said, sentence) },
		dial: func(_ lineSpec, desk remote.Desk) (remote.Line, error) {
			d.line.desk = desk
			return d.line, nil
		},
	})
	d.m.keepLines(t.Context(), []lineSpec{{machine: webLine}})
	if _, err := d.line.desk.Join(d.web.Key, remote.Hello{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	return d
}

// restart starts nod anew after it was killed: with that journal, and with a user who answers so.
func (d *pairedDesk) restart(a interact.Answer) {
	d.t.Helper()
	open, last := d.journal.Left()
	d.journal.Journal = interacttest.JournalOf(open, last)
	d.m = newMachines(d.m.machinesConfig)
	d.m.prompter = newGate(saying(time.Second, a), func() {})
	for _, r := range last {
		d.m.hasEnded(r.Request.ID)
	}
	for _, r := range open {
		d.m.restore(r)
	}
	d.m.keepLines(d.t.Context(), []lineSpec{{machine: webLine}})
}

func (d *pairedDesk) peers() *Desk { return &Desk{book: d.m.book, machines: d.m} }

func (d *pairedDesk) join() {
	d.t.Helper()
	if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

func newKey(t *testing.T) remote.Key {
	t.Helper()
	id, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return id.Key()
}

// call is a request as a relay sends it.
func call(left time.Duration) remote.Request {
	id, _ := uuid.NewV7()
	return remote.Request{Times: interact.Times{Left: left, Patient: left}, Request: interact.Request{
		ID: interact.ID(id.String()),
		Requester: interact.Requester{
			Agent: "codex", Session: "s", Process: api.Process{PID: 1, UID: 7, Exe: "/bin/codex"},
		},
		Body:     interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"command":"make <all>"}`)},
		Reported: &interact.Reported{Why: policy.Decision{Effect: policy.Ask, Class: policy.Execute}},
	}}
}

// send has a request arrive.
func (d *pairedDesk) send(from remote.Peer, r remote.Request) error {
	sent, err := remote.NewRequest(r.Request)
	if err != nil {
		return err
	}
	sent.Times = r.Times
	return d.line.desk.Take(from, sent)
}

func (d *pairedDesk) take(r remote.Request) {
	d.t.Helper()
	if err := d.send(d.web, r); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

// outcomes lists what the journal has come of requests.
func (d *pairedDesk) outcomes() []interact.Record {
	_, settled := d.journal.Left()
	return settled
}

// came is the one outcome that there is.
func (d *pairedDesk) came() interact.Record {
	d.t.Helper()
	all := d.outcomes()
	if len(all) != 1 || d.journal.Err() != nil {
		d.t.Fatalf("%d outcomes, %v: %+v", len(all), d.journal.Err(), all)
	}
	return all[0]
}

func saying(delay time.Duration, a interact.Answer) *interacttest.Prompter {
	return &interacttest.Prompter{Delay: delay, Answer: interacttest.Always(a)}
}

var yesOnce = interact.Answer{
	Outcome: api.Allowed, Scope: policy.Once, Shown: interact.Shown{Facts: []string{"a fact"}},
}

// inDesk runs a test in a bubble with a desk whose user says that after a second.
func inDesk(t *testing.T, a interact.Answer, test func(*testing.T, *pairedDesk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newPairedDesk(t, saying(time.Second, a))
		defer func() { d.m.Close() }()
		test(t, d)
	})
}

func TestMachineIsAnswered(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		r := call(time.Minute)
		r.Request.Requester.IsAgent = true // by its relay's word
		d.take(r)
		d.take(r) // a line may send it again
		pending := d.m.pending()
		if len(pending) != 1 || !pending[0].Requester.IsAgent || pending[0].Requester.Machine != "web" ||
			pending[0].ID == r.Request.ID {
			t.Fatalf("%+v", pending)
		}
		if open := d.m.Open(d.web); !slices.Equal(open, []interact.ID{r.Request.ID}) {
			t.Errorf("open: %v", open)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		a := d.line.counted[r.Request.ID]
		if a.Outcome != api.Allowed || a.By != api.ByHuman || a.Device != "desk-1" ||
			a.ShownSHA256 != interact.Digest(r.Request.Body.(interact.Approve).Input) || len(a.Shown.Facts) > 0 {
			t.Errorf("the machine was told %+v", a)
		}
		got := d.came()
		if got.Answer.Outcome != api.Allowed || got.Answer.By != api.ByHuman || got.Answer.Device != "" ||
			len(got.Answer.Shown.Facts) == 0 || got.Request.Requester.Machine != "web" || got.Request.ID != pending[0].ID ||
			got.Answer.ShownSHA256 != a.ShownSHA256 || got.Answer.At.IsZero() || got.Sent.Outcome != "" {
			t.Errorf("the journal has %+v", got)
		}
		d.take(r) // late
		if len(d.m.pending()) != 0 || len(d.m.Open(d.web)) != 0 || d.line.tried != 1 {
			t.Errorf("asked again: %v, %d answers", d.m.pending(), d.line.tried)
		}
	})
}

// What the user says counts only once the machine has taken it.
func TestAnswerWaitsForItsMachine(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.line.down = true
		d.take(call(time.Minute))
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if n := len(d.outcomes()); n != 0 || d.line.tried < 3 || d.line.tried > 20 {
			t.Fatalf("%d outcomes after %d tries", n, d.line.tried)
		}
		d.line.set(func() { d.line.down = false })
		if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // and no time goes by
		if got := d.came(); got.Answer.Outcome != api.Allowed || len(d.line.counted) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// An answer that never arrives allows nothing, and the user hears of it.
func TestAnswerThatNeverArrives(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.line.down = true
		d.take(call(time.Minute))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := d.came(); got.Answer.Outcome != api.TimedOut || len(d.line.counted) != 0 {
			t.Errorf("%+v", got)
		}
		if len(d.said) != 1 || !strings.Contains(d.said[0], "did not reach web") {
			t.Errorf("said %q", d.said)
		}
	})
}

func TestMachineThatRefusesAnAnswer(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.line.fails = errors.New("refused")
		d.take(call(time.Minute))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := d.came(); got.Answer.Outcome != api.Unavailable || d.line.tried != 1 || len(d.said) != 1 {
			t.Errorf("%+v, %d tries, said %q", got, d.line.tried, d.said)
		}
	})
}

// What counts is what the machine says, not what the user here said.
func TestWhatCameFirst(t *testing.T) {
	other := interact.Answer{Outcome: api.Denied, By: api.ByHuman, Device: "desk-2", Reason: "in their words"}
	for name, tt := range map[string]struct {
		first   interact.Answer
		outcome api.Outcome
		device  string
	}{
		"another desk": {other, api.Withdrawn, ""},
		"a desk without a name": {interact.Answer{Outcome: api.Denied, By: api.ByHuman, Device: "\u202ea\n"},
			api.Withdrawn, ""},
		"its time was over": {interact.Answer{Outcome: api.TimedOut, By: api.ByTimeout}, api.TimedOut, ""},
		"its caller went":   {interact.Answer{Outcome: api.Cancelled}, api.Cancelled, ""},
		"its policy": {interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Rule: "r"},
			api.Withdrawn, ""},
		"a word for this desk": {interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Device: "desk-1"},
			api.Withdrawn, ""},
		"nothing": {interact.Answer{}, api.Withdrawn, ""},
		"what was said on a phone": {interact.Answer{
			Outcome: api.Withdrawn, By: api.ByHuman, Device: "Phone one", Reason: reasonRevoked,
		}, api.Withdrawn, ""},
		"what nobody said here": {interact.Answer{
			Outcome: api.Denied, By: api.ByHuman, Device: "desk-1", Reason: "in their words",
		}, api.Withdrawn, ""},
	} {
		for _, sooner := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sooner %v", name, sooner), func(t *testing.T) {
				inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
					r := call(time.Minute)
					d.line.counted[r.Request.ID] = tt.first
					d.take(r)
					if sooner { // before the user has said anything
						d.line.desk.End(d.web, remote.Answer{ID: r.Request.ID, Answer: tt.first})
					}
					time.Sleep(2 * time.Second)
					synctest.Wait()
					got := d.came().Answer
					if got.Outcome != tt.outcome || got.Device != tt.device || got.By == api.ByHuman ||
						strings.Contains(got.Reason, "their words") || got.Reason == reasonRevoked {
						t.Errorf("%+v", got)
					}
					if sooner && d.line.tried != 0 {
						t.Error("an answer went out all the same")
					}
				})
			})
		}
	}
}

// The desk is killed after the machine has taken an answer, and before the desk knows: the next one records that
// answer, and asks nobody again.
func TestDeskKilledBetweenAnswerAndJournal(t *testing.T) {
	for _, isTold := range []bool{false, true} {
		inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
			d.line.lost = 1000 // acknowledgements
			r := call(time.Minute)
			d.take(r)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if d.line.counted[r.Request.ID].Outcome != api.Allowed || len(d.outcomes()) != 0 || len(d.m.pending()) != 0 {
				t.Fatalf("%+v, %+v", d.line.counted, d.outcomes())
			}
			killed := d.m
			killed.mu.Lock()
			killed.lines, killed.online = nil, nil // it reaches nobody any more
			killed.mu.Unlock()
			d.line.down = true
			d.restart(interact.Answer{Outcome: api.Denied})
			synctest.Wait()
			if ids := d.m.Open(d.web); !slices.Equal(ids, []interact.ID{r.Request.ID}) || len(d.m.pending()) != 0 {
				t.Fatalf("open: %v", ids)
			}
			d.line.set(func() { d.line.down, d.line.lost = false, 0 })
			d.join()
			if isTold { // how it ended
				d.line.desk.End(d.web, remote.Answer{ID: r.Request.ID, Answer: d.line.counted[r.Request.ID]})
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := d.came(); got.Answer.Outcome != api.Allowed || got.Answer.By != api.ByHuman ||
				got.Answer.Device != "" || got.Request.IdempotencyKey != "" || got.Sent.Outcome != "" {
				t.Errorf("%+v", got)
			}
			d.take(r) // late
			if len(d.m.pending()) != 0 {
				t.Error("asked again")
			}
			killed.journal = &deskJournal{Journal: new(interacttest.Journal)}
			killed.Close()
		})
	}
}

// What the user has typed survives a restart, and the request is asked again before its machine is connected.
func TestDraftForAMachineSurvives(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.m.prompter = &interacttest.Prompter{}
		r := call(time.Minute)
		d.take(r)
		id := d.m.pending()[0].ID
		if open, _ := d.journal.Left(); len(open) != 0 {
			t.Errorf("the journal has %+v", open)
		}
		for _, draft := range []string{"no", "no, because"} {
			if err := d.m.SaveDraft(t.Context(), id, []byte(draft)); err != nil {
				t.Fatal(err)
			}
		}
		if d.journal.drafts[id] != "no, because" {
			t.Errorf("%v", d.journal.drafts)
		}
		killed := d.m
		d.restart(yesOnce)
		synctest.Wait()
		if again := d.m.pending(); len(again) != 1 || again[0].ID != id || again[0].Reported == nil {
			t.Errorf("%+v", again)
		}
		d.join()
		d.take(r)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := d.came(); got.Answer.Outcome != api.Allowed || d.line.tried != 1 {
			t.Errorf("%+v, %d answers", got, d.line.tried)
		}
		if err := d.m.SaveDraft(t.Context(), id, nil); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("a draft after the end: %v", err)
		}
		killed.journal = &deskJournal{Journal: new(interacttest.Journal)}
		killed.Close()
	})
}

// An answer is never sent to another machine that has the same name by now.
func TestAnswerIsForTheVeryMachine(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.line.down = true
		d.take(call(time.Minute))
		time.Sleep(2 * time.Second)
		killed := d.m
		killed.mu.Lock()
		killed.lines, killed.online = nil, nil
		killed.mu.Unlock()
		if _, err := d.m.book.Remove("web"); err != nil {
			t.Fatal(err)
		}
		if err := d.m.book.Add(remote.Peer{Name: "web", Role: remote.RoleMachine, Key: newKey(t)}); err != nil {
			t.Fatal(err)
		}
		before := 0
		d.line.set(func() { before, d.line.down = d.line.tried, false })
		d.restart(yesOnce)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := d.came().Answer; got.Outcome != api.Withdrawn || got.Reason != reasonRevoked ||
			d.line.tried != before {
			t.Errorf("%+v, %d answers", got, d.line.tried-before)
		}
		killed.journal = &deskJournal{Journal: new(interacttest.Journal)}
		killed.Close()
	})
}

// A request that is put off is hidden until then, within its own time.
func TestSnoozeOfAMachinesRequest(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.m.prompter = &interacttest.Prompter{}
		d.take(call(time.Minute))
		id := d.m.pending()[0].ID
		if err := d.m.Snooze(id, 2*time.Minute); !errors.Is(err, interact.ErrImpatient) {
			t.Errorf("longer than its time: %v", err)
		}
		if err := d.m.Snooze("none", time.Second); !errors.Is(err, interact.ErrNotFound) {
			t.Errorf("another: %v", err)
		}
		if err := d.m.Snooze(id, 10*time.Second); err != nil || d.m.pending()[0].Snoozed.IsZero() {
			t.Errorf("%v, %+v", err, d.m.pending())
		}
		<-d.m.requests
		time.Sleep(10 * time.Second)
		synctest.Wait()
		select {
		case <-d.m.requests:
		default:
			t.Error("nothing says that it is due")
		}
		if !d.m.pending()[0].Snoozed.IsZero() {
			t.Error("it is hidden still")
		}
	})
}

// The windows hear that an answer is kept, whether or not its machine can be reached, and that one comes too late.
func TestSettledOfAMachinesRequest(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.line.down = true
		d.take(call(time.Minute))
		id := d.m.pending()[0].ID
		began := time.Now()
		a, err := d.m.Settled(t.Context(), id)
		if err != nil || a.By != api.ByHuman || time.Since(began) != deliverPatience {
			t.Errorf("%+v, %v after %v", a, err, time.Since(began))
		}
		if open, _ := d.journal.Left(); len(open) != 1 || open[0].Sent.Outcome != api.Allowed {
			t.Errorf("the journal keeps %+v", open)
		}
		d.line.set(func() { d.line.down = false })
		r := call(time.Minute)
		d.line.counted[r.Request.ID] = interact.Answer{Outcome: api.Denied, By: api.ByHuman, Device: "desk-2"}
		d.take(r)
		if a, err := d.m.Settled(t.Context(), recordID(useAsked, d.web.Key, r.Request.ID)); err != nil ||
			a.Outcome != api.Withdrawn {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestTakeRefuses(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		stranger := remote.Peer{Name: "web", Role: remote.RoleMachine, Key: newKey(t)}
		if err := d.send(stranger, call(time.Minute)); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("a stranger: %v", err)
		}
		for name, change := range map[string]func(*remote.Request){
			"no id":        func(r *remote.Request) { r.Request.ID = "" },
			"a path as id": func(r *remote.Request) { r.Request.ID = "../../x" },
			"no body":      func(r *remote.Request) { r.Request.Body = nil },
			"no time":      func(r *remote.Request) { r.Times.Left = 0 },
			"a long name":  func(r *remote.Request) { r.Request.Requester.Agent = strings.Repeat("a", 300) },
			"too much": func(r *remote.Request) {
				r.Request.Reported.Files = []interact.ReportedFile{{Text: strings.Repeat("a", maxReported+1)}}
			},
			"too long": func(r *remote.Request) {
				r.Request.Reported.Risks = []policy.Risk{{Text: strings.Repeat("a", maxReportedAll)}}
			},
			"a long reason": func(r *remote.Request) {
				r.Request.Reported.Why.Reason = strings.Repeat("a", maxReportedAll)
			},
			"too many": func(r *remote.Request) { r.Request.Reported.Risks = make([]policy.Risk, maxReportedList+1) },
		} {
			r := call(time.Minute)
			change(&r)
			if err := d.send(d.web, r); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
		first := call(time.Minute)
		d.take(first)
		second := call(time.Minute)
		second.Request.ID, second.Request.Requester.Session = first.Request.ID, "another"
		if err := d.send(d.web, second); err == nil {
			t.Error("two requests have one id")
		}
		for range interact.MaxPendingPerRequester - 1 {
			r := call(time.Minute)
			r.Request.Requester.Agent = uuid.NewString() // as if others asked
			d.take(r)
		}
		_, isBusy := errors.AsType[*interact.BusyError](d.send(d.web, call(time.Minute)))
		if !isBusy || len(d.m.pending()) != interact.MaxPendingPerRequester {
			t.Errorf("busy: %v, %d are pending", isBusy, len(d.m.pending()))
		}
	})
}

// What a device said counts no more once it is revoked, also where it still waits for its machine.
func TestRevokedBeforeItsAnswerWentOut(t *testing.T) {
	onPhone := yesOnce
	onPhone.Device = "phone"
	inDesk(t, onPhone, func(t *testing.T, d *pairedDesk) {
		phone := remote.Peer{Name: "phone", Role: remote.RoleDevice, Key: remote.Key{Sign: "key"}}
		if err := d.m.book.Add(phone); err != nil {
			t.Fatal(err)
		}
		counted := func(r remote.Request) (a interact.Answer) {
			d.line.set(func() { a = d.line.counted[r.Request.ID] })
			return a
		}
		first, second := call(time.Minute), call(time.Minute)
		d.take(first)
		time.Sleep(2 * time.Second)
		if got := counted(first); got.Outcome != api.Allowed || got.Device != "phone" {
			t.Fatalf("%+v", got)
		}
		d.line.set(func() { d.line.down = true })
		d.take(second)
		time.Sleep(3 * time.Second) // its answer waits
		if _, err := d.m.book.Remove("phone"); err != nil {
			t.Fatal(err)
		}
		d.line.set(func() { d.line.down = false })
		time.Sleep(10 * time.Second)
		if got := counted(second); got.Outcome != "" || len(d.m.pending()) != 1 {
			t.Errorf("%+v, %d are pending", got, len(d.m.pending()))
		}
		d.line.desk.End(d.web, remote.Answer{ID: second.Request.ID, Answer: interact.Answer{Outcome: api.Cancelled}})
		synctest.Wait()
	})
}

// A request that comes again at the moment of its end takes up no place from then on.
func TestSentAgainAtTheVeryEnd(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.journal.record = func(interact.Record) error { time.Sleep(time.Second); return nil }
		r := call(time.Minute)
		d.take(r)
		time.Sleep(1500 * time.Millisecond) // it is being recorded
		d.take(r)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		d.take(r)
		if open := d.m.Open(d.web); len(open) != 0 || len(d.m.pending()) != 0 || d.line.tried != 1 {
			t.Errorf("open: %v, %d are pending, %d answers", open, len(d.m.pending()), d.line.tried)
		}
	})
}

// Requests that come and go are news for nod machines and the windows, which show how many wait.
func TestRequestsOfMachinesAreCounted(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		want := func(pending int) {
			t.Helper()
			select {
			case <-d.m.changed:
			default:
				t.Errorf("nothing says that %d wait", pending)
			}
			if n := d.m.peer(d.web).Pending; n != pending {
				t.Errorf("%d wait, want %d", n, pending)
			}
		}
		want(0) // it is connected
		d.take(call(time.Minute))
		want(1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want(0)
	})
}

// A machine that has not taken in the policy as it is now goes by an older one.
func TestAnOlderPolicyIsCalledThat(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		now, err := d.m.Policy()
		if err != nil {
			t.Fatal(err)
		}
		told := now.Serial
		for serial, isOld := range map[uint64]bool{0: false, told - 1: true, told: false} {
			if _, err := d.line.desk.Join(d.web.Key, remote.Hello{Name: "web", Policy: serial}); err != nil {
				t.Fatal(err)
			}
			if got := d.m.peer(d.web).IsOld; got != isOld {
				t.Errorf("policy %d of %d: older: %v", serial, told, got)
			}
		}
	})
}

// However many machines ask, they take up a part of the memory and no more.
func TestMachinesLeaveRoom(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		ask := func(large bool) (err error) {
			for i := 0; err == nil; i++ {
				peer := remote.Peer{Name: fmt.Sprint("m", large, i), Role: remote.RoleMachine, Key: newKey(t)}
				if err := d.m.book.Add(peer); err != nil {
					t.Fatal(err)
				}
				for range interact.MaxPendingPerRequester {
					r := call(time.Minute)
					if large {
						r.Request.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(
							`{"command":"` + strings.Repeat("a", 1<<20-100) + `"}`)}
					}
					if err = d.send(peer, r); err != nil {
						break
					}
				}
			}
			return err
		}
		for _, large := range []bool{true, false} {
			if _, isBusy := errors.AsType[*interact.BusyError](ask(large)); !isBusy {
				t.Errorf("large %v: not busy", large)
			}
		}
	})
}

// Whatever a machine sends is refused, or kept as what it is; nothing stops the desk.
func FuzzMachine(f *testing.F) {
	id, err := remote.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	peer := remote.Peer{Name: "web", Role: remote.RoleMachine, Key: id.Key()}
	sent, err := remote.NewRequest(call(0).Request)
	if err != nil {
		f.Fatal(err)
	}
	sent.Times.Left = time.Minute
	asked, err := json.Marshal(sent)
	if err != nil {
		f.Fatal(err)
	}
	decided, err := json.Marshal(interact.Record{
		Request: call(0).Request, Answer: interact.Answer{Outcome: api.Denied, By: api.ByPolicy},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(asked)
	f.Add(decided)
	now := time.Now()
	f.Fuzz(func(t *testing.T, text []byte) {
		var sent remote.Request
		if json.Unmarshal(text, &sent) == nil && sent.Read() == nil {
			r, err := taken(peer, sent)
			if err == nil && (r.Requester.Machine != "web" || r.ID != recordID(useAsked, peer.Key, sent.Request.ID)) {
				t.Errorf("taken as %+v", r)
			}
		}
		var record interact.Record
		if json.Unmarshal(text, &record) == nil {
			own, err := kept(peer, record, now)
			if err == nil && (own.Request.Requester.Machine != "web" || own.Answer.By != api.ByPolicy ||
				own.Request.ID == record.Request.ID || own.Answer.At.After(now)) {
				t.Errorf("kept as %+v", own)
			}
		}
	})
}

// Who has nobody to ask says so at once; what waits already waits until somebody can be asked.
func TestMachinesAndPause(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.presence.setPause(operator.Pause{On: true})
		r := call(time.Minute)
		if err := d.send(d.web, r); !errors.Is(err, interact.ErrUnavailable) {
			t.Errorf("while paused: %v", err)
		}
		if err := d.send(d.web, r); !errors.Is(err, interact.ErrUnavailable) {
			t.Errorf("asked again: %v", err)
		}
		if len(d.m.Open(d.web)) != 0 {
			t.Error("it waits")
		}
		if missed := d.came(); missed.Answer.Outcome != api.Unavailable || missed.Answer.Reason == "" ||
			missed.Request.ID == r.Request.ID || missed.Request.Requester.Machine != "web" {
			t.Errorf("it is in the history as %+v", missed)
		}
		d.presence.setPause(operator.Pause{})
		var isThere atomic.Bool
		d.human.Answer = func(r interact.Request, why policy.Decision) (interact.Answer, error) {
			if !isThere.Load() {
				return interact.Answer{}, fmt.Errorf("%w: no screen", interact.ErrUnavailable)
			}
			return interacttest.Always(yesOnce)(r, why)
		}
		d.take(r)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if n := len(d.outcomes()); n != 1 {
			t.Fatalf("%+v", d.outcomes())
		}
		isThere.Store(true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if all := d.outcomes(); len(all) != 2 || all[1].Answer.Outcome != api.Allowed {
			t.Errorf("%+v", all)
		}
	})
}

// Always is a rule of this desk: no answer says it to a machine.
func TestNothingHoldsForGoodThere(t *testing.T) {
	for _, scope := range []policy.Scope{policy.Always, policy.Everywhere} {
		inDesk(t, interact.Answer{Outcome: api.Allowed, Scope: scope}, func(t *testing.T, d *pairedDesk) {
			d.take(call(time.Minute))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := d.came().Answer; got.Outcome != api.Unavailable || d.line.tried != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Who is revoked is out at once: what waits ends, and nothing that is said goes out.
func TestRevoke(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		d.take(call(time.Minute))
		desk := &Desk{machines: d.m, book: d.m.book}
		if err := desk.Unpair(t.Context(), "web"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := d.came().Answer; got.Outcome != api.Withdrawn || got.Reason != reasonRevoked || d.line.tried != 0 {
			t.Errorf("%+v, %d answers went out", got, d.line.tried)
		}
		if !slices.Equal(d.line.dropped, []remote.Key{d.web.Key}) || d.m.count() != 0 {
			t.Errorf("dropped %v, %d are connected", d.line.dropped, d.m.count())
		}
		if err := d.send(d.web, call(time.Minute)); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("it asks: %v", err)
		}
		if err := d.line.desk.Keep(d.web, nil); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("it reports: %v", err)
		}
		if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); !errors.Is(err, remote.ErrNotPaired) {
			t.Errorf("it joins: %v", err)
		}
	})
}

// One machine has no word on what another asks.
func TestMachinesHaveNoWordOnEachOther(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		db := remote.Peer{Name: "db", Role: remote.RoleMachine, Key: newKey(t)}
		if err := d.m.book.Add(db); err != nil {
			t.Fatal(err)
		}
		r := call(time.Minute)
		d.take(r)
		d.line.desk.End(db, remote.Answer{ID: r.Request.ID, Answer: interact.Answer{Outcome: api.Cancelled}})
		synctest.Wait()
		if len(d.outcomes()) != 0 || len(d.m.Open(db)) != 0 {
			t.Fatalf("%+v", d.outcomes())
		}
		if err := d.send(db, r); err != nil { // the same id is another request there
			t.Fatal(err)
		}
		synctest.Wait()
		if len(d.m.pending()) != 2 {
			t.Errorf("%d are pending", len(d.m.pending()))
		}
		d.take(call(time.Minute)) // which asks the same: its relay tells them apart
		if len(d.m.pending()) != 3 {
			t.Errorf("%d are pending", len(d.m.pending()))
		}
	})
}

func TestJoining(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		hostile := remote.Hello{Name: "web\n\u202e" + strings.Repeat("x", 1000), Version: "\x1b[2J"}
		key := newKey(t)
		for range 3 {
			if _, err := d.line.desk.Join(key, hostile); !errors.Is(err, remote.ErrNotPaired) {
				t.Fatal(err)
			}
		}
		asking := d.m.asking()
		if len(asking) != 1 || asking[0].Fingerprint != key.Fingerprint() || asking[0].Line != "ssh web" {
			t.Fatalf("%+v", asking)
		}
		if h := asking[0].Hello; len(h.Name) > 10*maxClaim || strings.ContainsAny(h.Name+h.Version, "\n\u202e\x1b") {
			t.Errorf("%+v", h)
		}
		synctest.Wait()
		if len(d.said) != 1 || strings.Contains(d.said[0], "web") {
			t.Errorf("said %q", d.said)
		}
		if _, err := d.line.desk.Join(remote.Key{Sign: "x"}, hostile); err == nil {
			t.Errorf("no key: %v", err)
		}
		for range 2 * maxJoining {
			_, _ = d.line.desk.Join(newKey(t), remote.Hello{})
		}
		synctest.Wait()
		if n := len(d.m.asking()); n != maxJoining || len(d.said) != 1 {
			t.Errorf("%d ask to join, said %q", n, d.said)
		}
		if err := d.m.pair(key, remote.RoleMachine, "web 2"); err == nil {
			t.Error("paired what does not ask any more")
		}
		_, _ = d.line.desk.Join(key, hostile)
		if err := d.m.pair(key, remote.RoleMachine, "WEB"); err == nil {
			t.Error("two have one name")
		}
		if err := d.m.pair(key, remote.RoleMachine, "web 2"); err != nil {
			t.Fatal(err)
		}
		if peer, err := d.line.desk.Join(key, hostile); err != nil || peer.Name != "web 2" {
			t.Errorf("%+v, %v", peer, err)
		}
		if d.m.count() != 2 {
			t.Errorf("%d are connected", d.m.count())
		}
		time.Sleep(joiningFor + time.Second)
		if n := len(d.m.asking()); n != 0 {
			t.Errorf("%d still ask to join", n)
		}
	})
}

// What a machine says that its policy decided is in the journal once, and nothing else is.
func TestKeep(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		now := time.Now()
		decided := func(change func(*interact.Record)) interact.Record {
			r := interact.Record{Request: call(0).Request, Answer: interact.Answer{
				Outcome: api.Allowed, By: api.ByPolicy, Rule: "r", At: now.Add(time.Hour), Device: "phone",
			}}
			r.Request.Requester.Machine = "another"
			change(&r)
			return r
		}
		good := decided(func(*interact.Record) {})
		open := call(time.Minute)
		d.take(open)
		local := d.m.pending()[0].ID
		for _, records := range [][]interact.Record{
			{
				decided(func(r *interact.Record) { r.Answer.By = api.ByHuman }),
				decided(func(r *interact.Record) { r.Answer.Outcome = api.Answered }),
				decided(func(r *interact.Record) { r.Answer = interact.Answer{} }),
				decided(func(r *interact.Record) { r.Request.Body = api.Ask{Question: "?"} }),
				decided(func(r *interact.Record) { r.Request.Body = nil }),
				decided(func(r *interact.Record) { r.Request.ID = "1" }),
				decided(func(r *interact.Record) { r.Request.Requester.Agent = strings.Repeat("a", 300) }),
				good,
			},
			{good},
			{decided(func(r *interact.Record) { r.Request.ID = local })}, // that of a request which waits here
		} {
			if err := d.line.desk.Keep(d.web, records); err != nil {
				t.Fatal(err)
			}
		}
		kept := d.outcomes()
		if len(kept) != 2 || len(d.m.pending()) != 1 {
			t.Fatalf("%d are kept: %+v", len(kept), kept)
		}
		for _, r := range kept {
			if r.Request.Requester.Machine != "web" || r.Request.ID == good.Request.ID || r.Request.ID == local ||
				r.Answer.At.After(now) || r.Request.Created.IsZero() || r.Answer.Device != "" || r.Request.Reported != nil {
				t.Errorf("%+v", r)
			}
		}
		d.journal.Fail(errors.New("disk full"))
		if err := d.line.desk.Keep(d.web, []interact.Record{decided(func(*interact.Record) {})}); err == nil {
			t.Error("what could not be kept counts as kept")
		}
		d.journal.Fail(nil)
	})
}

// A record whose input was too large for its way is kept without, as one whose input is not to be kept.
func TestKeepWithoutInput(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		r := interact.Record{Request: call(0).Request, Answer: interact.Answer{
			Outcome: api.Allowed, By: api.ByPolicy, ShownSHA256: "digest",
		}}
		r.Request.Body = r.Request.Body.(interact.Approve).Bare()
		other := r
		other.Request.ID, other.Answer.ShownSHA256 = call(0).Request.ID, "" // says nothing of what it decided
		if err := d.line.desk.Keep(d.web, []interact.Record{other, r}); err != nil {
			t.Fatal(err)
		}
		if got := d.came(); got.Answer.ShownSHA256 != "digest" || len(got.Request.Body.(interact.Approve).Input) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A machine that has the journal keep more than it may is put off, and gets on when it tries again.
func TestMachinesCannotFillTheJournal(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		kept := map[interact.ID]bool{}
		d.journal.record = func(r interact.Record) error {
			if kept[r.Request.ID] {
				return interact.ErrSettled
			}
			kept[r.Request.ID] = true
			return nil
		}
		var decided []interact.Record
		for range 3 * keptADay / 600_000 {
			r := interact.Record{Request: call(0).Request}
			r.Request.Body = interact.Approve{Tool: "Write", Input: fmt.Appendf(nil, `{"text":"%0600000d"}`, 0)}
			r.Answer = interact.Answer{Outcome: api.Allowed, By: api.ByPolicy}
			decided = append(decided, r)
		}
		var busy *interact.BusyError
		if err := d.line.desk.Keep(d.web, decided); !errors.As(err, &busy) || busy.RetryAfter <= 0 {
			t.Fatalf("%v", err)
		}
		began := len(kept)
		if began == 0 || began*600_000 > keptADay {
			t.Errorf("%d are kept at once", began)
		}
		time.Sleep(12 * time.Hour)
		if err := d.line.desk.Keep(d.web, decided); !errors.As(err, &busy) {
			t.Errorf("half a day later: %v", err)
		}
		if more := len(kept) - began; more == 0 || more*600_000 > keptADay/2+600_000 {
			t.Errorf("%d more are kept half a day later", more)
		}
		time.Sleep(48 * time.Hour)
		for i := range decided { // what is long may be anywhere in them
			decided[i].Request.Body = interact.Approve{Tool: "Write", Input: json.RawMessage(`{}`)}
			decided[i].Request.ID = call(0).Request.ID
			decided[i].Answer.Text, decided[i].Why.Rule = strings.Repeat("a", 300_000), strings.Repeat("a", 300_000)
		}
		clear(kept)
		if err := d.line.desk.Keep(d.web, decided); !errors.As(err, &busy) || len(kept)*600_000 > keptADay {
			t.Errorf("%d long ones are kept at once, %v", len(kept), err)
		}
	})
}

// Nor does it by requests that it ends itself before anybody has answered.
func TestMachinesCannotFillTheJournalByAsking(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		ask := func() (asked int, err error) {
			for ; asked < 100; asked++ {
				r := call(time.Minute)
				r.Request.Body = interact.Approve{Tool: "Write", Input: fmt.Appendf(nil, `{"text":"%0600000d"}`, 0)}
				if err := d.send(d.web, r); err != nil {
					return asked, err
				}
				end := interact.Answer{Outcome: api.Cancelled}
				d.line.desk.End(d.web, remote.Answer{ID: r.Request.ID, Answer: end})
				synctest.Wait()
			}
			return asked, nil
		}
		var busy *interact.BusyError
		if n, err := ask(); !errors.As(err, &busy) || n == 0 || n*600_000 > keptADay {
			t.Errorf("%d at once, %v", n, err)
		}
		time.Sleep(12 * time.Hour)
		if n, err := ask(); !errors.As(err, &busy) || n == 0 || n*600_000 > keptADay/2+600_000 {
			t.Errorf("%d half a day later, %v", n, err)
		}
	})
}

// Each change of the policy has a higher serial, and machines hear of it at once; the same one again is no change.
func TestPolicyReachesMachines(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		told := func() remote.Policy {
			t.Helper()
			p, err := d.m.Policy()
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		first := told()
		if again := told(); again.Serial != first.Serial {
			t.Errorf("serial %d, then %d", first.Serial, again.Serial)
		}
		d.policy.AskEverything = true
		d.m.greet()
		if next := told(); d.line.greeted != 1 || next.Serial <= first.Serial || !next.Policy.AskEverything {
			t.Errorf("greeted %d times; %+v after %d", d.line.greeted, next, first.Serial)
		}
		d.line.desk.Leave(d.web.Key)
		if d.m.count() != 0 {
			t.Error("who has left is connected")
		}
	})
}

// Who counts again, because the user has accepted the list, is let in at once.
func TestAcceptedPeersAreLetIn(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		path := filepath.Join(t.TempDir(), "peers.json")
		if err := book.Open(path, []byte("another seal")).Add(d.web); err != nil {
			t.Fatal(err)
		}
		d.m.book = book.Open(path, []byte("seal"))
		if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); !errors.Is(err, remote.ErrNotPaired) {
			t.Fatalf("counts before it is accepted: %v", err)
		}
		held, _ := d.m.book.Problem()
		before := d.line.greeted
		if err := d.peers().SettlePeers(t.Context(), held, true); err != nil || d.line.greeted != before+1 {
			t.Errorf("%v; machines were greeted %d times", err, d.line.greeted-before)
		}
		if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); err != nil {
			t.Error(err)
		}
	})
}

// Lines come and go with the configuration, and the machines that they connect.
func TestLinesFollowTheConfiguration(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		first := d.line
		d.line = &fakeLine{counted: map[interact.ID]interact.Answer{}}
		other := config.Machine{Kind: config.MachineDocker, Host: "db"}
		d.m.keepLines(t.Context(), []lineSpec{{machine: webLine}, {machine: other}})
		if d.line.desk == nil || d.m.count() != 1 || len(d.m.list()) != 2 {
			t.Fatalf("%+v", d.m.list())
		}
		d.m.keepLines(t.Context(), []lineSpec{{machine: other}})
		if d.m.count() != 0 {
			t.Error("connected over a line that is gone")
		}
		if _, err := d.line.desk.Join(d.web.Key, remote.Hello{}); err != nil {
			t.Fatal(err)
		}
		if d.m.lineTo(d.web.Key) != remote.Line(d.line) || d.line == first {
			t.Error("it is reached over another line")
		}
		shown := d.m.peer(d.web)
		if shown.Line != "docker db" || !shown.Up {
			t.Errorf("%+v", shown)
		}
	})
}

func TestForgetApprovals(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		err := d.peers().ForgetApprovals(t.Context(), "web")
		if err != nil || !slices.Equal(d.line.forgot, []remote.Key{d.web.Key}) {
			t.Errorf("%v, %v", err, d.line.forgot)
		}
		if err := d.peers().ForgetApprovals(t.Context(), "none"); !errors.Is(err, book.ErrUnknown) {
			t.Errorf("%v", err)
		}
		d.line.fails = remote.ErrDown
		if err := d.peers().ForgetApprovals(t.Context(), "web"); !errors.Is(err, remote.ErrDown) {
			t.Errorf("%v", err)
		}
	})
}

func TestNoticesOfMachines(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		r := call(time.Minute)
		r.Request.Body, r.Request.Reported = api.Notify{Message: "done"}, nil
		d.take(r)
		if a := d.line.counted[r.Request.ID]; a.Outcome != api.Answered || !a.Sent || len(d.m.Open(d.web)) != 0 {
			t.Errorf("%+v, open %v", a, d.m.Open(d.web))
		}
	})
}

// A machine cannot cover the screen with notices.
func TestNoticesOfAMachineAreFew(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		send := func() (shown int) {
			for range 100 {
				r := call(time.Minute)
				r.Request.Body, r.Request.Reported = api.Notify{Message: uuid.NewString()}, nil
				if d.send(d.web, r) == nil {
					shown++
				}
			}
			synctest.Wait()
			return shown
		}
		if n := send(); n != noticeBurst {
			t.Errorf("%d are shown at once", n)
		}
		time.Sleep(2 * noticeEvery)
		if n := send(); n != 2 {
			t.Errorf("%d more are shown after %v", n, 2*noticeEvery)
		}
		d.take(call(time.Minute)) // of the rest the user still hears
	})
}

// Another desk takes part only once the user here has paired it, and they are told when one does.
func TestAnotherDeskIsForThePersonToPair(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		other, thief := newKey(t), newKey(t)
		h := remote.Hello{Desks: []remote.Key{newKey(t)}, Wants: []remote.Key{other, {Sign: "x"}}}
		join := func() {
			t.Helper()
			if _, err := d.line.desk.Join(d.web.Key, h); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		join()
		d.said = nil
		asking := d.m.asking()
		if len(asking) != 1 || asking[0].Role != remote.RoleDesk || asking[0].Key != other || asking[0].Line != "web" ||
			len(d.m.Desks()) != 0 {
			t.Fatalf("%+v, desks %v", asking, d.m.Desks())
		}
		if err := d.m.pair(other, remote.RoleDesk, "laptop"); err != nil || !slices.Equal(d.m.Desks(), []remote.Key{other}) ||
			d.line.greeted != 1 {
			t.Errorf("%v; desks %v, greeted %d times", err, d.m.Desks(), d.line.greeted)
		}
		if _, err := d.line.desk.Join(other, remote.Hello{}); err == nil {
			t.Error("a desk joins as a machine")
		}
		join()
		if len(d.m.asking()) != 0 || len(d.said) != 0 {
			t.Errorf("%+v, said %q", d.m.asking(), d.said)
		}
		h.Desks = append(h.Desks, thief)
		d.m = newMachines(d.m.machinesConfig) // nod was started again meanwhile
		d.m.keepLines(t.Context(), []lineSpec{{machine: webLine}})
		join()
		join()
		if len(d.said) != 1 || !strings.Contains(d.said[0], "also takes answers from another desk") {
			t.Errorf("said %q", d.said)
		}
		for range 10 { // a machine that makes up desks does not cover the screen
			h.Desks = []remote.Key{newKey(t)}
			join()
		}
		if len(d.said) != 1 {
			t.Errorf("said %q", d.said)
		}
		time.Sleep(otherDeskPace)
		h.Desks = []remote.Key{newKey(t)}
		if join(); len(d.said) != 2 {
			t.Errorf("later said %q", d.said)
		}
	})
}

// A machine cannot have another one paired as a desk by asking for it before that one comes itself, or later.
func TestAMachineIsNoDeskBecauseAnotherSaysSo(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		key, own := newKey(t), remote.Hello{Name: "build"}
		asks := func() {
			t.Helper()
			h := remote.Hello{Version: uuid.NewString(), Wants: []remote.Key{key}}
			if _, err := d.line.desk.Join(d.web.Key, h); err != nil {
				t.Fatal(err)
			}
		}
		asks()
		shown := d.m.asking()[0].Role // and the user compares the words
		for range 2 {
			if _, err := d.line.desk.Join(key, own); !errors.Is(err, remote.ErrNotPaired) {
				t.Fatal(err)
			}
			got := d.m.asking()
			if len(got) != 1 || got[0].Role != remote.RoleMachine || got[0].Hello.Name != own.Name || got[0].Line == "web" {
				t.Fatalf("%+v", got)
			}
			asks()
		}
		if err := d.m.pair(key, shown, "build"); err == nil {
			t.Errorf("paired as what the user was not shown: %+v", d.m.book.Peers())
		}
		if err := d.m.pair(key, remote.RoleMachine, "build"); err != nil || len(d.m.Desks()) != 0 {
			t.Errorf("%v; desks: %v", err, d.m.Desks())
		}
	})
}

// A machine that is connected over several lines is dropped from all.
func TestRevokedOnAllLines(t *testing.T) {
	inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
		other := &fakeLine{counted: map[interact.ID]interact.Answer{}}
		first := d.m.dial
		d.m.dial = func(spec lineSpec, desk remote.Desk) (remote.Line, error) {
			if spec.machine == webLine {
				return first(spec, desk)
			}
			other.desk = desk
			return other, nil
		}
		d.m.keepLines(t.Context(), []lineSpec{
			{machine: webLine}, {machine: config.Machine{Kind: config.MachineSSH, Host: "web.example.com"}},
		})
		if _, err := other.desk.Join(d.web.Key, remote.Hello{Name: "web"}); err != nil {
			t.Fatal(err)
		}
		if err := (&Desk{machines: d.m, book: d.m.book}).Unpair(t.Context(), "web"); err != nil {
			t.Fatal(err)
		}
		for name, l := range map[string]*fakeLine{"the first": d.line, "the second": other} {
			if !slices.Equal(l.dropped, []remote.Key{d.web.Key}) {
				t.Errorf("%s line dropped %v", name, l.dropped)
			}
		}
	})
}

// When nod ends, a denial that could have been taken back goes out, as far as it can; else the next nod asks again.
func TestDeskEnds(t *testing.T) {
	for _, down := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := newPairedDesk(t, &interacttest.Prompter{})
			d.line.down = down
			d.m.prompter = deniesAtTheEnd{}
			d.take(call(time.Minute))
			d.m.Close()
			open, settled := d.journal.Left()
			switch {
			case down && (len(open) != 1 || len(settled) != 0):
				t.Errorf("open %+v, settled %+v", open, settled)
			case !down && (len(settled) != 1 || settled[0].Answer.Outcome != api.Denied || len(d.line.counted) != 1):
				t.Errorf("open %+v, settled %+v", open, settled)
			}
		})
	}
}

// What the machine has counted when nod ends is in the journal, if the machine says so soon; else the next nod asks
// again. In either case nod ends.
func TestDeskEndsWhileAnAnswerIsGivenOut(t *testing.T) {
	for takes, isKept := range map[time.Duration]bool{closingCommit / 2: true, time.Hour: false} {
		inDesk(t, yesOnce, func(t *testing.T, d *pairedDesk) {
			d.line.takes = takes
			d.take(call(2 * time.Hour))
			time.Sleep(time.Second)
			synctest.Wait()
			began := time.Now()
			d.m.Close()
			if took := time.Since(began); took > closingCommit {
				t.Errorf("nod takes %v to end", took)
			}
			open, settled := d.journal.Left()
			switch {
			case len(d.line.counted) != 1 || len(d.said) != 0:
				t.Errorf("the machine counts %+v; said %q", d.line.counted, d.said)
			case isKept && (len(settled) != 1 || settled[0].Answer.Outcome != api.Allowed):
				t.Errorf("open %+v, settled %+v", open, settled)
			case !isKept && (len(open) != 1 || len(settled) != 0):
				t.Errorf("open %+v, settled %+v", open, settled)
			}
		})
	}
}

// deniesAtTheEnd has a denial that is held until nod ends.
type deniesAtTheEnd struct{}

func (deniesAtTheEnd) Prompt(ctx context.Context, _ interact.Request, _ policy.Decision) (interact.Answer, error) {
	<-ctx.Done()
	if context.Cause(ctx) == interact.ErrClosing {
		return interact.Answer{Outcome: api.Denied}, nil
	}
	return interact.Answer{}, ctx.Err()
}

// A desk's name tells it from another on a machine of the same name, and is one that others show.
func TestDeskHasANameOfItsOwn(t *testing.T) {
	id, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	word, _, _ := strings.Cut(id.Key().Fingerprint(), " ")
	if got, want := deskName(id), hostName()+" "+word; got != want || book.CheckName(got) != nil {
		t.Errorf("%q, want %q", got, want)
	}
}
