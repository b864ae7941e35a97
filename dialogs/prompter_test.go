package dialogs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/interact"
	"nod/policy"
	"nod/policy/config"
)

// screen is a Prompter in a test window with a manual clock. Everything runs on the goroutine of the test.
type screen struct {
	t    testing.TB
	p    *Prompter
	time time.Time
	soon []func() // functions to run after the current event
	got  map[interact.ID]chan interact.Answer

	calls   map[interact.ID]policy.Call // of the approvals
	snoozed []put
}

// put is a snooze.
type put struct {
	id interact.ID
	d  time.Duration
}

// idleOptions are those of a prompter with nothing around it.
func idleOptions() Options {
	return Options{
		Config: func() config.Prompt { return config.Default().Prompt },
		Offers: func(interact.ID) policy.Offers { return policy.Offers{} },
		Snooze: func(interact.ID, time.Duration) {},
		Draft:  func(interact.ID) []byte { return nil }, SaveDraft: func(interact.ID, []byte) {},
		Showing: func(interact.ID) {}, Changed: func(bool) {}, Log: slog.Default(),
	}
}

func newScreen(t testing.TB) *screen {
	t.Helper()
	s := &screen{t: t, time: time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC), got: map[interact.ID]chan interact.Answer{},
		calls: map[interact.ID]policy.Call{}}
	a := test.NewTempApp(t)
	a.Settings().SetTheme(Theme("light"))
	s.p = New(a, idleOptions())
	s.p.options.Offers = func(id interact.ID) policy.Offers { return someOffers(s.calls[id]) }
	s.p.now = func() time.Time { return s.time }
	s.p.options.Snooze = func(id interact.ID, d time.Duration) { s.snoozed = append(s.snoozed, put{id, d}) }
	s.p.do = func(f func()) { f() }
	s.p.later = func(f func()) { s.soon = append(s.soon, f) }
	s.p.screen = func(fyne.Window) fyne.Size { return fyne.NewSize(1280, 800) }
	s.p.timer = func(time.Duration, func()) *time.Timer { return nil } // the test turns the clock
	s.p.aside = func(work func() func()) { work()() }
	return s
}

// someOffers is what the policy of the tests offers for a call.
func someOffers(c policy.Call) policy.Offers {
	offers := policy.Offers{Parts: someParts(c)}
	for _, cover := range policy.Covers {
		for _, scope := range policy.Scopes {
			if text := someGrants(c, scope, cover); text != "" {
				offers.Grants = append(offers.Grants, policy.Offer{Scope: scope, Cover: cover, Text: text})
			}
		}
	}
	return offers
}

// someGrants is what the tests' policy would keep: it knows no exact part and takes all edits to be in the project.
func someGrants(c policy.Call, scope policy.Scope, cover policy.Cover) string {
	switch cover {
	case policy.CoverInput:
		if scope == policy.Everywhere {
			return ""
		}
		return fmt.Sprintf("allow %s of %s with exactly this input (%s)", c.Tool, c.Agent, scope)
	case policy.CoverEdits:
		if c.Tool == "Edit" && !scope.IsPermanent() {
			return fmt.Sprintf("allow %s to change files in ~/src/shop, but no settings, hooks or keys (%s)", c.Agent, scope)
		}
		return ""
	case policy.CoverTool, policy.CoverHost, policy.CoverReads, policy.CoverServer, policy.CoverBuilds,
		policy.CoverGit, policy.CoverContainers:
		return ""
	}
	var lines []string
	for _, p := range someParts(c) {
		if p.State == policy.PartNew {
			lines = append(lines, fmt.Sprintf("allow %s to run %q in ~/src/shop (%s)", c.Agent, p.Text, scope))
		}
	}
	return strings.Join(lines, "\n")
}

// someParts is what the tests' policy makes of the parts of a command.
func someParts(c policy.Call) []policy.CommandPart {
	var input struct{ Command string }
	_ = json.Unmarshal(c.Input.Raw, &input) // no command, no parts
	if !strings.Contains(input.Command, "go test") && !strings.Contains(input.Command, "npm") {
		return nil
	}
	var parts []policy.CommandPart
	for _, text := range regexp.MustCompile(` (?:&&|\|) `).Split(input.Command, -1) {
		p := policy.CommandPart{Text: text, State: policy.PartNew, Why: "nod doesn't know what " + text[:2] + " does."}
		switch text[:2] {
		case "cd", "ca", "ta", "ls":
			p.State, p.Why = policy.PartReads, ""
		case "ma":
			p.State, p.By = policy.PartCovered, "make-anything"
		case "mi":
			p.State, p.By = policy.PartCovered, "0195e1d0-0000-7000-8000-000000000000"
		}
		parts = append(parts, p)
	}
	return parts
}

// open sends a request; its answer can be read from the screen afterwards.
func (s *screen) open(r interact.Request) {
	s.t.Helper()
	if a, ok := r.Body.(interact.Approve); ok {
		s.calls[r.ID] = a.Call(r.Requester)
	}
	if r.Created.IsZero() {
		r.Created = s.time
	}
	if r.Deadline.IsZero() {
		r.Deadline = r.Created.Add(4*time.Minute + 30*time.Second)
	}
	if r.Until.IsZero() {
		r.Until = r.Created.Add(9*time.Minute + 30*time.Second)
	}
	r.Body = interact.Normalize(r.Body)
	if err := r.Validate(); err != nil {
		s.t.Fatal(err)
	}
	to := make(chan interact.Answer, 1)
	s.got[r.ID] = to
	s.p.post(func() { s.p.open(r, why(r), to) })
	s.settle()
}

func why(r interact.Request) policy.Decision {
	if r.Body.Kind() != api.KindApprove {
		return policy.Decision{}
	}
	return policy.Decision{Effect: policy.Ask, Reason: "no rule covers this", Class: policy.Unknown}
}

// answer returns the answer to a request, if there is one.
func (s *screen) answer(id interact.ID) (interact.Answer, bool) {
	s.t.Helper()
	select {
	case a := <-s.got[id]:
		return a, true
	default:
		return interact.Answer{}, false
	}
}

func (s *screen) wantOutcome(id interact.ID, want api.Outcome) interact.Answer {
	s.t.Helper()
	a, answered := s.answer(id)
	if !answered {
		s.t.Fatalf("%s: no answer, want %s", id, want)
	}
	if a.Outcome != want || a.By != api.ByHuman {
		s.t.Fatalf("%s: %s by %s, want %s by the human", id, a.Outcome, a.By, want)
	}
	return a
}

func (s *screen) wantOpen(id interact.ID) {
	s.t.Helper()
	if a, answered := s.answer(id); answered {
		s.t.Fatalf("%s: answered (%+v), want it open", id, a)
	}
}

// settle runs the functions that wait for the end of the current event.
func (s *screen) settle() {
	for len(s.soon) > 0 {
		f := s.soon[0]
		s.soon = s.soon[1:]
		f()
	}
}

// pass advances the clock and runs timers.
func (s *screen) pass(d time.Duration) {
	end := s.time.Add(d)
	for range redArmAfter / beat { // for longer nothing needs to hear of the window
		if s.time = s.time.Add(beat); s.time.After(end) {
			break
		}
		s.p.post(s.p.window.rearm)
	}
	s.time = end
	s.p.post(s.p.changed)
}

// focusWindow and blurWindow do what Fyne's driver does when the window gets or loses the focus.
func (s *screen) focusWindow() {
	if f := s.canvas().Focused(); f != nil {
		f.FocusGained()
	}
	s.settle()
}

func (s *screen) blurWindow() {
	if f := s.canvas().Focused(); f != nil {
		f.FocusLost()
	}
	s.settle()
}

// ready makes the affirmative armed.
func (s *screen) ready() {
	s.focusWindow()
	s.pass(time.Second)
}

func (s *screen) canvas() fyne.Canvas { return s.p.window.win.Canvas() }
func (s *screen) page() *page         { return s.p.window.page }

func (s *screen) tap(o fyne.Tappable) {
	test.Tap(o)
	s.settle()
}

// tapText taps the button, choice or menu line with that text.
func (s *screen) tapText(text string) {
	s.t.Helper()
	s.tap(s.find(text))
}

// find returns the first visible, enabled button, choice or menu line with that text, overlays first. Texts of nod are
// in English.
func (s *screen) find(text string) fyne.Tappable {
	s.t.Helper()
	text = tr(text)
	roots := s.canvas().Overlays().List()
	roots = append(roots, s.canvas().Content())
	for i := range roots {
		if o := findTappable(roots[i], text); o != nil {
			return o
		}
	}
	s.t.Fatalf("nothing to tap says %q", text)
	return nil
}

func findTappable(root fyne.CanvasObject, text string) fyne.Tappable {
	var found fyne.Tappable
	dialogstest.Walk(root, func(o fyne.CanvasObject) {
		if found != nil {
			return
		}
		switch x := o.(type) {
		case *button:
			if x.text == text {
				found = x
			}
		case *choice:
			if x.option.Label == text {
				found = x
			}
		case *menuLine:
			if x.item.text == text {
				found = x
			}
		case *widget.Button:
			if x.Text == text && !x.Disabled() {
				found = x
			}
		}
	})
	return found
}

// key presses a key the way Fyne's driver does.
func (s *screen) key(name fyne.KeyName) {
	s.down(name)
	s.repeat(name)
}

// down presses a key.
func (s *screen) down(name fyne.KeyName) {
	if f, takes := s.canvas().Focused().(desktop.Keyable); takes {
		f.KeyDown(&fyne.KeyEvent{Name: name})
	} else {
		s.p.window.keyDown(&fyne.KeyEvent{Name: name}, nil)
	}
}

// repeat is a repetition of a key that is held down.
func (s *screen) repeat(name fyne.KeyName) {
	ev := &fyne.KeyEvent{Name: name}
	switch f := s.canvas().Focused(); {
	case f != nil:
		f.TypedKey(ev)
	case s.canvas().OnTypedKey() != nil:
		s.canvas().OnTypedKey()(ev)
	}
	s.settle()
}

// chord presses a shortcut the way Fyne's driver does: the focused widget may swallow it.
func (s *screen) chord(name fyne.KeyName) {
	s.down(name)
	s.shortcut(name, fyne.KeyModifierShortcutDefault)
}

// shortcut is a shortcut whose key is held down.
func (s *screen) shortcut(name fyne.KeyName, modifier fyne.KeyModifier) {
	sc := &desktop.CustomShortcut{KeyName: name, Modifier: modifier}
	if f, takes := s.canvas().Focused().(fyne.Shortcutable); takes {
		f.TypedShortcut(sc)
	} else {
		s.p.window.typedShortcut(sc)
	}
	s.settle()
}

func (s *screen) typeText(text string) {
	for _, r := range text {
		s.down(fyne.KeyName(r))
		s.canvas().Focused().TypedRune(r)
	}
	s.settle()
}

// claude is a requester that nod could verify.
var claude = interact.Requester{
	Agent: "claude-code", IsAgent: true, Session: "s1", CWD: "/src/shop",
	Process: api.Process{PID: 4711, Exe: "/usr/bin/claude", CWD: "/src/shop"},
}

func request(id string, body interact.Body) interact.Request {
	return interact.Request{ID: interact.ID(id), Requester: claude, Body: body}
}

func bash(id, command string) interact.Request {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	r := request(id, interact.Approve{Tool: "Bash", Input: input, Description: "Clean the cache"})
	r.Silence = api.AsksInTerminal
	return r
}
