package dialogs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/dialogs/prompt"
	"nod/interact"
	"nod/policy"
)

func TestAllowTakesArmedButton(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.focusWindow()
	s.pass(699 * time.Millisecond)
	s.tapText("Allow")
	s.wantOpen("1") // too early: the wait starts again
	s.pass(699 * time.Millisecond)
	s.tapText("Allow")
	s.wantOpen("1")
	s.pass(700 * time.Millisecond)
	s.tapText("Allow")
	a := s.wantOutcome("1", api.Allowed)
	if a.Scope != policy.Once {
		t.Errorf("scope %q, want once", a.Scope)
	}
	if want := interact.Digest([]byte(`{"command":"make"}`)); a.ShownSHA256 != want {
		t.Errorf("shown_sha256 %s, want %s", a.ShownSHA256, want)
	}
}

// A change of the prompt after it was armed restarts the wait.
func TestDisturbanceDisarms(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *screen)
	}{
		{"the focus goes and comes back", func(s *screen) { s.blurWindow(); s.focusWindow() }},
		{"so fast that nobody noticed", func(s *screen) {
			f := s.canvas().Focused()
			f.FocusLost()
			f.FocusGained()
			s.settle()
		}},
		{"resized", func(s *screen) { s.p.window.win.Resize(fyne.NewSize(700, 700)) }},
		{"next and back", func(s *screen) { s.open(bash("2", "other")); s.chord(fyne.KeyPeriod); s.chord(fyne.KeyComma) }},
		{"a menu was open", func(s *screen) { s.tap(s.page().head.more); s.key(fyne.KeyEscape) }},
		{"the scope changed", func(s *screen) { s.tapText("Once"); s.tapText("Always") }},
		{"the raw input was opened", func(s *screen) { s.tapText("Whole input (JSON)") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.ready()
			test.do(s)
			s.chord(fyne.KeyReturn)
			s.wantOpen("1")
			s.pass(time.Second)
			s.chord(fyne.KeyReturn)
			s.wantOutcome("1", api.Allowed)
		})
	}
}

func TestNotFocusedIsNeverArmed(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.pass(time.Hour) // shown without the focus
	s.chord(fyne.KeyReturn)
	s.tapText("Allow")
	s.wantOpen("1")
	s.ready()
	s.blurWindow()
	s.pass(time.Hour)
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
}

// A new prompt does not affect the current one, which stays armed.
func TestNewestDoesNotTakeThePlace(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.open(bash("2", "rm -rf /"))
	if got := s.page().entry.request.ID; got != "1" {
		t.Fatalf("the prompt shows %s", got)
	}
	if got := s.page().head.queue.text; got != "1 of 2 ›" {
		t.Errorf("the queue button says %q", got)
	}
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
	s.wantOpen("2")
}

// No plain key allows, whatever has the focus, armed or not. Only on Deny does one decide.
func TestPlainKeysNeverAllow(t *testing.T) {
	keys := []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter, fyne.KeyY, fyne.Key1, fyne.KeyUp, fyne.KeyDelete}
	for _, armed := range []bool{false, true} {
		s := newScreen(t)
		s.open(bash("1", "make"))
		s.focusWindow()
		if armed {
			s.pass(time.Second)
		}
		stops := s.tabStops()
		for _, stop := range stops {
			if stop == fyne.Focusable(s.page().no) {
				continue
			}
			for _, k := range keys {
				s.canvas().Focus(stop)
				s.settle()
				if armed {
					s.pass(time.Second)
				}
				s.key(k)
				s.typeText("y1 ")
				s.wantOpen("1")
				if menu := s.p.window.menu; menu != nil { // the lines that end the prompt
					s.canvas().Focus(menu.items[len(menu.items)-1])
					s.key(k)
					s.wantOpen("1")
				}
				s.p.window.closeMenu()
				s.page().kind.stepBack()
			}
		}
	}
}

// tabStops moves through all widgets with Tab.
func (s *screen) tabStops() []fyne.Focusable {
	start := s.canvas().Focused()
	stops := []fyne.Focusable{start}
	for {
		s.canvas().FocusNext()
		s.settle()
		f := s.canvas().Focused()
		if f == start || len(stops) > 50 {
			return stops
		}
		stops = append(stops, f)
	}
}

func TestTabOrder(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "other"))
	var names []string
	for _, f := range s.tabStops() {
		switch x := f.(type) {
		case *sheet:
			names = append(names, "text")
		case *button:
			names = append(names, x.text)
		}
	}
	want := "text, Whole input (JSON), Deny, Deny with reason…, Once, Allow, 1 of 2 ›, "
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("Tab goes\n%s, want\n%s", got, want)
	}
}

func TestFocusStartsOnTheText(t *testing.T) {
	for name, r := range samples {
		s := newScreen(t)
		s.open(r)
		if _, isButton := s.canvas().Focused().(*button); isButton || s.canvas().Focused() == nil {
			t.Errorf("%s: the focus starts on %T", name, s.canvas().Focused())
		}
	}
}

// A click on the background takes the focus away; it must come back, or nod would not notice when the window loses it.
func TestFocusIsNeverNowhere(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.canvas().Unfocus()
	s.settle()
	if s.canvas().Focused() == nil {
		t.Fatal("nothing has the focus")
	}
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed) // the window never lost it
}

// Moving the focus within the prompt does not restart the wait.
func TestFocusWithinThePromptStaysArmed(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.canvas().FocusNext()
	s.settle()
	s.canvas().FocusNext()
	s.settle()
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

func TestDenyNeverWaits(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.tapText("Deny")
	if a := s.wantOutcome("1", api.Denied); a.Reason != "" {
		t.Errorf("reason %q, want none", a.Reason)
	}
	s.pass(time.Second)
	s.open(bash("2", "make"))
	s.chord(fyne.KeyD)
	s.wantOutcome("2", api.Denied)
}

func TestDenyAndSayWhy(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.tapText("Deny with reason…")
	s.typeText("use the Makefile of the shop")
	s.chord(fyne.KeyD)
	if a := s.wantOutcome("1", api.Denied); a.Reason != "use the Makefile of the shop" {
		t.Errorf("reason %q", a.Reason)
	}
}

// While the user writes a reason nothing allows, even if the prompt is armed: the affirmative sends the reason.
func TestRefusalIsNoAllow(t *testing.T) {
	for name, press := range map[string]func(s *screen){
		"Ctrl+Enter": func(s *screen) { s.chord(fyne.KeyReturn) },
		"Enter":      func(s *screen) { s.key(fyne.KeyReturn) },
		"keypad":     func(s *screen) { s.key(fyne.KeyEnter) },
		"button":     func(s *screen) { s.tapText("Deny with this reason") },
		"Ctrl+Enter beside the field": func(s *screen) {
			s.canvas().Focus(s.page().text)
			s.chord(fyne.KeyReturn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.ready()
			s.tapText("Deny with reason…")
			for _, text := range []string{"Allow", "Once"} {
				if findTappable(s.canvas().Content(), text) != nil {
					t.Errorf("%s is offered", text)
				}
			}
			s.typeText("use the Makefile")
			s.down(desktop.KeyShiftLeft)
			s.key(fyne.KeyReturn) // breaks the line
			s.canvas().Focused().(desktop.Keyable).KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
			s.typeText("of the shop")
			s.ready()
			press(s)
			if a := s.wantOutcome("1", api.Denied); a.Reason != "use the Makefile\nof the shop" {
				t.Errorf("reason %q", a.Reason)
			}
		})
	}
}

// Escape closes the reason. Its text is kept, but not sent.
func TestRefusalIsTakenUpAgain(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.tapText("Deny with reason…")
	s.typeText("not now")
	s.key(fyne.KeyEscape)
	s.find("Allow")
	s.tapText("Deny with reason…")
	s.typeText(", later")
	s.key(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Denied); a.Reason != "not now, later" {
		t.Errorf("reason %q", a.Reason)
	}
}

// A chord that is held down answers one prompt, however many there are and however long it is held.
func TestHeldChordAnswersOne(t *testing.T) {
	s := newScreen(t)
	for i := range 5 {
		s.open(bash(string(rune('1'+i)), "make"))
	}
	s.ready()
	s.chord(fyne.KeyD)
	s.wantOutcome("1", api.Denied)
	for range 100 {
		s.pass(40 * time.Millisecond)
		s.shortcut(fyne.KeyD, fyne.KeyModifierShortcutDefault)
		s.shortcut(fyne.KeyReturn, fyne.KeyModifierShortcutDefault)
		s.repeat(fyne.KeyEscape)
	}
	s.wantOpen("2")
	s.chord(fyne.KeyD)
	s.wantOutcome("2", api.Denied)
}

// The same holds if the window closes and opens again with another prompt.
func TestChordHeldOver(t *testing.T) {
	for name, away := range map[string]time.Duration{
		"it has not repeated yet": 100 * time.Millisecond, "it repeats": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.ready()
			s.chord(fyne.KeyD)
			s.wantOutcome("1", api.Denied)
			s.pass(away)
			s.open(bash("2", "make"))
			s.focusWindow()
			s.pass(max(repeatDelay-away, repeatTime) - time.Millisecond)
			s.chord(fyne.KeyD) // as which the next repeat comes to a window that has just got the focus
			for range 50 {
				s.pass(40 * time.Millisecond)
				s.shortcut(fyne.KeyD, fyne.KeyModifierShortcutDefault)
			}
			s.wantOpen("2")
			s.chord(fyne.KeyD)
			s.wantOutcome("2", api.Denied)
		})
	}
}

// A press just after an answer is not sent, and the prompt says so, without a longer wait.
func TestEchoIsShown(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "make"))
	s.ready()
	s.chord(fyne.KeyD)
	for range 4 { // hammering
		s.pass(quietAfterAnswer/4 - time.Millisecond)
		if s.page().no.ready {
			t.Error("Deny looks as if it worked")
		}
		s.chord(fyne.KeyD)
		s.wantOpen("2")
		if !s.shows("Not sent: that was too fast. Press again.") {
			t.Fatalf("the prompt says %q", s.page().status.Text)
		}
	}
	s.pass(4 * time.Millisecond)
	if !s.page().no.ready {
		t.Error("Deny looks as if it did not work")
	}
	s.chord(fyne.KeyD)
	s.wantOutcome("2", api.Denied)
}

// The keys of tabs go through the queue.
func TestStepKeys(t *testing.T) {
	const ctrl = fyne.KeyModifierControl
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(request("2", api.Ask{Question: "Why?"})) // whose field has the focus
	for _, press := range []struct {
		key      fyne.KeyName
		modifier fyne.KeyModifier
	}{
		{fyne.KeyTab, ctrl}, {fyne.KeyTab, ctrl | fyne.KeyModifierShift}, {fyne.KeyPageDown, ctrl}, {fyne.KeyPageUp, ctrl},
		{fyne.KeyPeriod, fyne.KeyModifierShortcutDefault}, {fyne.KeyComma, fyne.KeyModifierShortcutDefault},
	} {
		before := s.page()
		s.shortcut(press.key, press.modifier)
		if s.page() == before {
			t.Errorf("%s does not leave the prompt", press.key)
		}
	}
}

// Keys press a focused button as everywhere else, except one that allows: that one says which keys do.
func TestKeysOnButtons(t *testing.T) {
	for _, key := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter} {
		s := newScreen(t)
		s.open(bash("1", "make"))
		s.ready()
		s.canvas().Focus(s.page().yes)
		s.settle()
		s.key(key)
		s.wantOpen("1")
		if want := "A single key can't allow: press " + affirmativeHint() + "."; !s.shows(want) {
			t.Errorf("the prompt says %q, want %q", s.page().status.Text, want)
		}
		s.canvas().Focus(s.page().no)
		s.settle()
		s.repeat(key) // held down since it was somewhere else
		s.wantOpen("1")
		s.key(key)
		s.wantOutcome("1", api.Denied)
	}
}

// The usual keys for a context menu open the other actions, also from a text field.
func TestMenuKeys(t *testing.T) {
	for _, key := range []fyne.KeyName{fyne.KeyF10, desktop.KeyMenu} {
		for _, r := range []interact.Request{
			bash("1", "make"), request("1", api.Ask{Question: "Why?"}), request("1", api.Ask{Question: "Why?", Multiline: true}),
		} {
			s := newScreen(t)
			s.open(r)
			s.key(key)
			if s.p.window.menu == nil {
				t.Errorf("%s opens nothing on %+v", key, r.Body)
			}
		}
	}
}

func TestDismissal(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *screen)
	}{
		{"Escape", func(s *screen) { s.key(fyne.KeyEscape) }},
		{"Escape with nothing focused", func(s *screen) {
			s.canvas().Unfocus()
			s.key(fyne.KeyEscape)
		}},
		{"closing the window", func(s *screen) { s.p.window.close() }},
		{"closing the window with a menu", func(s *screen) {
			s.tap(s.page().head.more)
			s.p.window.close()
		}},
		{"answer in the terminal instead", func(s *screen) {
			s.tap(s.page().head.more)
			s.tapText("Decide in the terminal")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.ready()
			test.do(s)
			if a := s.wantOutcome("1", api.Dismissed); a.Reason == "" {
				t.Error("the agent is not told that nobody decided")
			}
		})
	}
}

// Escape undoes one step at a time, whatever has the focus.
func TestEscapeUnwinds(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.tapText("Deny with reason…")
	s.tap(s.page().head.more)
	if s.p.window.menu == nil {
		t.Fatal("no menu")
	}
	s.key(fyne.KeyEscape)
	s.wantOpen("1")
	if s.p.window.menu != nil {
		t.Fatal("the menu is still open")
	}
	s.canvas().Focus(s.page().refusalField(t))
	s.key(fyne.KeyEscape)
	s.wantOpen("1")
	if s.page().refusalField(t).Visible() {
		t.Fatal("the reason is still open")
	}
	s.key(fyne.KeyEscape)
	s.wantOutcome("1", api.Dismissed)
}

func (p *page) refusalField(t *testing.T) *field {
	t.Helper()
	var found *field
	var look func(o fyne.CanvasObject)
	look = func(o fyne.CanvasObject) { // hidden ones, too
		switch x := o.(type) {
		case *field:
			found = x
		case *fyne.Container:
			for _, c := range x.Objects {
				look(c)
			}
		case *surface:
			look(x.content)
		}
	}
	look(p.object)
	if found == nil {
		t.Fatal("no field for the reason")
	}
	return found
}

// The second half of a double click does not answer the next prompt.
func TestDoubleClickAnswersOne(t *testing.T) {
	for _, what := range []string{"Allow", "Deny"} {
		t.Run(what, func(t *testing.T) {
			s := newScreen(t)
			s.open(bash("1", "make"))
			s.open(bash("2", "rm -rf /"))
			s.ready()
			s.tapText(what)
			if _, answered := s.answer("1"); !answered {
				t.Fatal("the first tap did nothing")
			}
			s.pass(100 * time.Millisecond)
			s.tapText(what)
			s.wantOpen("2")
			s.pass(100 * time.Millisecond)
			s.chord(fyne.KeyReturn)
			s.wantOpen("2")
		})
	}
}

// A prompt whose request has ended decides nothing, even if a click was on its way.
func TestLateClick(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	allow, deny, old := s.find("Allow"), s.find("Deny"), s.page()
	s.p.post(func() { s.p.withdraw("1") })
	s.tap(allow)
	s.tap(deny)
	old.kind.affirm()
	old.kind.refuse()
	s.wantOpen("1")
	if s.p.window.page != nil {
		t.Error("the prompt is still in the window")
	}

	s.open(bash("2", "other"))
	s.ready()
	old.kind.affirm()
	s.wantOpen("2")
}

func TestTitleIsConstant(t *testing.T) {
	s := newScreen(t)
	r := bash("1", "make")
	r.Requester.Agent = "nod: approved"
	s.open(r)
	s.open(samples["form"])
	s.chord(fyne.KeyPeriod)
	if got := s.p.window.win.Title(); got != "nod" {
		t.Errorf("title %q, want nod", got)
	}
}

// The effect of a time-out depends on the kind of request, the agent and its mode; answering in the agent is offered if
// the agent can ask.
func TestTimeOutText(t *testing.T) {
	approve := interact.Approve{Tool: "Bash", Input: []byte(`{}`)}
	form := api.Form{Questions: []api.Question{{ID: "q", Question: "Which?"}}}
	tests := []struct {
		body            interact.Body
		silence         api.Silence
		want, elsewhere string
	}{
		{approve, api.TakesNo, "Denied in 4 min unless you decide", ""},
		{approve, api.AsksInTerminal, "Goes back to the terminal in 4 min", "Decide in the terminal"},
		{approve, api.AsksItself, "Goes back to the agent in 4 min", "Decide in the agent"},
		{form, api.TakesNo, "Times out in 4 min", ""},
		{form, api.AsksInTerminal, "Goes back to the terminal in 4 min", "Answer in the terminal"},
		{form, api.AsksItself, "Goes back to the agent in 4 min", "Answer in the agent"},
		{api.Confirm{Message: "Sure?"}, "", "Answers “No” in 4 min", ""},
		{api.Confirm{Message: "Sure?", Default: true, YesLabel: "Go"}, "", "Answers “Go” in 4 min", ""},
		{api.Ask{Question: "Why?"}, "", "Times out in 4 min", ""},
	}
	for _, test := range tests {
		s := newScreen(t)
		r := request("1", test.body)
		r.Silence = test.silence
		s.open(r)
		if got := s.page().status.Text; got != test.want {
			t.Errorf("%T: %q, want %q", test.body, got, test.want)
		}
		for _, later := range []struct {
			passed time.Duration
			want   string
		}{{30 * time.Second, "4 min"}, {time.Second, "3 min"}, {2 * time.Minute, "1:59"}, {time.Second, "1:58"}} {
			s.pass(later.passed)
			if got := s.page().status.Text; !strings.Contains(got, later.want) {
				t.Errorf("%T: %v later: %q, want %q", test.body, later.passed, got, later.want)
			}
		}
		s.tap(s.page().head.more)
		last := s.p.window.menu.items[len(s.p.window.menu.items)-1].item
		if decides := last.chord != ""; decides != (test.elsewhere != "") || decides && last.text != test.elsewhere {
			t.Errorf("%T: the menu ends with %q, want %q", test.body, last.text, test.elsewhere)
		}
		s.key(fyne.KeyEscape)
		s.pass(time.Hour) // the broker enforces the deadline; the window only shows it
		s.wantOpen("1")
	}
}

// A line of a menu that answers requests takes one chord: the one that means the same in the prompt.
func TestChordsInMenus(t *testing.T) {
	enter := func(s *screen) { s.key(fyne.KeyReturn) }
	affirm := func(s *screen) { s.chord(fyne.KeyReturn) }
	refuse := func(s *screen) { s.chord(fyne.KeyD) }
	queue := func(s *screen) fyne.Tappable { return s.page().head.queue }
	more := func(s *screen) fyne.Tappable { return s.page().head.more }
	for _, test := range []struct {
		name     string
		menu     func(*screen) fyne.Tappable
		at       fyne.KeyName // moves to the first or the last line
		press    func(*screen)
		one, two api.Outcome
	}{
		{"Deny all: Enter", queue, fyne.KeyEnd, enter, "", ""},
		{"Deny all: Ctrl+Enter", queue, fyne.KeyEnd, affirm, "", ""},
		{"Deny all: Ctrl+D", queue, fyne.KeyEnd, refuse, api.Denied, api.Denied},
		{"a request: Ctrl+Enter", queue, fyne.KeyHome, affirm, "", ""},
		{"a request: Ctrl+D", queue, fyne.KeyHome, refuse, api.Denied, ""},
		{"the terminal: Enter", more, fyne.KeyEnd, enter, "", ""},
		{"the terminal: Ctrl+Enter", more, fyne.KeyEnd, affirm, api.Dismissed, ""},
		{"the terminal: Ctrl+D", more, fyne.KeyEnd, refuse, api.Denied, ""},
		{"snooze: Ctrl+Enter", more, fyne.KeyHome, affirm, "", ""},
	} {
		s := newScreen(t)
		s.open(bash("1", "make"))
		s.open(bash("2", "make all"))
		s.ready()
		s.tap(test.menu(s))
		s.pass(time.Second)
		s.key(test.at)
		test.press(s)
		one, _ := s.answer("1")
		two, _ := s.answer("2")
		if one.Outcome != test.one || two.Outcome != test.two {
			t.Errorf("%s: %q, %q; want %q, %q", test.name, one.Outcome, two.Outcome, test.one, test.two)
		}
	}
}

// To leave a form to the terminal asks once before it discards answers.
func TestElsewhereAsksBeforeItDiscards(t *testing.T) {
	s := newScreen(t)
	r := request("1", api.Form{Questions: []api.Question{{ID: "q", Question: "Which?"}}})
	r.Silence = api.AsksInTerminal
	s.open(r)
	s.typeText("some answer")
	for i := range 2 {
		if _, answered := s.answer("1"); answered {
			t.Fatal("the answers are discarded unasked")
		}
		s.pass(time.Second)
		s.tap(s.page().head.more)
		s.tapText("Answer in the terminal")
		if i == 0 && !s.shows("Discard your answers? Press Esc or close again.") {
			t.Error("nothing asks whether to discard the answers")
		}
	}
	s.wantOutcome("1", api.Dismissed)
}

func TestScope(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.tapText("Once")
	s.tapText("This session")
	if !s.shows("exactly this input") {
		t.Error("the rule is not shown before Allow")
	}
	s.tapText("Allow")
	s.wantOpen("1")
	s.pass(time.Second)
	s.tapText("Allow")
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.ThisSession {
		t.Errorf("scope %q", a.Scope)
	}
}

// The agent's rules are listed below nod's, and the exact rule is shown before Allow works.
func TestSuggestion(t *testing.T) {
	s := newScreen(t)
	r := bash("1", "make")
	body := r.Body.(interact.Approve)
	body.Suggestions = []string{"allow Bash(make) · this project", "allow Bash(make:*) · all projects"}
	r.Body = body
	s.open(r)
	s.ready()
	s.tapText("Once")
	items := s.p.window.menu.items
	s.tap(items[len(items)-1])
	if !s.shows("Bash(make:*)") {
		t.Error("the agent's rule is not shown before Allow")
	}
	s.tapText("Allow")
	s.wantOpen("1")
	s.pass(time.Second)
	s.tapText("Allow")
	if a := s.wantOutcome("1", api.Allowed); a.Suggestion != 2 || a.Scope != policy.Once {
		t.Errorf("suggestion %d, scope %q", a.Suggestion, a.Scope)
	}
}

// shows reports whether a text in the window contains text.
func (s *screen) shows(text string) bool {
	found := strings.Contains(test.RenderToMarkup(s.canvas()), text)
	dialogstest.Walk(s.canvas().Content(), func(o fyne.CanvasObject) { // which may be wrapped
		l, isLabel := o.(*widget.Label)
		found = found || isLabel && strings.Contains(l.Text, text)
	})
	return found
}

func TestScopesOffered(t *testing.T) {
	long := strings.Repeat("x", maxGrantInput)
	tests := []struct {
		name    string
		command string
		session string
		want    string
	}{
		{"plain", "make", "s1", "Once, This session, 15 minutes, Until nod quits, Always"},
		{"without a session", "make", "", "Once, 15 minutes, Until nod quits, Always"},
		{"with new parts", "go test ./...", "s1",
			"Once, This session, 15 minutes, Until nod quits, Always, This session, Always, Always, everywhere"},
		{"with new parts, without a session", "go test ./...", "",
			"Once, 15 minutes, Until nod quits, Always, 15 minutes, Always, Always, everywhere"},
		{"red", "go test ./... && sudo rm -rf /", "s1",
			"Once, This session, 15 minutes, Until nod quits, Always, This session, Always"},
		{"hidden characters", "make\u202e", "s1", "Once"},
		{"too long to be read with care", long, "s1", "Once"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			r := bash("1", test.command)
			r.Requester.Session = test.session
			s.open(r)
			s.tapText("Once")
			var got []string
			for _, it := range s.p.window.menu.items {
				got = append(got, it.item.text)
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("offered %v, want %s", got, test.want)
			}
		})
	}
}

// For a tool of a server, and for a host, the menu says what each choice covers, and the name of the tool cannot change
// that.
func TestScopesSayWhatTheyCover(t *testing.T) {
	long := "mcp__x__" + strings.Repeat("safe", 20)
	offers := map[string][]policy.Offer{
		"host": {
			{Scope: policy.ThisSession, Cover: policy.CoverHost, Object: "docs.rs", Text: "allow it"},
			{Scope: policy.Always, Cover: policy.CoverHost, Object: "docs.rs", Text: "allow it always"},
			{Scope: policy.ThisSession, Cover: policy.CoverInput, Text: "allow this"},
			{Scope: policy.Everywhere, Cover: policy.CoverHost, Object: "docs.rs", Text: "allow it everywhere"},
		},
		"network": {{Scope: policy.Always, Cover: policy.CoverHost, Object: "docs.rs", Text: "allow it"}},
		"tool":    {{Scope: policy.ThisSession, Cover: policy.CoverTool, Object: long, Text: "allow it"}},
		"always": {
			{Scope: policy.ThisSession, Cover: policy.CoverTool, Object: long, Text: "allow it"},
			{Scope: policy.Always, Cover: policy.CoverTool, Object: long, Text: "allow it always"},
		},
		"reads": {{Scope: policy.ThisSession, Cover: policy.CoverReads, Object: "~/lib\u202e", Text: "allow it"}},
		"server": {
			{Scope: policy.Always, Cover: policy.CoverTool, Object: long, Text: "allow it always"},
			{Scope: policy.Always, Cover: policy.CoverServer, Object: "x", Text: "allow the server"},
		},
		"git":        {{Scope: policy.Always, Cover: policy.CoverGit, Text: "allow git"}},
		"containers": {{Scope: policy.Always, Cover: policy.CoverContainers, Text: "allow containers"}},
		"builds": {
			{Scope: policy.Always, Cover: policy.CoverInput, Text: "allow this"},
			{Scope: policy.Always, Cover: policy.CoverBuilds, Text: "allow builds"},
			{Scope: policy.ThisSession, Cover: policy.CoverCommands, Text: "allow this command"},
		},
	}
	for name, want := range map[string][]string{
		"host": {"Once", "claude-code may fetch any page on docs.rs with " + long[:39] + "…, wherever it redirects to:",
			"This session", "Always", "claude-code may do exactly this:", "This session",
			"claude-code may fetch any page on docs.rs with " + long[:39] + "… in any folder, wherever it redirects to:",
			"Always, everywhere"},
		"network": {"Once", "Commands in the sandbox of shop may reach docs.rs:", "Always"},
		"tool": {"Once", "claude-code may call " + long[:39] + "…; not for always: it may delete things or run code",
			"This session"},
		"always": {"Once", "claude-code may call " + long[:39] + "…, whatever its input:", "This session", "Always"},
		"server": {"Once", "claude-code may call " + long[:39] + "…, whatever its input:", "Always",
			"claude-code may call any tool of x that neither deletes nor runs code:", "Always"},
		"git": {"Once", "claude-code may commit, tag, switch branches, merge, pull and push in shop, never by force:",
			"Always"},
		"containers": {"Once", "claude-code may build, start and stop the containers of shop, and run commands in them:",
			"Always"},
		"reads": {"Once", "claude-code may read below ~/lib‹U+202E›, but no keys, passwords or tokens:", "This session"},
	} {
		s := newScreen(t)
		s.p.options.Offers = func(interact.ID) policy.Offers { return policy.Offers{Grants: offers[name]} }
		tool := long
		if name == policy.NetworkTool {
			tool = name
		}
		s.open(request("1", call(t, tool, object{"a": "b"})))
		s.tapText("Once")
		var got []string
		for _, it := range s.p.window.menu.items {
			if it.item.heading != nil {
				dialogstest.Walk(it.item.heading, func(o fyne.CanvasObject) {
					if l, isLabel := o.(*widget.Label); isLabel {
						got = append(got, l.Text)
					}
				})
			}
			got = append(got, it.item.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: offered %q, want %q", name, got, want)
		}
	}
}

const sandboxRule = "run the commands of ~/src/shop in a sandbox, without asking"

// offerSandbox has the sandbox offered for every call, too.
func (s *screen) offerSandbox() {
	offers := s.p.options.Offers
	s.p.options.Offers = func(id interact.ID) policy.Offers {
		o := offers(id)
		o.Grants = append(o.Grants, policy.Offer{
			Scope: policy.Always, Cover: policy.CoverSandbox, Object: "~/src/shop", Text: sandboxRule})
		return o
	}
}

// The last choice has the commands of the project run in the sandbox, but not where a prompt warns of danger, or comes
// from another machine.
func TestTheSandboxIsOffered(t *testing.T) {
	offered := func(s *screen) bool {
		s.offerSandbox()
		s.tapText("Once")
		last := s.p.window.menu.items[len(s.p.window.menu.items)-1].item
		return last.text == "Run this project's commands in a sandbox, without asking" && last.parted
	}
	s := newScreen(t)
	r := bash("1", "make test")
	body := r.Body.(interact.Approve)
	body.Suggestions = []string{"allow Bash(make) · this project"}
	r.Body = body
	s.open(r)
	s.ready()
	if !offered(s) {
		t.Fatal("it is not the last choice")
	}
	s.tapText("Run this project's commands in a sandbox, without asking")
	s.find("In a sandbox")
	if got := s.page().approval.shownRule; got != sandboxRule {
		t.Errorf("saves %q", got)
	}
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.Always || a.Covers != policy.CoverSandbox {
		t.Errorf("answer %+v", a)
	}
	remote := bash("1", "make test")
	remote.Requester.Machine = "build-1"
	for name, r := range map[string]interact.Request{"danger": bash("1", "rm -rf ~"), "another machine": remote} {
		s := newScreen(t)
		s.open(r)
		s.ready()
		if offered(s) {
			t.Errorf("%s: the sandbox is offered", name)
		}
	}
}

// A chord opens the list of scopes, and another one allows, once the rule has been in view.
func TestScopeByChord(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.ready()
	s.chord(fyne.KeyS)
	s.key(fyne.KeyDown)
	s.key(fyne.KeyReturn)
	s.find("This session")
	s.chord(fyne.KeyReturn)
	s.wantOpen("1") // the rule has just appeared
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.ThisSession || a.Covers != policy.CoverInput {
		t.Errorf("answer %+v", a)
	}
}

// Allowing the new parts of a command says so, and shows the rules first.
func TestAllowParts(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "cd web && npm run lint && go test ./... | tail -3"))
	s.ready()
	s.tapText("Once")
	s.tapText("Until nod quits")
	s.find("Until nod quits")
	if !s.shows("Allow will save these rules:") {
		t.Error("the rules are not shown")
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1") // it has just changed
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.UntilQuit || a.Covers != policy.CoverCommands {
		t.Errorf("answer %+v", a)
	}
}

func TestAllowEdits(t *testing.T) {
	long := strings.Repeat("x\n", maxGrantInput)
	for _, content := range []string{"x", long} { // the edits to come are not in this one
		s := newScreen(t)
		s.open(request("1", call(t, "Edit", object{"file_path": "/src/shop/a.go", "old_string": "y", "new_string": content})))
		s.ready()
		s.tapText("Once")
		s.tapText("Until nod quits")
		s.find("Until nod quits") // the button
		if content == long {
			continue
		}
		s.ready()
		s.chord(fyne.KeyReturn)
		if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.UntilQuit || a.Covers != policy.CoverEdits {
			t.Errorf("answer %+v", a)
		}
	}
}

// Allow saves the rules that the prompt shows, even if a covered part is no longer covered.
func TestAllowSavesWhatIsShown(t *testing.T) {
	s := newScreen(t)
	saves := "allow it to run go test"
	s.p.options.Offers = func(interact.ID) policy.Offers {
		return policy.Offers{Grants: []policy.Offer{{Scope: policy.Always, Cover: policy.CoverInput, Text: saves}}}
	}
	s.open(bash("1", "go test ./..."))
	s.ready()
	s.tapText("Once")
	s.tapText("Always")
	s.ready()
	saves += "\nallow it to run git push"
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	if !strings.Contains(s.page().status.Text, "Look again") || !s.shows("Allow will save these rules:") {
		t.Error("the rules that are saved now are not shown")
	}
	saves = ""
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Allowed); a.Scope != policy.Once || a.Covers != "" {
		t.Errorf("answer %+v", a)
	}
}

// An answer to another prompt updates the parts of this one, and the wait for Allow restarts.
func TestPartsFollowThePolicy(t *testing.T) {
	s := newScreen(t)
	parts := []policy.CommandPart{{Text: "make", State: policy.PartNew}, {Text: "make lint", State: policy.PartNew}}
	s.p.options.Offers = func(interact.ID) policy.Offers { return policy.Offers{Parts: parts} }
	s.open(bash("1", "make && make lint"))
	s.ready()
	if s.shows("you allowed this before") {
		t.Fatal("a part is covered too early")
	}
	parts = slices.Clone(parts)
	parts[0].State, parts[0].By = policy.PartCovered, "0195e1d0-0000-7000-8000-000000000000"
	s.pass(time.Second)
	if !s.shows("you allowed this before") {
		t.Error("the part still looks new")
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
}

// Allow waits until the end of the text has been in view.
func TestReadToTheEnd(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", strings.Repeat("echo a\n", 200)+"rm -rf ~"))
	s.ready()
	s.chord(fyne.KeyReturn)
	s.tapText("Allow")
	s.wantOpen("1")
	s.canvas().FocusPrevious() // the keys scroll the text wherever the focus is
	if got := s.page().yes.note; got != "Read to the end first" {
		t.Errorf("the button says %q", got)
	}
	for range 100 {
		s.key(fyne.KeyPageDown)
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1") // in view only now
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	s.wantOpen("1") // it is dangerous, so that takes longer
	s.pass(redArmAfter)
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// The content of a file need not be scrolled: the button says how much was not shown, and the facts say where something
// is hidden in it.
func TestReadingInProportion(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	input, err := json.Marshal(map[string]any{"file_path": "/src/shop/new.txt", "mode": 0o777,
		"content": text.String() + "the \u202eend"})
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t)
	s.open(request("1", interact.Approve{Tool: "Write", Input: input}))
	s.ready()
	if !s.shows("Hidden characters: line 301") {
		t.Error("what is hidden where nobody looked is no fact")
	}
	unread := s.page().approval.input.block.unread
	if got, want := s.page().yes.note, fmt.Sprintf("%d lines unread", unread); unread < 200 || got != want {
		t.Errorf("the button says %q, want %q", got, want)
	}
	s.pass(redArmAfter)
	s.key(fyne.KeyPageDown)
	if s.page().approval.input.block.unread >= unread {
		t.Error("what was scrolled into view counts as unread")
	}
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// The fields beside a file's content are above it, and must be read.
func TestFieldsBesideContentMustBeRead(t *testing.T) {
	fields := map[string]any{"file_path": "/src/shop/new.txt", "content": "text"}
	for i := range 200 {
		fields[fmt.Sprintf("field %d", i)] = "value"
	}
	input, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t)
	s.open(request("1", interact.Approve{Tool: "Write", Input: input}))
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
}

// A snoozed prompt comes back when nod says so, with its draft, and has to arm again.
func TestSnooze(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.tapText("Deny with reason…")
	s.typeText("draft")
	s.ready()
	s.tap(s.page().head.more)
	s.tapText("Snooze 5 minutes")
	s.wantOpen("1")
	if s.page() != nil || len(s.p.queue.entries) != 1 || !slices.Equal(s.snoozed, []put{{"1", 5 * time.Minute}}) {
		t.Fatalf("page %v, %d waiting, snoozed %v", s.page(), len(s.p.queue.entries), s.snoozed)
	}
	s.time = s.time.Add(5 * time.Minute)
	s.back("1")
	if s.page() == nil {
		t.Fatal("it did not come back")
	}
	if got := s.page().refusalField(t).Text; got != "draft" {
		t.Errorf("the draft is %q", got)
	}
	s.focusWindow()
	s.chord(fyne.KeyD) // a denial never waits
	s.wantOutcome("1", api.Denied)
}

// back ends the snooze of a request, as nod does.
func (s *screen) back(id interact.ID) {
	r := s.p.queue.find(id).request
	r.Snoozed = time.Time{}
	s.p.Renew(r)
	s.settle()
}

// A prompt that comes back does not replace the current one, which stays armed, and is itself not armed.
func TestSnoozedComesBackUnarmed(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "other"))
	s.ready()
	s.tap(s.page().head.more)
	s.tapText("Snooze 5 minutes")
	s.pass(5 * time.Minute)
	s.back("1")
	if got := s.page().entry.request.ID; got != "2" {
		t.Fatalf("the prompt shows %s", got)
	}
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOutcome("2", api.Allowed)
	s.pass(quietAfterAnswer)
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// No snooze is longer than the caller waits.
func TestSnoozeAsLongAsTheCallerWaits(t *testing.T) {
	for waits, want := range map[time.Duration]string{
		110 * time.Second:           "",
		9*time.Minute + time.Second: "5 minutes · as long as it can wait (8 minutes)",
		6 * time.Minute:             "5 minutes",
		5 * time.Minute:             "as long as it can wait (4 minutes)",
		2 * time.Minute:             "as long as it can wait (1 minute)",
		16 * time.Minute:            "5 minutes · 15 minutes",
		40 * time.Minute:            "5 minutes · 15 minutes · as long as it can wait (39 minutes)",
		24 * time.Hour:              "5 minutes · 15 minutes · 1 hour",
	} {
		s := newScreen(t)
		r := request("1", api.Confirm{Message: "Sure?"})
		r.Created, r.Until = s.time, s.time.Add(waits)
		s.open(r)
		s.tap(s.page().head.more)
		var got []string
		if s.p.window.menu != nil {
			for _, line := range s.p.window.menu.items {
				got = append(got, strings.TrimPrefix(line.item.text, "Snooze "))
			}
			until := "claude-code waits until " + r.Until.Format("15:04")
			if says := s.shows(until); says != (waits < longPatience) {
				t.Errorf("%v: it says %q: %v", waits, until, says)
			}
		}
		if waits == 110*time.Second {
			if s.p.window.menu != nil || !strings.Contains(s.page().status.Text, "claude-code waits until 07:09") {
				t.Errorf("%v: %q, status %q", waits, got, s.page().status.Text)
			}
			continue
		}
		if line := strings.Join(got, " · "); line != want {
			t.Errorf("%v: %q, want %q", waits, line, want)
		}
	}
}

func TestShowBringsBackWhatWasSnoozed(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(bash("2", "other"))
	s.p.snooze(s.page().entry, time.Hour)
	s.p.Show("1")
	if got := s.page().entry.request.ID; got != "1" {
		t.Errorf("shows %s", got)
	}
	if want := []put{{"1", time.Hour}, {"1", 0}}; !slices.Equal(s.snoozed, want) {
		t.Errorf("snoozed %v, want %v", s.snoozed, want)
	}
	s.p.Show("no such")
	s.p.Show("")
}

func TestDraftsSurviveTheQueue(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Why?"}))
	s.open(bash("2", "make"))
	s.typeText("because")
	s.chord(fyne.KeyPeriod)
	s.chord(fyne.KeyPeriod)
	s.ready()
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Answered); a.Text != "because" {
		t.Errorf("answer %q", a.Text)
	}
}

func TestQueueList(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make"))
	s.open(samples["confirm"])
	other := bash("5", "ls")
	other.Requester.Session = "s2"
	s.open(other)
	s.ready()
	s.tapText("1 of 3 ›")
	s.tapText(prompt.SummaryOf(other))
	if got := s.page().entry.request.ID; got != "5" {
		t.Fatalf("shows %s", got)
	}
	s.chord(fyne.KeyPeriod)
	s.tapText("1 of 3 ›")

	menu := s.p.window.menu
	all := menu.items[len(menu.items)-1]
	s.canvas().Focus(all)
	s.key(fyne.KeyReturn) // a plain key does not decide
	s.wantOpen("1")
	s.chord(fyne.KeyD)
	s.wantOutcome("1", api.Denied)
	s.wantOutcome("3", api.Dismissed)
	s.wantOpen("5")
}

// A prompt that the window cannot show ends as unavailable; nothing is allowed, and nothing remains.
func TestFailingPromptIsUnavailable(t *testing.T) {
	s := newScreen(t)
	a, err := s.p.Open(request("1", api.Notify{Message: "x"}), policy.Decision{})(t.Context())
	if !errors.Is(err, interact.ErrUnavailable) {
		t.Errorf("%+v, %v", a, err)
	}
	if len(s.p.queue.entries) != 0 {
		t.Error("it still waits")
	}
	s.open(bash("2", "make"))
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOutcome("2", api.Allowed)
}

// prompting runs a Prompter whose UI goroutine is whoever holds the lock.
func prompting(t *testing.T) (p *Prompter, ui func(func())) {
	a := test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	p = New(a, idleOptions())
	var mu sync.Mutex
	ui = func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	p.do = ui
	p.later = func(f func()) {}
	return p, ui
}

func TestPromptEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ui := prompting(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := p.Open(bash("1", "make"), policy.Decision{})(ctx)
			ended <- err
		}()
		synctest.Wait()
		if len(p.queue.entries) != 1 {
			t.Fatal("it does not wait")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		ui(func() {
			if len(p.queue.entries) != 0 || p.window.page != nil {
				t.Errorf("%d wait, page %v", len(p.queue.entries), p.window.page)
			}
		})
	})
}

// Real timers arm the button and show the time.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ui := prompting(t)
		r := bash("1", "make")
		r.Created = time.Now()
		r.Deadline = r.Created.Add(time.Minute)
		answered := make(chan interact.Answer)
		go func() {
			a, err := p.Open(r, policy.Decision{})(t.Context())
			if err != nil {
				t.Error(err)
			}
			answered <- a
		}()
		synctest.Wait()
		ui(func() {
			p.window.win.Canvas().Focused().FocusGained()
			if p.window.page.yes.ready {
				t.Error("Allow is ready at once")
			}
		})
		time.Sleep(800 * time.Millisecond)
		synctest.Wait()
		ui(func() {
			if !p.window.page.yes.ready {
				t.Error("Allow is not ready after 0.8 s")
			}
		})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		ui(func() {
			if got := p.window.page.status.Text; got != "Goes back to the terminal in 0:50" {
				t.Errorf("the time: %q", got)
			}
			p.window.affirm()
		})
		if a := <-answered; a.Outcome != api.Allowed {
			t.Errorf("answer %+v", a)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ui := prompting(t)
		const n = 100
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for i := range n {
			done.Go(func() {
				r := bash("r"+string(rune('a'+i)), "echo "+string(rune('a'+i)))
				if _, err := p.Open(r, policy.Decision{})(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		if len(p.queue.entries) != n {
			t.Errorf("%d wait, want %d", len(p.queue.entries), n)
		}
		cancel()
		done.Wait()
		synctest.Wait()
		ui(func() {
			if len(p.queue.entries) != 0 || p.window.page != nil {
				t.Errorf("left over: %d waiting, page %v", len(p.queue.entries), p.window.page)
			}
		})
	})
}

// If the file of an edit changes before the click, nothing is approved: the new effect is shown.
func TestChangedFileIsShownAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\nb\n")
	input, err := json.Marshal(map[string]string{"file_path": file, "old_string": "b", "new_string": "c"})
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(t)
	r := request("1", interact.Approve{Tool: "Edit", Input: input})
	r.Requester.CWD = dir
	s.open(r)
	s.ready()
	write("something else, b\n")
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	if got := s.page().status.Text; got != "The file has changed. Look again." {
		t.Errorf("the prompt says %q", got)
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// Only what the user could see counts as seen, not a layout for measuring, and not the size that nod requested if the
// window manager sets another one.
func TestMeasuringIsNotSeeing(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", manyLines))
	s.p.window.win.Resize(small) // by the window manager, a moment after the window was mapped
	s.ready()
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	if s.page().isRead() {
		t.Error("lines that were never on the screen count as seen")
	}
	for range 10 {
		s.key(fyne.KeyPageDown)
	}
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", api.Allowed)
}

// A wait that ends while the window decides whether its buttons work still gets a timer. Without one, the buttons would
// stay dead until the user clicked or changed the focus.
func TestAnEndWhileTheWindowLooks(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "make all"))
	s.ready()
	w := s.p.window
	waits := false
	s.p.timer = func(time.Duration, func()) *time.Timer { waits = true; return nil }
	s.p.now = func() time.Time { s.time = s.time.Add(time.Millisecond); return s.time }
	for name, end := range map[string]*time.Time{"settling": &w.settlesAt, "the quiet": &w.arm.quietUntil} {
		for ahead := range 30 * time.Millisecond / time.Millisecond {
			w.arm.checked = name != "settling"
			*end = s.time.Add(ahead * time.Millisecond)
			waits = false
			w.rearm()
			if works := w.arm.checked && s.page().yes.ready && s.page().no.ready; !works && !waits {
				t.Errorf("%s ends after %v: no button works, and nothing looks again", name, ahead*time.Millisecond)
			}
			*end = time.Time{}
			w.rearm()
		}
	}
}
