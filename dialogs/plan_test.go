package dialogs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

func TestPlanIsApprovedAsAPlan(t *testing.T) {
	s := newScreen(t)
	s.open(planRequest("1", "# Move\n\n1. first"))
	for _, text := range []string{"— wants to carry out this plan", "Approve plan"} {
		if !s.shows(text) {
			t.Errorf("%q is not there", text)
		}
	}
	if s.shows("Once") {
		t.Error("a plan is offered for more than once")
	}
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.Once {
		t.Errorf("scope %q", a.Scope)
	}
}

// A plan must be read to its end; lines skipped by a jump stay reported.
func TestPlanMustBeReadToItsEnd(t *testing.T) {
	s := newScreen(t)
	s.open(planRequest("1", strings.Repeat("one more step of many\n\n", 60)))
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.key(fyne.KeyEnd)
	if got := s.page().text.(*sheet).state.Text; got != "You haven't seen all of it yet." {
		t.Errorf("after a jump to the end it says %q", got)
	}
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// Only a plan of Claude Code that can be parsed reliably is shown as a plan.
func TestWhatIsNoPlan(t *testing.T) {
	for name, a := range map[string]interact.Approve{
		"another tool": {Tool: "Deploy", Input: json.RawMessage(`{"plan":"all is well"}`)},
		"no text":      {Tool: interact.ExitPlanMode, Input: json.RawMessage(`{"plan":["a"]}`)},
		"empty":        {Tool: interact.ExitPlanMode, Input: json.RawMessage(`{"plan":" "}`)},
		"two plans":    {Tool: interact.ExitPlanMode, Input: json.RawMessage(`{"plan":"a","plan":"b"}`)},
		"too long": {Tool: interact.ExitPlanMode, Input: call(t, interact.ExitPlanMode, object{"plan": strings.Repeat("x",
			prompt.MaxMarkdownBytes)}).Input},
	} {
		if prompt.IsPlan(a) {
			t.Errorf("%s: shown as a plan", name)
		}
	}
}

// If the agent supports it, a plan is approved with or without its edits.
func TestPlanAndItsEdits(t *testing.T) {
	for name, test := range map[string]struct {
		press func(s *screen)
		want  int
	}{
		"asks for each":     {func(s *screen) { s.chord(fyne.KeyReturn) }, 2},
		"asks, by click":    {func(s *screen) { s.tapText("Approve, ask for each edit") }, 2},
		"lets pass":         {func(s *screen) { s.otherwise() }, 3},
		"lets pass, by tap": {func(s *screen) { s.tapText("Approve, allow edits") }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			r := planRequest("1", "# Move\n\n1. first")
			b := r.Body.(interact.Approve)
			b.Suggestions = []string{"something else", interact.AskForEdits, interact.LetEditsPass}
			r.Body = b
			s.open(r)
			s.focusWindow()
			test.press(s)
			s.wantOpen("1") // not armed yet
			s.pass(time.Second)
			s.canvas().Focus(s.page().approval.alternative)
			s.key(fyne.KeyReturn)
			s.wantOpen("1") // no plain key approves
			test.press(s)
			if a := s.wantOutcome("1", api.Allowed); a.Suggestion != test.want || a.Scope != policy.Once {
				t.Errorf("answer %+v, want suggestion %d", a, test.want)
			}
		})
	}
}

// otherwise presses the chord of the second affirmative.
func (s *screen) otherwise() {
	s.down(fyne.KeyReturn)
	s.shortcut(fyne.KeyReturn, fyne.KeyModifierShortcutDefault|fyne.KeyModifierShift)
}

// The agent receives feedback on a plan; nothing approves while the user writes it.
func TestFeedbackOnAPlan(t *testing.T) {
	s := newScreen(t)
	r := planRequest("1", "# Move\n\n1. first")
	b := r.Body.(interact.Approve)
	b.Suggestions = []string{interact.AskForEdits, interact.LetEditsPass}
	r.Body = b
	s.open(r)
	s.ready()
	s.tapText("Keep planning with feedback…")
	s.typeText("look first")
	s.pass(time.Second)
	s.otherwise()
	if a := s.wantOutcome("1", api.Denied); a.Reason != "look first" {
		t.Errorf("reason %q", a.Reason)
	}
}

func TestPlanShowsWhatElseTheInputHolds(t *testing.T) {
	s := newScreen(t)
	input := call(t, interact.ExitPlanMode, object{"plan": "do it", "allowedPrompts": "push\u202e to main"}).Input
	s.open(request("1", interact.Approve{Tool: interact.ExitPlanMode, Input: input}))
	v := viewOf(interact.Approve{Tool: interact.ExitPlanMode, Input: input}, in("/"))
	shown := texts(planBlocks(nil, v.Content), nil)
	if !strings.Contains(shown, "allowedPrompts") || !strings.Contains(shown, "U+202E") {
		t.Errorf("shown: %s", shown)
	}
	if !v.HasHidden || len(v.Warnings) == 0 {
		t.Error("no warning of the hidden character")
	}
}
