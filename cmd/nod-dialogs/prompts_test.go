package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"nod/api"
	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
)

// trayProcess is what the prompts fetch from and answer to.
type trayProcess struct {
	operator.Operator
	mu      sync.Mutex
	pending []operator.Prompt
	wanted  []operator.View
	refuse  error // of answers
	drafts  []string
	slow    chan struct{} // a draft waits for it; nil: none does
	late    chan struct{} // what was fetched arrives once this is closed; nil: at once
	answers []operator.Answer
}

func (o *trayProcess) Prompts(_ context.Context, known map[interact.ID]int) (operator.Pending, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.pending)
	for i := range all {
		if known[all[i].ID] == all[i].Revision {
			all[i] = operator.Prompt{ID: all[i].ID, Revision: all[i].Revision}
		}
	}
	wanted := o.wanted
	o.wanted = nil
	if late := o.late; late != nil {
		o.mu.Unlock()
		<-late
		o.mu.Lock()
	}
	return operator.Pending{Prompts: all, Wanted: wanted}, nil
}

func (o *trayProcess) Answer(_ context.Context, a operator.Answer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = append(o.answers, a)
	if o.refuse == nil {
		o.pending = slices.DeleteFunc(o.pending, func(p operator.Prompt) bool { return p.ID == a.ID })
	}
	return o.refuse
}

func (o *trayProcess) SaveDraft(_ context.Context, id interact.ID, draft []byte) error {
	o.mu.Lock()
	slow := o.slow
	o.drafts = append(o.drafts, fmt.Sprintf("%s %s", id, draft))
	o.mu.Unlock()
	if slow != nil {
		<-slow
	}
	return o.refuse
}

// window shows prompts until the test answers them.
type window struct {
	mu      sync.Mutex
	open    map[interact.ID]chan interact.Answer
	opened  []interact.ID // in the order of the calls
	renewed []interact.Request
	fails   error
}

func (w *window) Open(r interact.Request, _ policy.Decision) func(context.Context) (interact.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fails, answered := w.fails, make(chan interact.Answer)
	w.open[r.ID] = answered
	w.opened = append(w.opened, r.ID)
	return func(ctx context.Context) (interact.Answer, error) {
		defer func() {
			w.mu.Lock()
			delete(w.open, r.ID)
			w.mu.Unlock()
		}()
		if fails != nil {
			return interact.Answer{}, fails
		}
		select {
		case a := <-answered:
			return a, nil
		case <-ctx.Done():
			return interact.Answer{}, ctx.Err()
		}
	}
}

func (w *window) Renew(r interact.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renewed = append(w.renewed, r)
}

// promptTest is prompts between a tray process and a window.
type promptTest struct {
	*testing.T
	prompts *prompts
	tray    *trayProcess
	window  *window
	views   []operator.View
}

func inStep(t *testing.T, test func(*promptTest)) {
	synctest.Test(t, func(t *testing.T) {
		p := &promptTest{
			T: t, prompts: newPrompts(func() {}), tray: &trayProcess{},
			window: &window{open: map[interact.ID]chan interact.Answer{}},
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go p.prompts.saveDrafts(ctx, p.tray)
		go func() {
			p.prompts.run(ctx, p.tray, p.window, func(v operator.View) { p.views = append(p.views, v) })
			close(ended)
		}()
		test(p)
		stop()
		<-ended
	})
}

// now makes these the pending prompts.
func (p *promptTest) now(pending ...operator.Prompt) {
	p.tray.mu.Lock()
	p.tray.pending = pending
	p.tray.mu.Unlock()
	p.prompts.changed()
	synctest.Wait()
}

func pendingPrompt(id interact.ID, revision int, saves string) operator.Prompt {
	return operator.Prompt{
		ID: id, Revision: revision, Request: &interact.Request{ID: id, Body: interact.Approve{Tool: "Bash"}},
		Offers: policy.Offers{Grants: []policy.Offer{{Scope: policy.Always, Cover: policy.CoverInput, Text: saves}}},
		Digest: "of " + saves,
	}
}

func (p *promptTest) wantOpen(ids ...interact.ID) {
	p.Helper()
	p.window.mu.Lock()
	defer p.window.mu.Unlock()
	for _, id := range ids {
		if p.window.open[id] == nil {
			p.Errorf("%s is not on screen", id)
		}
	}
	if len(p.window.open) != len(ids) || p.prompts.count() != len(ids) {
		p.Errorf("%d on screen, %d known, want %d", len(p.window.open), p.prompts.count(), len(ids))
	}
}

// What the user answers while the prompts are fetched does not come back, however it has changed.
func TestAnAnsweredPromptDoesNotComeBack(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.now(pendingPrompt("a", 1, ""))
		p.tray.late = make(chan struct{})
		p.now(pendingPrompt("a", 2, "more"))
		p.window.open["a"] <- interact.Answer{Outcome: api.Denied}
		synctest.Wait()
		close(p.tray.late)
		synctest.Wait()
		p.wantOpen()
		if len(p.window.opened) != 1 {
			t.Errorf("opened: %v", p.window.opened)
		}
	})
}

// Goroutines that open a prompt each open them in any order.
func TestOldestPromptOpensFirst(t *testing.T) {
	var pending []operator.Prompt
	var want []interact.ID
	for i := range 50 {
		id := interact.ID(fmt.Sprint(i))
		want = append(want, id)
		pending = append(pending, pendingPrompt(id, 1, ""))
	}
	inStep(t, func(p *promptTest) {
		p.now(pending...)
		if !slices.Equal(p.window.opened, want) {
			t.Errorf("opened in the order %v", p.window.opened)
		}
	})
}

func TestPromptsFollowWhatIsPending(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.now(pendingPrompt("a", 1, ""), pendingPrompt("b", 1, ""))
		p.wantOpen("a", "b")
		p.now(pendingPrompt("b", 1, ""), pendingPrompt("c", 1, ""))
		p.wantOpen("b", "c")
		if len(p.window.renewed) != 0 {
			t.Error("what has not changed was renewed")
		}
		p.now()
		p.wantOpen()
	})
}

// An answer names the prompt that was shown last; when it is refused the prompt comes back.
func TestAnswerThatIsRefused(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.now(pendingPrompt("a", 1, "allow make"))
		p.now(pendingPrompt("a", 2, "allow make and rm"))
		if len(p.window.renewed) != 1 {
			t.Errorf("renewed %d times", len(p.window.renewed))
		}
		p.tray.refuse = operator.ErrChanged
		always := interact.Answer{Outcome: api.Allowed, Scope: policy.Always, Covers: policy.CoverInput}
		p.window.open["a"] <- always
		synctest.Wait()
		p.wantOpen("a")
		p.tray.refuse = nil
		p.window.open["a"] <- always
		synctest.Wait()
		p.wantOpen()
		if n := len(p.tray.answers); n != 2 || p.tray.answers[1].Digest != "of allow make and rm" {
			t.Errorf("%d answers: %+v", n, p.tray.answers)
		}
	})
}

// What changes after the user has answered was not what they answered.
func TestAnswerToWhatWasShown(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.now(pendingPrompt("a", 1, "allow make"))
		p.prompts.offers("a") // the page shows them
		p.now(pendingPrompt("a", 2, "allow make and rm"))
		p.window.open["a"] <- interact.Answer{Outcome: api.Allowed, Scope: policy.Always, Covers: policy.CoverInput}
		synctest.Wait()
		if got := p.tray.answers[0].Digest; got != "of allow make" {
			t.Errorf("the answer is to the prompt %q", got)
		}
	})
}

// Drafts reach nod in the order in which they were typed; of those that come while one is under way the last does.
func TestDraftsAreSaved(t *testing.T) {
	inStep(t, func(p *promptTest) {
		one := pendingPrompt("a", 1, "")
		one.Draft = []byte("as it was")
		p.now(one)
		if got := string(p.prompts.find("a").Draft); got != "as it was" || p.prompts.find("b").Draft != nil {
			t.Errorf("the draft is %q", got)
		}
		p.tray.slow = make(chan struct{})
		for _, draft := range []string{"h", "ha", "half"} {
			p.prompts.saveDraft("a", []byte(draft))
			if draft == "h" {
				synctest.Wait()
			}
		}
		p.prompts.saveDraft("b", nil)
		close(p.tray.slow)
		synctest.Wait()
		slices.Sort(p.tray.drafts[1:])
		if want := []string{"a h", "a half", "b "}; !slices.Equal(p.tray.drafts, want) {
			t.Errorf("saved %q, want %q", p.tray.drafts, want)
		}
	})
}

// A draft that is not saved ends nothing.
func TestDraftsThatAreRefused(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.tray.refuse = errors.New("disk full")
		for _, draft := range []string{"half", "half a sentence"} {
			p.prompts.saveDraft("a", []byte(draft))
			synctest.Wait()
		}
		if want := []string{"a half", "a half a sentence"}; !slices.Equal(p.tray.drafts, want) {
			t.Errorf("saved %q, want %q", p.tray.drafts, want)
		}
	})
}

// A prompt that cannot be shown is told, and is no answer.
func TestPromptThatFails(t *testing.T) {
	inStep(t, func(p *promptTest) {
		p.window.fails = errors.New("no window")
		p.now(pendingPrompt("a", 1, ""))
		answers := p.tray.answers
		if len(answers) != 1 || answers[0].Failure != "no window" || answers[0].Answer.Outcome != "" {
			t.Errorf("answers: %+v", answers)
		}
	})
}

// A window that is wanted comes after the prompts that were pending then.
func TestViewsFollowPrompts(t *testing.T) {
	inStep(t, func(p *promptTest) {
		synctest.Wait() // what was pending at the start
		p.tray.wanted = []operator.View{{Request: "a"}}
		p.now(pendingPrompt("a", 1, ""))
		if len(p.views) != 1 || p.views[0].Request != "a" {
			t.Errorf("%+v", p.views)
		}
		p.wantOpen("a")
	})
}
