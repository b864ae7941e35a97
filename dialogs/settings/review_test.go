package settings

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/policy/config"
)

const commented = `# my rules
policy:
  auto_allow: [read_only] # keep it so
  rules:
    - id: no-prod # never
      effect: deny
      tool: "mcp__prod__*"
`

const withMore = commented + `    - id: everything
      effect: allow
      tool: Bash
      command: make install
`

// tampered opens the settings while a change of the policy file is held.
func tampered(t *testing.T, theme, after string) (*Window, *fakeOperator) {
	t.Helper()
	o := somebody()
	o.state.Held = &config.HeldChange{Before: commented, After: after}
	return openWindow(t, o, theme), o
}

func TestAChangeIsSettled(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		w, o := tampered(t, "light", withMore)
		if w.main.Visible() || !w.review.content.Visible() {
			t.Fatal("the change is not shown alone")
		}
		button := w.review.undo
		if accepted {
			button = w.review.accept
		}
		test.Tap(button)
		if o.state.Held != nil || o.config().Policy.AskEverything == accepted {
			t.Errorf("%s: held %v", button.Text, o.state.Held)
		}
		if !w.main.Visible() || w.review.content.Visible() {
			t.Errorf("%s: the change is still shown", button.Text)
		}
	}
}

// A change can be accepted only after all of it was in view for long enough.
func TestAcceptIsArmed(t *testing.T) {
	w, o := tampered(t, "light", commented+strings.Repeat("# one line of many\n", 200)+withMore[len(commented):])
	if !w.review.accept.Disabled() {
		t.Error("a change that was not in view can be accepted")
	}
	var armed []func()
	w.After = func(d time.Duration, f func()) {
		if d != w.state.Config.Prompt.ArmAfter {
			t.Errorf("armed after %v", d)
		}
		armed = append(armed, f)
	}
	hold := func(h *config.HeldChange) {
		o.state.Held = h
		w.Fetch()
		w.Win.Canvas().Content().Refresh()
	}
	change := &config.HeldChange{Before: commented, After: withMore}
	hold(change)
	if !w.review.accept.Disabled() {
		t.Error("a change that has just appeared can be accepted")
	}
	hold(nil)
	hold(change)
	armed[0]()
	if !w.review.accept.Disabled() {
		t.Error("a change that has just appeared again can be accepted")
	}
	armed[1]()
	if w.review.accept.Disabled() {
		t.Error("it can never be accepted")
	}
}

// The window appears by itself: what the user types into another program accepts nothing.
func TestTypingAcceptsNoChange(t *testing.T) {
	w, o := tampered(t, "light", withMore)
	w.Win.Canvas().Focus(w.review.accept)
	for _, key := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter} {
		w.typeKey(key)
		if o.state.Held == nil {
			t.Fatalf("%s accepts the change", key)
		}
	}
	w.Win.Canvas().Focus(w.review.undo)
	if w.typeKey(fyne.KeySpace); o.state.Held == nil {
		t.Fatal("Space restores the old file")
	}
	w.review.armed = false
	w.review.arm()
	if w.press(fyne.KeyD, fyne.KeyModifierShortcutDefault); o.state.Held == nil {
		t.Fatal("the chord restores the old file before it is armed")
	}
	w.press(fyne.KeyReturn, fyne.KeyModifierShortcutDefault)
	if o.state.Held == nil {
		t.Fatal("the chord accepts a change that is not armed")
	}
	w.review.armed = true
	w.review.arm()
	w.press(fyne.KeyReturn, fyne.KeyModifierShortcutDefault)
	if o.state.Held != nil {
		t.Error("the chord does not accept the change")
	}
}

func TestAFileThatChangedAgainIsShownAgain(t *testing.T) {
	w, o := tampered(t, "light", withMore)
	again := &config.HeldChange{Before: commented, After: withMore + "# and more\n"}
	o.state.Held = again
	test.Tap(w.review.accept)
	if o.state.Held == nil || w.review.held != *again || shownBy(w.review.problem) == "" {
		t.Errorf("held %v, shown %+v", o.state.Held, w.review.held)
	}
}

// Where there is no telling what was accepted, the user accepts what there is, even if that is nothing.
func TestAnUnknownPolicyIsAccepted(t *testing.T) {
	for _, after := range []string{withMore, ""} {
		o := somebody()
		o.state.Held = &config.HeldChange{After: after, IsUnknown: true}
		w := openWindow(t, o, "light")
		if !w.review.unknown.Visible() || w.review.changed.Visible() || w.review.undo.Visible() {
			t.Error("it is shown as a change, which could be undone")
		}
		test.Tap(w.review.accept)
		if o.state.Held != nil {
			t.Errorf("%q is still held", after)
		}
	}
}

// A small screen shows the buttons, also below the problem that the last press met.
func TestReviewOnASmallScreen(t *testing.T) {
	w, _ := tampered(t, "light", strings.Repeat("# one line of many\n", 200))
	w.review.problem.Say(strings.Repeat("a long problem ", 20))
	w.Win.Resize(fyne.NewSize(500, 320))
	if got := w.Win.Content().MinSize().Height; got > 320 {
		t.Errorf("the window must be %v high", got)
	}
}
