package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/interact"
	"nod/policy"
	"nod/policy/replay"
)

// welcomed shows the welcome on a canvas of 900 by 600.
func welcomed(t *testing.T, o *fakeOperator, theme string) *Window {
	t.Helper()
	w := newWindow(t, o, theme)
	w.Aside = func(f func()) { f() }
	w.After = func(_ time.Duration, f func()) { f() }
	w.Show(true)
	w.welcome.replay.run = func(context.Context, policy.Policy, func(float64)) (*replay.Report, error) {
		return &replay.Report{
			Files: 9, Counts: replay.Counts{Calls: 1204, Asked: 71, Always: 19}, Rules: &replay.Rules{},
		}, nil
	}
	w.Win.Resize(fyne.NewSize(900, 600))
	return w
}

// A new user sets up an agent, looks at past calls and answers a request, all in one place, and is welcomed once.
func TestTheWelcome(t *testing.T) {
	o := somebody()
	o.answer = interact.Answer{Outcome: api.Allowed, By: api.ByHuman}
	w := welcomed(t, o, "light")
	if w.main.Visible() || !w.welcome.content.Visible() || w.title() != "Welcome to nod" {
		t.Error("the settings are in view")
	}
	if m := w.Win.Content().MinSize(); m.Width > 640 || m.Height > 330 {
		t.Errorf("it needs %v", m)
	}
	if n := len(w.welcome.agents.found.Objects); n != 2 {
		t.Errorf("%d agents found", n)
	}
	card := w.welcome.agents.cards[0]
	test.Tap(card.setUp)
	test.Tap(buttonIn(t, card.body, "Set up"))
	m, err := w.opts.Machine()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(m.Home, ".claude", "settings.json")); err != nil ||
		!strings.Contains(string(text), "claude-code") {
		t.Errorf("%v: %s", err, text)
	}
	test.Tap(buttonIn(t, w.welcome.replay.content, lookAtThePast))
	if markup := test.RenderObjectToMarkup(w.welcome.replay.content); !strings.Contains(markup,
		"nod would have asked about 71 of 1,204 calls") {
		t.Errorf("shows %s", markup)
	}
	test.Tap(w.welcome.try)
	if got := shownBy(w.welcome.answer); o.calls("TestRequest") != 1 || !strings.Contains(got, "You allowed it.") {
		t.Errorf("says %q", got)
	}
	if o.calls("Welcomed") != 0 {
		t.Error("it counts as seen before the user is done")
	}
	test.Tap(buttonIn(t, w.welcome.content, "Done"))
	if w.Visible() || o.calls("Welcomed") != 1 {
		t.Errorf("open %v, seen %d times", w.Visible(), o.calls("Welcomed"))
	}
	w.Show(false)
	if !w.main.Visible() || w.welcome.content.Visible() || w.title() != title {
		t.Error("the settings are not in view")
	}
	w.tabs.selectIndex(onAbout)
	test.Tap(buttonIn(t, w.tabs.page().content, "Show the welcome"))
	if w.main.Visible() || !w.welcome.content.Visible() {
		t.Error("the welcome does not come back")
	}
	test.Tap(buttonIn(t, w.welcome.content, "All settings"))
	if !w.main.Visible() || w.welcome.content.Visible() || o.calls("Welcomed") != 2 {
		t.Error("the settings do not come back")
	}
}

func TestWhatCameOfATestRequest(t *testing.T) {
	for _, tt := range []struct {
		answer interact.Answer
		err    error
		want   string
	}{
		{interact.Answer{Outcome: api.Allowed, By: api.ByHuman}, nil, "You allowed it."},
		{interact.Answer{Outcome: api.Denied, By: api.ByHuman}, nil, "You denied it."},
		{interact.Answer{Outcome: api.Allowed, By: api.ByPolicy}, nil, "Your rules allowed it"},
		{interact.Answer{Outcome: api.Denied, By: api.ByPolicy}, nil, "Your rules denied it"},
		{interact.Answer{Outcome: api.Dismissed, By: api.ByHuman}, nil, "not allowed"},
		{interact.Answer{Outcome: api.TimedOut}, nil, "not allowed"},
		{interact.Answer{Outcome: api.Unavailable, Reason: "nod is paused"}, nil, "Nobody was asked: nod is paused."},
		{interact.Answer{}, errors.New("the connection broke"), "the connection broke"},
	} {
		o := somebody()
		o.answer, o.refuse = tt.answer, tt.err
		w := welcomed(t, o, "light")
		test.Tap(w.welcome.try)
		if got := shownBy(w.welcome.answer); !strings.Contains(got, tt.want) || w.welcome.try.Disabled() {
			t.Errorf("%+v: says %q", tt, got)
		}
	}
}

// Closing the welcome cancels its work.
func TestClosingTheWelcomeEndsItsWork(t *testing.T) {
	o := somebody()
	live(t, o, func(w *Window, ui func(func())) {
		ui(func() { w.Show(true) })
		var ended error
		w.welcome.replay.run = func(ctx context.Context, _ policy.Policy, _ func(float64)) (*replay.Report, error) {
			<-ctx.Done()
			ended = ctx.Err()
			return nil, ended
		}
		ui(func() { test.Tap(buttonIn(t, w.welcome.replay.content, lookAtThePast)) })
		ui(w.close)
		if ended == nil {
			t.Error("it still reads")
		}
	})
}

func TestTheWelcomeLeadsToTheSandbox(t *testing.T) {
	w := welcomed(t, somebody(), "light")
	test.Tap(buttonIn(t, w.welcome.content, "Show"))
	if !w.main.Visible() || w.tabs.selected != onSandbox {
		t.Errorf("the settings are in view: %v, page %d", w.main.Visible(), w.tabs.selected)
	}
}
