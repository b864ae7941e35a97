package hooks_test

import (
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/hooks"
)

// A call that is delivered again under its key joins the request that it made, also where it ends all others.
func TestTheSameKeyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		human := &interacttest.Prompter{Delay: time.Minute, Answer: interacttest.Always(interact.Answer{
			Outcome: api.Answered, Text: "yes",
		})}
		broker := interacttest.Broker(human, &interacttest.Policy{})
		defer broker.Close()
		h := hooks.New(hooks.Config{
			Agents: map[string]hooks.Protocol{"a": {Read: func(hooks.Call) (hooks.Step, error) {
				return hooks.Step{
					Ask: api.Ask{Question: "?"}, Over: hooks.Everything,
					Reply: hooks.Answered(func(a interact.Answer) (any, error) { return a.Text, nil }),
				}, nil
			}}},
			Broker: broker, Timeout: func() time.Duration { return time.Hour }, Log: slog.New(slog.DiscardHandler),
		})
		got := map[string]int{}
		var mu sync.Mutex
		var calls sync.WaitGroup
		for _, key := range []string{"other", "one", "one"} {
			calls.Go(func() {
				reply, err := h.Handle(t.Context(), hooks.Call{Agent: "a", IdempotencyKey: key})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[key+" "+string(reply)]++
			})
			synctest.Wait()
		}
		calls.Wait()
		if got[`one "yes"`] != 2 || got["other "] != 1 || len(human.Shown()) != 2 {
			t.Errorf("replies %v after %d prompts", got, len(human.Shown()))
		}
	})
}

// An event whose hook the agent started before that of a pending call, and that arrives after it, does not end it.
func TestAnEventThatArrivesLate(t *testing.T) {
	for name, tt := range map[string]struct {
		event time.Duration // when its hook started, after that of the call; -1: unknown
		ends  bool
	}{
		"earlier": {-10 * time.Millisecond, false}, "at once": {0, true}, "later": {10 * time.Millisecond, true},
		"unknown": {-1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				human := &interacttest.Prompter{Delay: time.Minute, Answer: interacttest.Always(interact.Answer{
					Outcome: api.Answered, Text: "yes",
				})}
				broker := interacttest.Broker(human, &interacttest.Policy{})
				defer broker.Close()
				read := func(c hooks.Call) (hooks.Step, error) {
					if c.Event == "over" {
						return hooks.Step{Over: hooks.Everything}, nil
					}
					return hooks.Step{
						Ask:   api.Ask{Question: "?"},
						Reply: hooks.Answered(func(a interact.Answer) (any, error) { return a.Text, nil }),
					}, nil
				}
				h := hooks.New(hooks.Config{
					Agents: map[string]hooks.Protocol{"a": {Read: read}},
					Broker: broker, Timeout: func() time.Duration { return time.Hour }, Log: slog.New(slog.DiscardHandler),
				})
				call, event := hooks.Call{Agent: "a"}, hooks.Call{Agent: "a", Event: "over"}
				call.Who.Process.Started = time.Now()
				if tt.event != -1 {
					event.Who.Process.Started = time.Now().Add(tt.event)
				}
				var reply []byte
				var calls sync.WaitGroup
				calls.Go(func() { reply, _ = h.Handle(t.Context(), call) })
				synctest.Wait()
				if _, err := h.Handle(t.Context(), event); err != nil {
					t.Error(err)
				}
				calls.Wait()
				if want := map[bool]string{false: `"yes"`}[tt.ends]; string(reply) != want {
					t.Errorf("the call gets %q, want %q", reply, want)
				}
			})
		})
	}
}
