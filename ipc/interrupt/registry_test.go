package interrupt_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/api"
	"nod/ipc/interrupt"
)

var yes = interrupt.Answer{Confirmed: true}

// request enters one that asks to confirm something.
func request(t *testing.T, r *interrupt.Registry, timeout time.Duration) string {
	t.Helper()
	id, err := r.Request(interrupt.Request{Type: interrupt.Confirm, Message: "Go on?", Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func expectOutcome(t *testing.T, err error, want api.Outcome) {
	t.Helper()
	if u, ok := errors.AsType[*interrupt.UndecidedError](err); !ok || u.Outcome != want {
		t.Errorf("got %v, want nobody to have decided: %s", err, want)
	}
}

func expectUnknown(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, interrupt.ErrUnknown) {
		t.Errorf("got %v, want %v", err, interrupt.ErrUnknown)
	}
}

func TestRequestIsValid(t *testing.T) {
	tests := []struct {
		name string
		q    interrupt.Request
		ok   bool
	}{
		{"confirm", interrupt.Request{Type: interrupt.Confirm, Message: "m"}, true},
		{"selection", interrupt.Request{Type: interrupt.Selection, Message: "m", Options: []string{"a", "b"}}, true},
		{"form", interrupt.Request{Type: interrupt.Form, Message: "m", Fields: []string{"a"}}, true},
		{"no type", interrupt.Request{Message: "m"}, false},
		{"another type", interrupt.Request{Type: "approval", Message: "m"}, false},
		{"no message", interrupt.Request{Type: interrupt.Confirm}, false},
		{"no options", interrupt.Request{Type: interrupt.Selection, Message: "m"}, false},
		{"an option twice", interrupt.Request{Type: interrupt.Selection, Message: "m", Options: []string{"a", "a"}}, false},
		{"an empty option", interrupt.Request{Type: interrupt.Selection, Message: "m", Options: []string{""}}, false},
		{"no fields", interrupt.Request{Type: interrupt.Form, Message: "m"}, false},
		{"no time", interrupt.Request{Type: interrupt.Confirm, Message: "m", Timeout: -1}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r interrupt.Registry
			defer r.Close()
			if _, err := r.Request(test.q); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
			if got := len(r.Pending()); got != 1 && test.ok || got != 0 && !test.ok {
				t.Errorf("%d are pending", got)
			}
		})
	}
}

// TestAnswerFits: an answer that does not fit leaves the request open for one that does.
func TestAnswerFits(t *testing.T) {
	selection := interrupt.Request{Type: interrupt.Selection, Message: "Which?", Options: []string{"a", "b"}}
	form := interrupt.Request{Type: interrupt.Form, Message: "Who?", Fields: []string{"name", "mail"}}
	tests := []struct {
		name string
		q    interrupt.Request
		bad  []interrupt.Answer
		good interrupt.Answer
	}{
		{"selection", selection, []interrupt.Answer{{}, yes, {Selected: "c"}}, interrupt.Answer{Selected: "b"}},
		{"form", form, []interrupt.Answer{
			{}, {Values: map[string]string{"name": "x"}},
			{Values: map[string]string{"name": "x", "other": "y"}},
			{Values: map[string]string{"name": "x", "mail": "y", "other": "z"}},
		}, interrupt.Answer{Values: map[string]string{"name": "x", "mail": ""}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var r interrupt.Registry
			id, err := r.Request(test.q)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range test.bad {
				if err := r.Complete(id, bad); err == nil || errors.Is(err, interrupt.ErrUnknown) {
					t.Errorf("Complete(%+v) = %v", bad, err)
				}
			}
			if err := r.Complete(id, test.good); err != nil {
				t.Fatal(err)
			}
			got, err := r.Wait(t.Context(), id)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(test.good) {
				t.Errorf("got %+v, %v, want %+v", got, err, test.good)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	tests := []struct {
		name string
		run  func(t *testing.T, r *interrupt.Registry)
	}{
		{"answered while waited for", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			time.AfterFunc(59*time.Second, func() {
				if err := r.Complete(id, yes); err != nil {
					t.Error(err)
				}
			})
			if a, err := r.Wait(t.Context(), id); err != nil || !a.Confirmed {
				t.Errorf("got %v, %v", a, err)
			}
		}},
		{"answered before", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			if err := r.Complete(id, yes); err != nil {
				t.Error(err)
			}
			time.Sleep(59 * time.Second)
			if a, err := r.Wait(t.Context(), id); err != nil || !a.Confirmed {
				t.Errorf("got %v, %v", a, err)
			}
		}},
		{"timed out", func(t *testing.T, r *interrupt.Registry) {
			id, started := request(t, r, time.Minute), time.Now()
			_, err := r.Wait(t.Context(), id)
			expectOutcome(t, err, api.TimedOut)
			if took := time.Since(started); took != time.Minute {
				t.Errorf("it took %s", took)
			}
			expectUnknown(t, r.Complete(id, yes))
		}},
		{"the default time-out", func(t *testing.T, r *interrupt.Registry) {
			id, started := request(t, r, 0), time.Now()
			_, err := r.Wait(t.Context(), id)
			expectOutcome(t, err, api.TimedOut)
			if took := time.Since(started); took != interrupt.DefaultTimeout {
				t.Errorf("it took %s", took)
			}
		}},
		{"forgotten, unanswered", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			time.Sleep(time.Minute + 1)
			_, err := r.Wait(t.Context(), id)
			expectUnknown(t, err)
		}},
		{"forgotten with its answer", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			if err := r.Complete(id, yes); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute + 1)
			_, err := r.Wait(t.Context(), id)
			expectUnknown(t, err)
		}},
		{"dismissed", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			if err := r.Dismiss(id); err != nil {
				t.Error(err)
			}
			expectUnknown(t, r.Complete(id, yes))
			expectUnknown(t, r.Dismiss(id))
			_, err := r.Wait(t.Context(), id)
			expectOutcome(t, err, api.Dismissed)
		}},
		{"waited for twice", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			first := make(chan error)
			go func() { _, err := r.Wait(t.Context(), id); first <- err }()
			synctest.Wait()
			_, err := r.Wait(t.Context(), id)
			expectUnknown(t, err)
			if err := r.Complete(id, yes); err != nil {
				t.Error(err)
			}
			if err := <-first; err != nil {
				t.Error(err)
			}
			_, err = r.Wait(t.Context(), id)
			expectUnknown(t, err)
		}},
		{"cancelled: withdrawn", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("the run ends")
			time.AfterFunc(time.Second, func() { cancel(why) })
			if _, err := r.Wait(ctx, id); !errors.Is(err, why) {
				t.Errorf("got %v, want %v", err, why)
			}
			expectUnknown(t, r.Complete(id, yes))
		}},
		{"cancelled after the answer", func(t *testing.T, r *interrupt.Registry) {
			id := request(t, r, time.Minute)
			if err := r.Complete(id, yes); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if a, err := r.Wait(ctx, id); err != nil || !a.Confirmed { // Complete has promised it
				t.Errorf("got %v, %v", a, err)
			}
		}},
		{"closed", func(t *testing.T, r *interrupt.Registry) {
			id, answered := request(t, r, time.Minute), request(t, r, time.Minute)
			if err := r.Complete(answered, yes); err != nil {
				t.Error(err)
			}
			r.Close()
			_, err := r.Wait(t.Context(), id)
			expectOutcome(t, err, api.Unavailable)
			if a, err := r.Wait(t.Context(), answered); err != nil || !a.Confirmed {
				t.Errorf("got %v, %v", a, err)
			}
			_, err = r.Request(interrupt.Request{Type: interrupt.Confirm, Message: "Go on?"})
			expectOutcome(t, err, api.Unavailable)
		}},
		{"listed in order", func(t *testing.T, r *interrupt.Registry) {
			a, b, c := request(t, r, time.Minute), request(t, r, time.Minute), request(t, r, time.Minute)
			if err := r.Complete(b, yes); err != nil {
				t.Error(err)
			}
			got := r.Pending()
			if len(got) != 2 || got[0].ID != a || got[1].ID != c {
				t.Errorf("got %+v, want %s and %s", got, a, c)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // it fails when a goroutine is left behind
				var r interrupt.Registry
				test.run(t, &r)
				time.Sleep(interrupt.DefaultTimeout + 1)
				if got := r.Pending(); len(got) > 0 {
					t.Errorf("pending for ever: %+v", got)
				}
			})
		})
	}
}

// TestThousandsAtOnce: of all who answer, dismiss and give up at once, each request has exactly one outcome, and who
// waits and who answered agree about it.
func TestThousandsAtOnce(t *testing.T) {
	const requests, rivals = 5000, 4
	var r interrupt.Registry
	var all sync.WaitGroup
	for n := range requests {
		id := request(t, &r, time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		var completed, dismissed, over atomic.Int32
		var given [rivals]bool
		var each sync.WaitGroup
		for rival := range rivals {
			each.Go(func() {
				if n%3 == 0 && rival == 0 {
					cancel()
				} else if n%5 == 0 && rival == 1 {
					if r.Dismiss(id) == nil {
						dismissed.Add(1)
					}
				} else if err := r.Complete(id, interrupt.Answer{Selected: fmt.Sprint(rival)}); err == nil {
					completed.Add(1)
					given[rival] = true
				} else if !errors.Is(err, interrupt.ErrUnknown) {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			defer cancel()
			a, err := r.Wait(ctx, id)
			each.Wait()
			u, undecided := errors.AsType[*interrupt.UndecidedError](err)
			switch {
			case err == nil && completed.Load() == 1 && dismissed.Load() == 0 && given[a.Selected[0]-'0']:
			case undecided && u.Outcome == api.Dismissed && completed.Load() == 0 && dismissed.Load() == 1:
			case errors.Is(err, context.Canceled) && completed.Load()+dismissed.Load() == 0:
			default:
				t.Errorf("Wait: %v, %v; completed %d times, dismissed %d", a, err, completed.Load(), dismissed.Load())
			}
			over.Add(1)
		})
	}
	all.Wait()
	if got := r.Pending(); len(got) > 0 {
		t.Errorf("%d are left", len(got))
	}
}

// FuzzRegistry holds the registry against a model of it, a step for each byte.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte{0, 0, 1, 9, 2, 0, 33, 4, 0, 5, 18, 3})
	f.Fuzz(func(t *testing.T, steps []byte) {
		synctest.Test(t, func(t *testing.T) { checkAgainstModel(t, steps[:min(len(steps), 200)]) })
	})
}

// modelled is what the model knows of one request.
type modelled struct {
	id      string
	ends    time.Time
	outcome api.Outcome // "": open
	isGone  bool
}

func checkAgainstModel(t *testing.T, steps []byte) {
	var r interrupt.Registry
	var all []*modelled
	closed := false
	for _, step := range steps {
		synctest.Wait()         // what times out now has
		for _, m := range all { // the model's clock
			m.isGone = m.isGone || !time.Now().Before(m.ends)
		}
		var m *modelled
		if len(all) > 0 {
			m = all[int(step/8)%len(all)]
		}
		switch {
		case step%8 == 0 || m == nil:
			timeout := time.Duration(step/8+1) * time.Second
			id, err := r.Request(interrupt.Request{Type: interrupt.Confirm, Message: "Go on?", Timeout: timeout})
			if (err != nil) != closed {
				t.Fatalf("Request: %v", err)
			}
			if err == nil {
				all = append(all, &modelled{id: id, ends: time.Now().Add(timeout)})
			}
		case step%8 < 3:
			expectOnce(t, r.Complete(m.id, yes), m, api.Answered)
		case step%8 == 3:
			expectOnce(t, r.Dismiss(m.id), m, api.Dismissed)
		case step%8 == 4:
			expectWait(t, &r, m)
		case step%8 < 7:
			time.Sleep(time.Duration(step/8)*time.Second + 1)
		case step == 255:
			r.Close()
			closed = true
			for _, m := range all {
				if !m.isGone && m.outcome == "" {
					m.outcome = api.Unavailable
				}
			}
		}
	}
	time.Sleep(time.Minute)
	if got := r.Pending(); len(got) > 0 {
		t.Errorf("pending for ever: %+v", got)
	}
}

// expectOnce holds err, of a call that gives m an outcome, against the model.
func expectOnce(t *testing.T, err error, m *modelled, outcome api.Outcome) {
	t.Helper()
	if m.isGone || m.outcome != "" {
		expectUnknown(t, err)
		return
	}
	if err != nil {
		t.Error(err)
	}
	m.outcome = outcome
}

// expectWait waits for m and holds what comes of it against the model.
func expectWait(t *testing.T, r *interrupt.Registry, m *modelled) {
	t.Helper()
	a, err := r.Wait(t.Context(), m.id)
	switch {
	case m.isGone:
		expectUnknown(t, err)
	case m.outcome == "":
		expectOutcome(t, err, api.TimedOut)
		if !time.Now().Equal(m.ends) {
			t.Errorf("timed out at %s, want %s", time.Now(), m.ends)
		}
	case m.outcome == api.Answered:
		if err != nil || !a.Confirmed {
			t.Errorf("got %v, %v", a, err)
		}
	default:
		expectOutcome(t, err, m.outcome)
	}
	m.isGone = true
}
