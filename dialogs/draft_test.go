package dialogs

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// keepDrafts makes the screen save drafts as nod does, and start from saved ones.
func (s *screen) keepDrafts(drafts map[interact.ID][]byte) {
	s.p.options.Draft = func(id interact.ID) []byte { return drafts[id] }
	s.p.options.SaveDraft = func(id interact.ID, draft []byte) { drafts[id] = draft }
	s.p.timer = func(d time.Duration, f func()) *time.Timer {
		if d == draftDelay {
			s.soon = append(s.soon, f)
		}
		return nil
	}
}

// bigForm has every kind of question.
func bigForm() api.Form {
	options := func(n int) (list []api.Option) {
		for _, o := range numbers(n) {
			list = append(list, api.Option{Label: o, Value: strings.ToUpper(o)})
		}
		return list
	}
	one := api.Question{ID: "one", Question: "one?", Options: options(3)}
	some := api.Question{ID: "some", Question: "some?", Options: options(4), MultiSelect: true}
	many := api.Question{ID: "many", Question: "many?", Options: options(30)}
	name := api.Question{ID: "name", Question: "name?", Default: interact.TextValue("nobody")}
	day := api.Question{ID: "day", Question: "day?", Format: interact.Date}
	return api.Form{Questions: []api.Question{one, name, some, day, many}}
}

// TestDraftsOutliveTheWindow types into a prompt, and continues in a new window.
func TestDraftsOutliveTheWindow(t *testing.T) {
	goTo := func(s *screen, question string) { s.canvas().Focus(s.page().inputs[question].(fyne.Focusable)) }
	tests := []struct {
		name string
		r    interact.Request
		do   func(s *screen)
		more func(s *screen) // in the new window
		want interact.Answer // sent at the end
	}{
		{"an answer", request("1", api.Ask{Question: "Why?"}), func(s *screen) { s.typeText("half a sen") },
			func(s *screen) { s.typeText("tence") }, interact.Answer{Outcome: api.Answered, Text: "half a sentence"}},
		{"an answer in lines", request("1", api.Ask{Question: "Why?", Multiline: true}), func(s *screen) {
			s.typeText("a")
			s.key(fyne.KeyReturn)
			s.typeText("b")
		}, func(s *screen) { s.typeText("c") }, interact.Answer{Outcome: api.Answered, Text: "a\nbc"}},
		{"a pick", request("1", api.Ask{Question: "Which?", Options: []string{"x", "y"}}),
			func(s *screen) { s.tapText("y") }, nil, interact.Answer{Outcome: api.Answered, Text: "y"}},
		{"an answer of one's own", request("1", api.Ask{Question: "Which?", Options: []string{"x", "y"}}),
			func(s *screen) { s.tapText("Other…"); s.typeText("z") },
			func(s *screen) { s.typeText("z") }, interact.Answer{Outcome: api.Answered, Text: "zz"}},
		{"a form", request("1", bigForm()), func(s *screen) {
			s.tapText("option 2") // of the first question
			goTo(s, "name")
			s.key(fyne.KeyEnd)
			s.typeText("'s")
			some := s.page().inputs["some"].(*picker)
			s.tap(some.choices[1])
			s.tap(some.choices[3])
			s.tap(some.last)
			s.typeText("mine")
			goTo(s, "day")
			s.typeText("2030-12-")
			s.tap(s.page().inputs["many"].(*picker).choices[16])
			goTo(s, "day")
			s.typeText("3")
		}, func(s *screen) { s.typeText("1") }, interact.Answer{
			Outcome: api.Answered, Values: map[string]api.Value{
				"one": interact.ListValue("OPTION 2"), "name": interact.TextValue("nobody's"),
				"some": interact.ListValue("OPTION 2", "OPTION 4", "mine"), "day": interact.TextValue("2030-12-31"),
				"many": interact.ListValue("OPTION 17"),
			}}},
		{"how long an allow holds", bash("1", "make"), func(s *screen) { s.tapText("Once"); s.tapText("This session") }, nil,
			interact.Answer{Outcome: api.Allowed, Scope: policy.ThisSession, Covers: policy.CoverInput,
				ShownSHA256: interact.Digest([]byte(`{"command":"make"}`))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			drafts := map[interact.ID][]byte{}
			s := newScreen(t)
			s.keepDrafts(drafts)
			s.open(tt.r)
			s.ready()
			tt.do(s)

			s = newScreen(t)
			s.keepDrafts(drafts)
			s.open(tt.r)
			s.chord(fyne.KeyReturn)
			s.wantOpen("1") // nothing is armed
			s.pass(time.Minute)
			s.wantOpen("1") // and nothing is sent automatically
			s.focusWindow()
			s.chord(fyne.KeyReturn)
			s.wantOpen("1")
			if tt.more != nil {
				tt.more(s)
			}
			s.submit()
			a := s.wantOutcome("1", tt.want.Outcome)
			a.By, a.Shown = "", interact.Shown{}
			if !reflect.DeepEqual(a, tt.want) {
				t.Errorf("sent %+v, want %+v", a, tt.want)
			}
		})
	}
}

// The unfinished reason for a denial is shown again, and denies only when the user says so.
func TestTheReasonOfADenialIsADraft(t *testing.T) {
	drafts := map[interact.ID][]byte{}
	s := newScreen(t)
	s.keepDrafts(drafts)
	s.open(bash("1", "make"))
	s.tapText("Deny with reason…")
	s.typeText("use ninja")

	s = newScreen(t)
	s.keepDrafts(drafts)
	s.open(bash("1", "make"))
	s.key(fyne.KeyReturn) // on the text, which has the focus first
	s.wantOpen("1")
	if !s.page().refusing {
		t.Error("the reason is not open")
	}
	s.canvas().Focus(s.page().inputs[""].(fyne.Focusable))
	s.typeText("!")
	s.chord(fyne.KeyD)
	if a := s.wantOutcome("1", api.Denied); a.Reason != "use ninja!" {
		t.Errorf("denied with %q", a.Reason)
	}
}

// A draft is saved at once when another prompt or none is shown, and only if it has changed.
func TestWhenDraftsAreKept(t *testing.T) {
	const empty = "" // nothing is typed
	tests := []struct {
		name string
		do   func(s *screen)
		want []string // saved texts in order
	}{
		{"nothing is typed", func(s *screen) { s.chord(fyne.KeyPeriod) }, nil},
		{"another prompt", func(s *screen) { s.typeText("a"); s.chord(fyne.KeyPeriod); s.chord(fyne.KeyComma) },
			[]string{"a"}},
		{"put off", func(s *screen) { s.typeText("a"); s.tap(s.page().head.more); s.tapText("Snooze 5 minutes") },
			[]string{"a"}},
		{"twice", func(s *screen) {
			s.typeText("a")
			s.chord(fyne.KeyPeriod)
			s.chord(fyne.KeyComma)
			s.typeText("b")
			s.chord(fyne.KeyPeriod)
		}, []string{"a", "ab"}},
		{"taken back", func(s *screen) {
			s.typeText("a")
			s.chord(fyne.KeyPeriod)
			s.chord(fyne.KeyComma)
			s.key(fyne.KeyBackspace)
			s.chord(fyne.KeyPeriod)
		}, []string{"a", empty}},
		{"sent", func(s *screen) { s.typeText("a"); s.submit() }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t)
			var kept []string
			s.p.options.SaveDraft = func(id interact.ID, draft []byte) {
				text := empty
				if len(draft) > 0 {
					d, _ := readDraft(draft)
					text = d.Answers[""].Text
				}
				if kept = append(kept, text); id != "1" {
					t.Errorf("of %s", id)
				}
			}
			s.open(request("1", api.Ask{Question: "Why?"}))
			s.open(request("2", api.Ask{Question: "How?"}))
			s.ready()
			tt.do(s)
			if !reflect.DeepEqual(kept, tt.want) {
				t.Errorf("kept %q, want %q", kept, tt.want)
			}
		})
	}
}

// While the user types, drafts are saved from time to time, not at every key, and completely soon after the last key.
func TestTypingIsKeptNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ui := prompting(t)
		var kept [][]byte
		p.options.SaveDraft = func(_ interact.ID, draft []byte) { kept = append(kept, draft) }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = p.Open(request("1", api.Ask{Question: "Why?"}), policy.Decision{})(ctx) }()
		synctest.Wait()
		const keys = 50
		for range keys {
			ui(func() { p.window.page.inputs[""].(*field).SetText(p.window.page.inputs[""].(*field).Text + "x") })
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(draftDelay)
		synctest.Wait()
		ui(func() {
			if n := len(kept); n < 5 || n > 11 {
				t.Errorf("kept %d times in 5 s", n)
			}
			if d, _ := readDraft(kept[len(kept)-1]); len(d.Answers[""].Text) != keys {
				t.Errorf("kept %q last", kept[len(kept)-1])
			}
		})
	})
}

// A draft that no user can have typed into a prompt is dropped completely.
func TestWhatIsNoDraftIsDropped(t *testing.T) {
	ask, pick := api.Ask{Question: "Why?"}, api.Ask{Question: "Which?", Options: []string{"x", "y"}}
	closed := api.Ask{Question: "Which?", Options: []string{"x", "y"}, AllowOther: no()}
	approve := bash("1", "make").Body
	for _, tt := range []struct {
		draft string
		body  interact.Body
	}{
		{`no JSON`, ask}, {`[]`, ask}, {`{"answers":{"":{"text":"x"}}}}`, ask},
		{`{"answers":{"":{"text":"x"}},"version":2}`, ask},
		{`{"answers":{"":{"text":"x","text":"y"}}}`, ask}, {`{"answers":{"":{"text":5}}}`, ask},
		{"{\"answers\":{\"\":{\"text\":\"\xff\"}}}", ask},
		{`{"answers":{"":{"text":"a\u0000b"}}}`, ask}, {`{"answers":{"":{"text":"two\nlines"}}}`, ask},
		{`{"answers":{"":{"text":"x","picks":["x"]}}}`, ask}, {`{"answers":{"":{"text":"x","other":true}}}`, ask},
		{`{"answers":{"":{"text":"x"},"more":{"text":"x"}}}`, ask},
		{`{"answers":{"":{"text":"x"}},"choice":{"refusing":true}}`, ask}, {`{"answers":{"":{"text":"x"}},"at":"x"}`, ask},
		{`{"answers":{"":{"text":"` + strings.Repeat("x", 300<<10) + `"}}}`, ask},
		{`{"answers":{"":{"picks":["z"]}}}`, pick}, {`{"answers":{"":{"picks":["x","y"]}}}`, pick},
		{`{"answers":{"":{"picks":["x"],"other":true}}}`, pick}, {`{"answers":{"":{"picks":["Other…"]}}}`, pick},
		{`{"answers":{"":{"text":"a\nb","other":true}}}`, pick},
		{`{"answers":{"":{"other":true}}}`, closed}, {`{"answers":{"":{"text":"x"}}}`, closed},
		{`{"answers":{"one":{"picks":["OPTION 1"]},"two":{}}}`, bigForm()},
		{`{"answers":{"one":{"picks":["OPTION 1"]},"day":{"picks":["x"]}}}`, bigForm()},
		{`{"answers":{"":{}}}`, api.Confirm{Message: "Sure?"}}, {`{"choice":{}}`, api.Confirm{Message: "Sure?"}},
		{`{"answers":{"":{"picks":["x"]}},"choice":{"refusing":true}}`, approve},
		{`{"choice":{"refusing":true},"at":"x"}`, approve}, {`{"choice":{"scope":"for ever"}}`, approve},
		{`{"choice":{"scope":"always","cover":"host"}}`, approve}, {`{"choice":{"scope":"once","cover":"tool"}}`, approve},
		{`{"choice":{"scope":"once","suggestion":1}}`, approve},
		{`{"choice":{"scope":"always","cover":"input","suggestion":-1}}`, approve},
	} {
		s := newScreen(t)
		s.keepDrafts(map[interact.ID][]byte{"1": []byte(tt.draft)})
		s.open(request("1", tt.body))
		if pg := s.page(); !bytes.Equal(pg.draft(), pg.blank) {
			t.Errorf("%.80s became %s", tt.draft, pg.draft())
		}
	}
}

// FuzzDraft restores arbitrary drafts in each kind of prompt. A draft is dropped, or could have been typed; it is never
// sent.
func FuzzDraft(f *testing.F) {
	bodies := []interact.Body{
		api.Ask{Question: "Why?", Multiline: true}, api.Ask{Question: "Which?", Options: []string{"x", "y"}},
		bigForm(), api.Confirm{Message: "Sure?"}, bash("1", "make").Body,
	}
	for i, draft := range []string{
		`{"answers":{"":{"text":"half a sentence\nand more"}}}`, `{"answers":{"":{"text":"z","other":true}}}`,
		`{"answers":{"one":{"picks":["OPTION 2"]},"name":{"text":"nobody's"},"some":{"picks":["OPTION 1"],"text":"x"}}}`,
		`{}`, `{"answers":{"":{"text":"use ninja"}},"choice":{"refusing":true,"scope":"session","cover":"input"}}`,
	} {
		f.Add(uint8(i), []byte(draft))
	}
	s := newScreen(f)
	var pages []*page
	for i, body := range bodies {
		s.open(request(fmt.Sprint(i), body))
		s.p.Show(interact.ID(fmt.Sprint(i)))
		s.ready()
		pages = append(pages, s.page())
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		s.t = t
		i := int(kind) % len(pages)
		pg := pages[i]
		blank := pg.draft()
		pg.restore(data)
		first := pg.draft()
		pg.restore(first)
		if again := pg.draft(); !bytes.Equal(again, first) {
			t.Errorf("%q became %s, and that %s", data, first, again)
		}
		s.wantOpen(interact.ID(fmt.Sprint(i)))
		if pg.restore(blank); !bytes.Equal(pg.draft(), blank) {
			t.Errorf("what was restored stays: %s", pg.draft())
		}
	})
}

// A restored page saves the same draft; otherwise each crash would lose text.
func TestADraftOfADraftIsTheSame(t *testing.T) {
	for i, body := range []interact.Body{api.Ask{Question: "Why?"}, bigForm(), bash("1", "make").Body} {
		s := newScreen(t)
		s.open(request(fmt.Sprint(i), body))
		blank := s.page().draft()
		s.page().restore(blank)
		if got := s.page().draft(); !bytes.Equal(got, blank) {
			t.Errorf("%s became %s", blank, got)
		}
	}
}
