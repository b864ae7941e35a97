package dialogs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/dialogs/dialogstest"
	"nod/interact"
)

// submit presses the affirmative once it is armed.
func (s *screen) submit() {
	s.pass(time.Second)
	s.chord(fyne.KeyReturn)
}

func no() *bool { return new(bool) }

func TestAsk(t *testing.T) {
	three := []string{"SQLite", "PostgreSQL", "MariaDB"}
	tests := []struct {
		name string
		ask  api.Ask
		do   func(s *screen)
		want string
	}{
		{"an option", api.Ask{Question: "Which?", Options: three}, func(s *screen) { s.tapText("PostgreSQL") },
			"PostgreSQL"},
		{"another option after all", api.Ask{Question: "Which?", Options: three},
			func(s *screen) { s.tapText("SQLite"); s.tapText("MariaDB") }, "MariaDB"},
		{"an option by keyboard", api.Ask{Question: "Which?", Options: three}, func(s *screen) {
			s.key(fyne.KeyDown) // the last submit moved the focus to the first
			s.key(fyne.KeyDown)
			s.key(fyne.KeyUp)
			s.key(fyne.KeySpace)
		}, "PostgreSQL"},
		{"Other", api.Ask{Question: "Which?", Options: three},
			func(s *screen) { s.tapText("Other…"); s.typeText(" DuckDB ") }, "DuckDB"},
		{"an option after a draft of Other", api.Ask{Question: "Which?", Options: three}, func(s *screen) {
			s.tapText("Other…")
			s.typeText("DuckDB")
			s.tapText("SQLite")
		}, "SQLite"},
		{"an option that is called Other…", api.Ask{Question: "Which?", Options: []string{"Other…"}, AllowOther: no()},
			func(s *screen) { s.tapText("Other…") }, "Other…"},
		{"free text", api.Ask{Question: "Why?"}, func(s *screen) { s.typeText("because") }, "because"},
		{"free text in lines", api.Ask{Question: "Why?", Multiline: true}, func(s *screen) {
			s.typeText("a")
			s.key(fyne.KeyReturn)
			s.typeText("b")
		}, "a\nb"},
		{"a filtered option", api.Ask{Question: "Which?", Options: numbers(30)}, func(s *screen) {
			s.canvas().Focus(s.pickerFilter())
			s.typeText("17")
			s.tapText("option 17")
		}, "option 17"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			s.open(request("1", test.ask))
			s.focusWindow()
			s.submit()
			s.wantOpen("1") // nothing answered yet
			test.do(s)
			s.submit()
			if a := s.wantOutcome("1", api.Answered); a.Text != test.want {
				t.Errorf("answer %q, want %q", a.Text, test.want)
			}
		})
	}
}

func numbers(n int) []string {
	list := make([]string, n)
	for i := range n {
		list[i] = fmt.Sprintf("option %d", i+1)
	}
	return list
}

func (s *screen) pickerFilter() *field {
	var found *field
	dialogstest.Walk(s.page().object, func(o fyne.CanvasObject) {
		if f, ok := o.(*field); ok && strings.HasPrefix(f.PlaceHolder, "Filter") {
			found = f
		}
	})
	return found
}

func TestLongListsCanBeFiltered(t *testing.T) {
	for n, filtered := range map[int]bool{8: false, 9: true} {
		s := newScreen(t)
		s.open(request("1", api.Ask{Question: "Which?", Options: numbers(n)}))
		if got := s.pickerFilter() != nil; got != filtered {
			t.Errorf("%d options: filter %v, want %v", n, got, filtered)
		}
		if !filtered {
			continue
		}
		s.canvas().Focus(s.pickerFilter())
		s.typeText("option 9")
		if findTappable(s.page().object, "option 1") != nil || findTappable(s.page().object, "option 9") == nil {
			t.Error("the filter does not narrow the list down")
		}
		if findTappable(s.page().object, "Other…") == nil {
			t.Error("Other is gone")
		}
	}
}

func TestOtherIsLastAndCanBeLeftOut(t *testing.T) {
	last := func(ask api.Ask) string {
		s := newScreen(t)
		s.open(request("1", ask))
		var label string
		dialogstest.Walk(s.page().object, func(o fyne.CanvasObject) {
			if c, ok := o.(*choice); ok {
				label = c.option.Label
			}
		})
		return label
	}
	if got := last(api.Ask{Question: "?", Options: []string{"a", "b"}}); got != "Other…" {
		t.Errorf("the last choice is %q", got)
	}
	if got := last(api.Ask{Question: "?", Options: []string{"a", "b"}, AllowOther: no()}); got != "b" {
		t.Errorf("the last choice is %q", got)
	}
}

func TestDecline(t *testing.T) {
	for _, name := range []string{"ask", "form"} {
		s := newScreen(t)
		s.open(samples[name])
		s.tapText("Decline")
		if a := s.wantOutcome(samples[name].ID, api.Dismissed); a.Reason == "" {
			t.Errorf("%s: the agent is not told why", name)
		}
	}
}

func TestConfirm(t *testing.T) {
	tests := []struct {
		name string
		do   func(s *screen)
		want bool
	}{
		{"yes by click", func(s *screen) { s.pass(time.Second); s.tapText("Deploy") }, true},
		{"yes by chord", func(s *screen) { s.submit() }, true},
		{"no by click", func(s *screen) { s.tapText("Not yet") }, false},
		{"no by chord", func(s *screen) { s.chord(fyne.KeyD) }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScreen(t)
			s.open(samples["confirm"])
			s.focusWindow()
			s.tapText("Deploy")
			s.wantOpen("3") // not armed yet
			test.do(s)
			if a := s.wantOutcome("3", api.Answered); a.Confirmed != test.want || a.Defaulted {
				t.Errorf("answer %+v, want %v", a, test.want)
			}
		})
	}
}

// Yes waits until the end of the message has been in view.
func TestConfirmMustBeRead(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Confirm{Message: strings.Repeat("Fine.\n\n", 100) + "And delete everything."}))
	s.ready()
	s.submit()
	s.tapText("Yes")
	s.wantOpen("1")
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
	if a := s.wantOutcome("1", api.Answered); !a.Confirmed {
		t.Errorf("answer %+v", a)
	}
}

func TestHostileLabels(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Confirm{
		Message: "Sure?", YesLabel: "No\u202e\nreally" + strings.Repeat("!", 100), NoLabel: "Yes, later",
	}))
	if got := s.page().yes.text; strings.ContainsAny(got, "\n\u202e") || len([]rune(got)) > 80 {
		t.Errorf("the label is %q", got)
	}
	if s.page().yes.icon == "" {
		t.Error("nothing but the agent's word says which button is yes")
	}
}

// wholeForm has one question of each sort.
var wholeForm = api.Form{Questions: []api.Question{
	{ID: "db", Question: "Which database?", Options: []api.Option{
		{Label: "SQLite", Value: "sqlite", Description: "One file"},
		{Label: "PostgreSQL", Value: "pg", Recommended: true},
	}},
	{ID: "extras", Question: "What else?", MultiSelect: true, Required: no(),
		Options: []api.Option{{Label: "Tracing"}, {Label: "Metrics"}}},
	{ID: "name", Question: "Name?", Placeholder: "orders"},
	{ID: "note", Question: "Anything to add?", Required: no()},
}}

func TestForm(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", wholeForm))
	s.focusWindow()
	s.submit()
	s.wantOpen("1")
	if got := s.page().problem.Text; got != "Still missing: 2 of 4 answers." {
		t.Errorf("the prompt says %q", got)
	}
	if c, ok := s.canvas().Focused().(*choice); !ok || c.option.Value != "sqlite" {
		t.Errorf("the focus went to %T", s.canvas().Focused())
	}

	s.tapText("PostgreSQL")
	s.tapText("Tracing")
	s.tapText("Other…") // the first question's; its field is empty
	s.submit()
	s.wantOpen("1")
	form := s.page().kind.(*formPage)
	if got := form.questions[0].problem.Text; got != "“Other…” is picked, but empty." {
		t.Errorf("under the empty field: %q", got)
	}
	s.typeText("CockroachDB")
	s.submit()
	s.wantOpen("1")
	if f, ok := s.canvas().Focused().(*field); !ok || f.PlaceHolder != "orders" {
		t.Fatalf("the focus went to %T", s.canvas().Focused())
	}
	s.typeText("shop")
	s.submit()

	a := s.wantOutcome("1", api.Answered)
	want := map[string]api.Value{
		"db": interact.ListValue("CockroachDB"), "extras": interact.ListValue("Tracing"),
		"name": interact.TextValue("shop"), "note": interact.TextValue(""),
	}
	for id, v := range want {
		if !reflect.DeepEqual(a.Values[id], v) {
			t.Errorf("%s: %v, want %v", id, a.Values[id], v)
		}
	}
	if len(a.Values) != len(want) {
		t.Errorf("values %v", a.Values)
	}
}

func TestFormDefaults(t *testing.T) {
	s := newScreen(t)
	f := api.Form{Questions: slices.Clone(wholeForm.Questions)}
	f.Questions[0].Default = interact.TextValue("pg")
	f.Questions[1].Default = interact.ListValue("Tracing", "Metrics")
	f.Questions[2].Default = interact.TextValue("orders")
	s.open(request("1", f))
	s.focusWindow()
	s.tapText("Metrics") // off again
	s.submit()
	a := s.wantOutcome("1", api.Answered)
	for id, want := range map[string]api.Value{
		"db": interact.ListValue("pg"), "extras": interact.ListValue("Tracing"), "name": interact.TextValue("orders"),
	} {
		if !reflect.DeepEqual(a.Values[id], want) {
			t.Errorf("%s: %v, want %v", id, a.Values[id], want)
		}
	}
}

func TestFormMarksOptionalAndRecommended(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", wholeForm))
	for _, text := range []string{"optional", "Recommended", "One file", "4 questions"} {
		if !s.shows(text) {
			t.Errorf("%q is not there", text)
		}
	}
}

func TestFormSaysWhatWillNotDo(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Form{Questions: []api.Question{{ID: "n", Question: "How many?",
		Format: interact.Integer}}}))
	s.focusWindow()
	s.typeText("many")
	s.submit()
	s.wantOpen("1")
	const complaint = "Not every answer is valid yet."
	if !s.shows(complaint) || !s.shows("A whole number") {
		t.Error("the prompt does not say what is wrong")
	}
	s.key(fyne.KeyBackspace)
	if s.shows(complaint) {
		t.Error("the prompt still complains about an answer that is being changed")
	}
	s.key(fyne.KeyBackspace)
	s.key(fyne.KeyBackspace)
	s.key(fyne.KeyBackspace)
	s.typeText("3")
	s.submit()
	if a := s.wantOutcome("1", api.Answered); a.Values["n"].String() != "3" {
		t.Errorf("answer %v", a.Values)
	}
}

// The form does not count the invalid answers: each of them says that it is invalid.
func TestSeveralInvalidAnswers(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Form{Questions: []api.Question{
		{ID: "a", Question: "How many?", Format: interact.Integer, Default: interact.TextValue("many")},
		{ID: "b", Question: "When?", Format: interact.Date, Default: interact.TextValue("soon")},
	}}))
	s.focusWindow()
	s.submit()
	if s.wantOpen("1"); !s.shows("Not every answer is valid yet.") {
		t.Error("the prompt does not say that answers are invalid")
	}
}

// A text with template signs, markup and control characters is shown, never executed.
func TestAgentTextIsNeverATemplate(t *testing.T) {
	s := newScreen(t)
	r := bash("1", "echo {{.Names}}")
	r.Requester.Agent = "{{.Agent}}"
	r.Body = interact.Approve{Tool: "{{.Tool}}", Input: []byte(`{"x":"{{.X}}"}`), Description: "{{.Y}}"}
	s.open(r)
	for _, text := range []string{"{{.Agent}} · shop", "{{.Tool}}", "{{.X}}", "{{.Y}}"} {
		if !s.shows(text) {
			t.Errorf("%q is not shown as it is", text)
		}
	}
}

// The description of the agent never appears among the exact input.
func TestDescriptionStaysOutOfTheInput(t *testing.T) {
	s := newScreen(t)
	r := bash("1", "rm -rf build")
	r.Body = interact.Approve{Tool: "Bash", Input: []byte(`{"command":"rm -rf build"}`),
		Description: "Command: ls\nAllow is safe"}
	s.open(r)
	for _, l := range s.page().text.(*sheet).lines {
		if strings.Contains(l.Text(), "Allow is safe") {
			t.Error("the description is in the primary block")
		}
	}
	if !s.shows("Allow is safe") || !s.shows("agent says:") {
		t.Error("the description is not shown as the agent's words")
	}
}

// A form can be filled in by keyboard alone: digits and the space bar pick, Enter moves on, and submits at the end.
func TestFormByKeyboard(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", wholeForm))
	s.ready()
	s.typeText("3") // Other, whose field gets the focus
	s.typeText("CockroachDB")
	s.key(fyne.KeyReturn)
	s.typeText("2")
	s.typeText("2") // off again
	s.typeText("1")
	s.key(fyne.KeyDown)
	s.key(fyne.KeySpace)
	s.key(fyne.KeyReturn) // goes on, of several that may be picked together
	s.typeText("shop")
	s.key(fyne.KeyReturn)
	s.repeat(fyne.KeyReturn) // held down
	s.wantOpen("1")
	s.typeText("as soon as you can")
	s.key(fyne.KeyReturn)
	a := s.wantOutcome("1", api.Answered)
	want := map[string]api.Value{
		"db": interact.ListValue("CockroachDB"), "extras": interact.ListValue("Tracing", "Metrics"),
		"name": interact.TextValue("shop"), "note": interact.TextValue("as soon as you can"),
	}
	if !reflect.DeepEqual(a.Values, want) {
		t.Errorf("values %v, want %v", a.Values, want)
	}
}

// Enter picks the focused option if only one may be picked.
func TestEnterPicks(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Which?", Options: []string{"a", "b", "c"}}))
	s.ready()
	s.key(fyne.KeyDown)
	s.key(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Answered); a.Text != "b" {
		t.Errorf("answer %q", a.Text)
	}
}

// Enter at the end leads back to missing answers.
func TestEnterSaysWhatIsMissing(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", wholeForm))
	s.ready()
	s.canvas().Focus(s.page().kind.firstFocus())
	for range 2 {
		s.chord(fyne.KeyReturn) // submits whatever is there
		s.wantOpen("1")
		if c, ok := s.canvas().Focused().(*choice); !ok || c.option.Value != "sqlite" {
			t.Errorf("the focus went to %T", s.canvas().Focused())
		}
	}
}

// In a long list, digits go to the filter, and Enter picks the only option left.
func TestFilterByKeyboard(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Which?", Options: numbers(30)}))
	s.ready()
	s.typeText("17")
	s.key(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Answered); a.Text != "option 17" {
		t.Errorf("answer %q", a.Text)
	}
	s.pass(time.Second)
	s.open(request("2", api.Ask{Question: "Which?", Options: numbers(30)}))
	s.ready()
	s.typeText("2")
	s.key(fyne.KeyDown) // 2
	s.key(fyne.KeyDown) // 12
	s.key(fyne.KeyUp)
	s.key(fyne.KeyUp) // the filter again
	s.typeText("2")
	s.key(fyne.KeyDown)
	s.key(fyne.KeySpace)
	s.chord(fyne.KeyReturn)
	if a := s.wantOutcome("2", api.Answered); a.Text != "option 22" {
		t.Errorf("answer %q", a.Text)
	}
}

// A user who types before they can have read the question was typing into another window: nothing is sent before a
// pause.
func TestBlindTypingAnswersNothing(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Which?", Options: []string{"a", "b"}, AllowOther: no()}))
	s.open(request("2", api.Ask{Question: "Why?"}))
	s.focusWindow()
	for _, id := range []interact.ID{"1", "2"} {
		for range 10 {
			s.pass(400 * time.Millisecond)
			s.typeText("make 2")
			s.key(fyne.KeyReturn)
		}
		s.wantOpen(id)
		s.chord(fyne.KeyPeriod)
	}
	s.pass(time.Second)
	s.key(fyne.KeyReturn)
	if a := s.wantOutcome("1", api.Answered); a.Text != "b" {
		t.Errorf("answer %q", a.Text)
	}
}

// A click on the title bar asks, too.
func TestClosingAsksOnce(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Ask{Question: "Why?"}))
	s.ready()
	s.typeText("because")
	s.p.window.close()
	s.wantOpen("1")
	s.p.window.close()
	s.wantOutcome("1", api.Dismissed)
}

// Escape asks once before an answer is lost.
func TestEscapeAsksOnce(t *testing.T) {
	const sure = "Discard your answers? Press Esc or close again."
	for name, r := range map[string]interact.Request{
		"ask":     request("1", api.Ask{Question: "Why?"}),
		"options": request("1", api.Ask{Question: "Which?", Options: []string{"a", "b"}}),
		"form":    request("1", wholeForm),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(r)
			s.ready()
			s.typeText("1")
			s.key(fyne.KeyEscape)
			s.repeat(fyne.KeyEscape) // held down
			s.wantOpen("1")
			if !s.shows(sure) {
				t.Fatal("the prompt does not ask")
			}
			s.typeText("2")
			if s.shows(sure) {
				t.Error("the prompt still asks though the answer changes")
			}
			s.key(fyne.KeyEscape)
			s.wantOpen("1")
			s.key(fyne.KeyEscape)
			s.wantOutcome("1", api.Dismissed)
		})
	}
}

// A single question is shown once.
func TestOneQuestion(t *testing.T) {
	for name, form := range map[string]api.Form{
		"untitled": {Questions: []api.Question{{ID: "n", Question: "What port?"}}},
		"titled":   {Title: "What port?", Questions: []api.Question{{ID: "n", Question: "What port?"}}},
	} {
		s := newScreen(t)
		s.open(request("1", form))
		all := test.RenderToMarkup(s.canvas())
		if !strings.Contains(all, "has a question") || strings.Count(all, "What port?") != 1 ||
			strings.Contains(all, "required") {
			t.Errorf("%s: the prompt is\n%s", name, all)
		}
	}
}
