package dialogs

import (
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

const linked = "See [the docs](https://example.com/a) and <https://example.com/b>."

// stopPrompts together have every kind of focusable widget of a prompt.
var stopPrompts = map[string]interact.Body{
	"confirm":    api.Confirm{Message: linked},
	"choice":     api.Ask{Question: linked, Options: []string{"a", "b"}},
	"text":       api.Ask{Question: linked},
	"many lines": api.Ask{Question: linked, Multiline: true},
	"command":    approval("Bash", object{"command": "npm run lint && rm -rf build/cache"}),
	"table":      api.Confirm{Message: "|a|\n|-|\n|" + linked + "|"},
	"plan":       approval("ExitPlanMode", object{"plan": "# A plan\n\n" + linked}),
}

// With any widget focused, Tab and Shift+Tab move on, Escape undoes one step and finally closes the prompt, and the
// chords answer: the affirmative once it is armed, the negative at any time.
func TestKeysWorkEverywhere(t *testing.T) {
	openAt := func(t *testing.T, body interact.Body, i int) (*screen, []fyne.Focusable) {
		s := newScreen(t)
		offers := policy.Offers{Parts: repeated(9, fresh("npm run lint"))}
		s.p.options.Offers = func(interact.ID) policy.Offers { return offers }
		s.open(request("1", body))
		s.open(request("2", api.Confirm{Message: "Another?"}))
		s.focusWindow()
		stops := s.tabStops()
		s.canvas().Focus(stops[i%len(stops)])
		s.settle()
		return s, stops
	}
	kinds := map[string]bool{}
	for name, body := range stopPrompts {
		s, stops := openAt(t, body, 0)
		back := map[fyne.Focusable]bool{}
		for range stops {
			s.canvas().FocusPrevious()
			back[s.canvas().Focused()] = true
		}
		if len(back) != len(stops) {
			t.Errorf("%s: %d stops with Shift+Tab, %d with Tab", name, len(back), len(stops))
		}
		for i, stop := range stops {
			kinds[fmt.Sprintf("%T", stop)] = true
			t.Run(fmt.Sprintf("%s/%d %T", name, i, stop), func(t *testing.T) {
				s, stops := openAt(t, body, i)
				if at := s.canvas().Focused(); at != stops[i] {
					t.Fatalf("the focus is on %T", at)
				}
				for _, move := range []func(){s.canvas().FocusNext, s.canvas().FocusPrevious} {
					s.canvas().Focus(stops[i])
					move()
					if s.canvas().Focused() == stops[i] {
						t.Error("a tab does not move on")
					}
				}
				s.canvas().Focus(stops[i])
				s.settle()
				if tabs, takes := stops[i].(fyne.Tabbable); takes && tabs.AcceptsTab() {
					t.Error("it keeps Tab for itself")
				}
				for range 3 { // a menu and a field are closed first
					s.key(fyne.KeyEscape)
				}
				s.wantOutcome("1", api.Dismissed)

				s, _ = openAt(t, body, i)
				s.chord(fyne.KeyReturn)
				s.wantOpen("1")
				if _, isAsk := body.(api.Ask); isAsk { // whose chord says that there is no answer yet
					return
				}
				s.pass(time.Second)
				s.chord(fyne.KeyReturn)
				if a, answered := s.answer("1"); !answered || !a.Confirmed && a.Outcome != api.Allowed {
					t.Errorf("armed, %+v", a)
				}
				s, _ = openAt(t, body, i)
				s.chord(fyne.KeyD)
				if a, answered := s.answer("1"); !answered || a.Confirmed || a.Outcome == api.Allowed {
					t.Errorf("refused, %+v", a)
				}
			})
		}
	}
	for _, want := range []string{
		"*dialogs.link", "*dialogs.field", "*dialogs.choice", "*dialogs.button", "*dialogs.sheet",
	} {
		if !kinds[want] {
			t.Errorf("no prompt has a %s", want)
		}
	}
}

// A link first asks, with the whole address, and nothing behind the question can be affirmed.
func TestLinkAsksInPrompt(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Confirm{Message: linked}))
	s.ready()
	at := -1
	stops := s.tabStops()
	for i, f := range stops {
		if _, isLink := f.(*link); isLink && at < 0 {
			at = i
		}
	}
	if at < 0 {
		t.Fatal("no link has the focus")
	}
	s.canvas().Focus(stops[at])
	s.settle()
	s.key(fyne.KeySpace)
	if s.p.window.menu == nil {
		t.Fatal("nothing asks")
	}
	if !s.shows("https://example.com/a") {
		t.Error("the question lacks the address")
	}
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.key(fyne.KeyEscape)
	if s.p.window.menu != nil {
		t.Error("Escape does not close the question")
	}
	s.wantOpen("1")
	if _, takes := stops[at].(desktop.Keyable); !takes {
		t.Error("the window does not hear of keys that go down on a link")
	}
}
