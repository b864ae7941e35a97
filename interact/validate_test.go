package interact_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

func TestValidate(t *testing.T) {
	long := strings.Repeat("x", interact.MaxText+1)
	choice := func(options ...api.Option) api.Question {
		return api.Question{ID: "q", Question: "?", Options: options}
	}
	form := func(qs ...api.Question) api.Form { return api.Form{Questions: qs} }
	a, b := api.Option{Label: "A"}, api.Option{Label: "B"}
	with := func(q api.Question, f func(*api.Question)) api.Question { f(&q); return q }

	tests := map[string]struct {
		body    interact.Body
		param   string // "" means valid
		missing bool
	}{
		"ask":               {api.Ask{Question: "?"}, "", false},
		"ask blank":         {api.Ask{Question: " \n"}, "question", true},
		"ask half a letter": {api.Ask{Question: "\ufffd"}, "question", true},
		"ask invisible":     {api.Ask{Question: "\u200b\u202e \u3164"}, "question", true},
		"form invisible": {api.Form{Questions: []api.Question{
			{ID: "a", Question: "\u2060", InputType: interact.Text}}}, "questions[0].question", true},
		"ask long":         {api.Ask{Question: long}, "question", false},
		"ask bad utf-8":    {api.Ask{Question: "\xff"}, "question", false},
		"ask blank option": {api.Ask{Question: "?", Options: []string{"a", ""}}, "options[1]", true},
		"ask twin options": {api.Ask{Question: "?", Options: []string{"a", "a"}}, "options[1]", false},
		"ask many options": {api.Ask{Question: "?", Options: make([]string, interact.MaxOptions+1)}, "options", false},
		"confirm":          {api.Confirm{Message: "?"}, "", false},
		"confirm blank":    {api.Confirm{}, "message", true},
		"confirm twice":    {api.Confirm{Message: "?", YesLabel: "Allow", NoLabel: " allow "}, "yes_label", false},
		"confirm no, no":   {api.Confirm{Message: "?", YesLabel: "NO"}, "yes_label", false},
		"confirm swapped":  {api.Confirm{Message: "?", YesLabel: "No", NoLabel: "Yes"}, "yes_label", false},
		"confirm with yes": {api.Confirm{Message: "?", YesLabel: "Go", NoLabel: "yes"}, "no_label", false},
		"confirm long label": {api.Confirm{Message: "?", YesLabel: strings.Repeat("x", interact.MaxName+1)},
			"yes_label", false},
		"form":          {form(choice(a, b), api.Question{ID: "t", Question: "?"}), "", false},
		"form empty":    {form(), "questions", false},
		"form many":     {form(make([]api.Question, interact.MaxQuestions+1)...), "questions", false},
		"form twin ids": {form(choice(a), choice(b)), "questions[1].id", false},
		"form no id":    {form(api.Question{Question: "?"}), "questions[0].id", true},
		"form bad type": {form(api.Question{ID: "q", Question: "?", InputType: "slider"}),
			"questions[0].input_type", false},
		"form no options": {form(api.Question{ID: "q", Question: "?", InputType: interact.Choice}),
			"questions[0].options", false},
		"form text options": {form(with(choice(a), func(q *api.Question) { q.InputType = interact.Text })),
			"questions[0].options", false},
		"form text multi": {form(api.Question{ID: "q", Question: "?", MultiSelect: true}),
			"questions[0].multi_select", false},
		"form text default": {form(api.Question{ID: "q", Question: "?", Default: interact.ListValue("a")}),
			"questions[0].default", false},
		"form twin values": {form(choice(a, api.Option{Label: "X", Value: "A"})), "questions[0].options[1].value",
			false},
		"form recommended": {form(choice(api.Option{Label: "A (Recommended) "})), "questions[0].options[0].label",
			false},
		"form 推荐":       {form(choice(api.Option{Label: "甲（推荐）"})), "questions[0].options[0].label", false},
		"form no label": {form(choice(api.Option{Value: "v"})), "questions[0].options[0].label", true},
		"form default": {form(with(choice(a, b), func(q *api.Question) { q.Default = interact.TextValue("B") })),
			"", false},
		"form bad default": {form(with(choice(a, b), func(q *api.Question) { q.Default = interact.TextValue("C") })),
			"questions[0].default", false},
		"form two defaults": {form(with(choice(a, b), func(q *api.Question) {
			q.Default = interact.ListValue("A", "B")
		})), "questions[0].default", false},
		"form bad format": {form(api.Question{ID: "q", Question: "?", Format: "zip"}), "questions[0].format", false},
		"form max 0":      {form(api.Question{ID: "q", Question: "?", Max: new(0.0)}), "questions[0].max", false},
		"form number of at most 0": {form(api.Question{ID: "q", Question: "?", Format: interact.Integer, Max: new(0.0)}),
			"", false},
		"form all and another": {form(with(choice(a, b), func(q *api.Question) { q.MultiSelect, q.Min = true, new(3.0) })),
			"", false},
		"form more than there are": {form(with(choice(a, b), func(q *api.Question) {
			q.MultiSelect, q.Min = true, new(4.0)
		})), "questions[0].min", false},
		"form choice format": {form(with(choice(a), func(q *api.Question) { q.Format = interact.Email })),
			"questions[0].format", false},
		"approve":          {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`)}, "", false},
		"approve mutating": {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Class: "mutating"}, "", false},
		"approve no tool":  {interact.Approve{Input: json.RawMessage(`{}`)}, "tool", true},
		"approve no input": {interact.Approve{Tool: "Bash"}, "input", false},
		"approve null":     {interact.Approve{Tool: "Bash", Input: json.RawMessage(`null`)}, "input", false},
		"approve array":    {interact.Approve{Tool: "Bash", Input: json.RawMessage(`[]`)}, "input", false},
		"approve broken":   {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"a":`)}, "input", false},
		"approve suggestion": {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Suggestions: []string{"always"}},
			"", false},
		"approve blank suggestion": {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`),
			Suggestions: []string{"always", " "}}, "suggestions[1]", true},
		"approve too many suggestions": {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`),
			Suggestions: make([]string, interact.MaxOptions+1)}, "suggestions", false},
		"approve bad class": {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Class: "harmless"}, "class",
			false},
		"notify":           {api.Notify{Message: "!"}, "", false},
		"notify blank":     {api.Notify{}, "message", true},
		"notify bad level": {api.Notify{Message: "!", Level: "loud"}, "level", false},
	}
	broker := interacttest.Broker(&interacttest.Prompter{}, &interacttest.Policy{})
	defer broker.Close()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ticket, err := broker.Begin(interact.Request{Body: tt.body})
			checkParam(t, err, tt.param, tt.missing)
			if err == nil {
				ticket.Release()
			}
		})
	}
}

func TestValidateCommonFields(t *testing.T) {
	long := strings.Repeat("x", interact.MaxName+1)
	tests := map[string]struct {
		r     interact.Request
		param string
	}{
		"relative cwd":  {interact.Request{Requester: interact.Requester{CWD: "src"}}, "cwd"},
		"long agent":    {interact.Request{Requester: interact.Requester{Agent: long}}, "agent"},
		"long session":  {interact.Request{Requester: interact.Requester{Session: long}}, "session"},
		"long key":      {interact.Request{IdempotencyKey: long}, "idempotency_key"},
		"negative time": {interact.Request{Timeout: -1}, "timeout"},
		"endless time":  {interact.Request{Timeout: interact.MaxTimeout + time.Second}, "timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.r.Body = api.Ask{Question: "?"}
			checkParam(t, tt.r.Validate(), tt.param, false)
		})
	}
}

func checkParam(t *testing.T, err error, param string, missing bool) {
	t.Helper()
	if param == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	var wrong *interact.ParamError
	if !errors.As(err, &wrong) {
		t.Fatalf("err = %v, want a ParamError of %s", err, param)
	}
	if wrong.Param != param || wrong.Missing != missing {
		t.Errorf("got %q (missing %v): %v; want %q (missing %v)", wrong.Param, wrong.Missing, wrong, param, missing)
	}
}

func TestCheck(t *testing.T) {
	no, answered := false, api.Answered
	optional := api.Question{ID: "o", Question: "?", Required: &no}
	pick := api.Question{ID: "p", Question: "?", Options: []api.Option{{Label: "A"}, {Label: "B"}}}
	many := api.Question{ID: "m", Question: "?", Options: []api.Option{{Label: "A"}, {Label: "B"}},
		MultiSelect: true, Required: &no}
	form := interact.Normalize(api.Form{Questions: []api.Question{optional, pick, many}})
	values := func(o, p, m api.Value) interact.Answer {
		return interact.Answer{Outcome: answered, Values: map[string]api.Value{"o": o, "p": p, "m": m}}
	}
	text, list := interact.TextValue, interact.ListValue

	tests := map[string]struct {
		body interact.Body
		a    interact.Answer
		ok   bool
	}{
		"text":       {api.Ask{Question: "?"}, interact.Answer{Outcome: answered, Text: "x"}, true},
		"blank text": {api.Ask{Question: "?"}, interact.Answer{Outcome: answered, Text: " "}, false},
		"other": {api.Ask{Question: "?", Options: []string{"a"}},
			interact.Answer{Outcome: answered, Text: "x"}, true},
		"no other": {api.Ask{Question: "?", Options: []string{"a"}, AllowOther: &no},
			interact.Answer{Outcome: answered, Text: "x"}, false},
		"option": {api.Ask{Question: "?", Options: []string{"a"}, AllowOther: &no},
			interact.Answer{Outcome: answered, Text: "a"}, true},
		"ask allowed":     {api.Ask{Question: "?"}, allowed, false},
		"form":            {form, values(text(""), list("A"), list()), true},
		"form other":      {form, values(text("x"), list("something else"), list("A", "C")), true},
		"form missing":    {form, values(text("x"), list(), list()), false},
		"form two":        {form, values(text("x"), list("A", "B"), list()), false},
		"form blank pick": {form, values(text("x"), list(" "), list()), false},
		"form wrong kind": {form, values(list("x"), list("A"), list()), false},
		"form stranger": {form, interact.Answer{Outcome: answered,
			Values: map[string]api.Value{"o": text(""), "p": list("A"), "m": list(), "z": text("")}}, false},
		"form none": {form, interact.Answer{Outcome: answered}, false},
		"dismissed": {form, interact.Answer{Outcome: api.Dismissed}, true},
		"timed out": {form, interact.Answer{Outcome: api.TimedOut}, false},
		"suggestion": {interact.Approve{Tool: "T", Suggestions: []string{"x"}},
			interact.Answer{Outcome: api.Allowed, Suggestion: 1}, true},
		"no such one": {interact.Approve{Tool: "T", Suggestions: []string{"x"}},
			interact.Answer{Outcome: api.Allowed, Suggestion: 2}, false},
		"denied with one": {interact.Approve{Tool: "T", Suggestions: []string{"x"}},
			interact.Answer{Outcome: api.Denied, Suggestion: 1}, false},
		"session allow without a session": {interact.Approve{Tool: "T", Input: json.RawMessage(`{}`)},
			interact.Answer{Outcome: api.Allowed, Scope: "session"}, false},
		"covers": {interact.Approve{Tool: "T"},
			interact.Answer{Outcome: api.Allowed, Scope: "always", Covers: "edits"}, true},
		"covers who knows": {interact.Approve{Tool: "T"},
			interact.Answer{Outcome: api.Allowed, Scope: "always", Covers: "all"}, false},
		"covers once": {interact.Approve{Tool: "T"},
			interact.Answer{Outcome: api.Allowed, Scope: "once", Covers: "commands"}, false},
		"covers no scope": {interact.Approve{Tool: "T"}, interact.Answer{Outcome: api.Allowed, Covers: "commands"},
			false},
		"covers what is not": {interact.Approve{Tool: "T"},
			interact.Answer{Outcome: api.Denied, Scope: "always", Covers: "commands"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if approve, ok := tt.body.(interact.Approve); ok {
				tt.a.ShownSHA256 = interact.Digest(approve.Input)
			}
			if err := (interact.Request{Body: tt.body}).Check(tt.a); (err == nil) != tt.ok {
				t.Errorf("Check: %v, want ok = %v", err, tt.ok)
			}
		})
	}
}

// Nobody allows what they were not shown, and nothing of another machine for always.
func TestCheckOfAnAllow(t *testing.T) {
	approve := interact.Approve{Tool: "T", Input: json.RawMessage(`{"a":1}`)}
	here := interact.Request{Body: approve}
	away := interact.Request{Body: approve, Requester: interact.Requester{Machine: "build"}}
	shown := interact.Answer{Outcome: api.Allowed, ShownSHA256: interact.Digest(approve.Input)}
	other, always := shown, shown
	other.ShownSHA256, always.Scope = interact.Digest([]byte(`{}`)), policy.Always
	everywhere := shown
	everywhere.Scope = policy.Everywhere
	for name, tt := range map[string]struct {
		r  interact.Request
		a  interact.Answer
		ok bool
	}{
		"shown": {here, shown, true}, "shown another": {here, other, false}, "shown nothing": {here, allowed, false},
		"for always": {here, always, true}, "of a machine": {away, shown, true},
		"of a machine, for always": {away, always, false},
		"everywhere":               {here, everywhere, true}, "of a machine, everywhere": {away, everywhere, false},
	} {
		if err := tt.r.Check(tt.a); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckConstraints(t *testing.T) {
	no := false
	num := func(f float64) *float64 { return &f }
	three := []api.Option{{Label: "A"}, {Label: "B"}, {Label: "C"}}
	text := func(f string, min, max *float64) api.Question {
		return api.Question{InputType: interact.Text, Format: f, Min: min, Max: max}
	}
	closed := api.Question{Options: three, AllowOther: &no}
	some := api.Question{Options: three, MultiSelect: true, Min: num(1), Max: num(2), Required: &no}
	tests := map[string]struct {
		q    api.Question
		good []api.Value
		bad  []api.Value
	}{
		"email": {text(interact.Email, nil, nil), texts("a@b.c"), texts("a", "A <a@b.c>", "a@b.c, d@e.f")},
		"uri":   {text(interact.URI, nil, nil), texts("https://x.y/z", "mailto:a@b.c"), texts("x y", "/a", "://")},
		"date":  {text(interact.Date, nil, nil), texts("2030-02-28"), texts("2030-02-30", "28.2.2030")},
		"instant": {text(interact.DateTime, nil, nil), texts("2030-02-28T10:00:00+01:00"),
			texts("2030-02-28", "2030-02-28 10:00")},
		"integer": {text(interact.Integer, num(0), num(9)), texts("0", "9", "5.0"), texts("-1", "10", "1.5", "x", "NaN")},
		"number":  {text(interact.Number, num(0.5), nil), texts("0.5", "1e3"), texts("0.4", "Inf", "1,5")},
		"length":  {text("", num(2), num(3)), texts("äö", "abc"), texts("ä", "abcd")},
		"closed":  {closed, []api.Value{interact.ListValue("A")}, []api.Value{interact.ListValue("X")}},
		"picks": {some, []api.Value{interact.ListValue(), interact.ListValue("A", "other")},
			[]api.Value{interact.ListValue("A", "B", "C"), interact.ListValue("A", "A")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.q.ID, tt.q.Question = "q", "?"
			r := interact.Request{Body: interact.Normalize(api.Form{Questions: []api.Question{tt.q}})}
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			check := func(v api.Value) error {
				return r.Check(interact.Answer{Outcome: api.Answered, Values: map[string]api.Value{"q": v}})
			}
			for _, v := range tt.good {
				if err := check(v); err != nil {
					t.Errorf("%v refused: %v", v.Items, err)
				}
			}
			for _, v := range tt.bad {
				if check(v) == nil {
					t.Errorf("%v accepted", v.Items)
				}
			}
		})
	}
}

func texts(items ...string) []api.Value {
	var vs []api.Value
	for _, s := range items {
		vs = append(vs, interact.TextValue(s))
	}
	return vs
}

func TestValueJSON(t *testing.T) {
	tests := map[string]struct {
		v  api.Value
		ok bool
	}{
		`"a"`:        {interact.TextValue("a"), true},
		`""`:         {interact.TextValue(""), true},
		`["a","b"]`:  {interact.ListValue("a", "b"), true},
		`[]`:         {api.Value{List: true, Items: []string{}}, true},
		`1`:          {ok: false},
		`null`:       {ok: false},
		`["a",null]`: {ok: false},
		`["a",1]`:    {ok: false},
		`{"a":1}`:    {ok: false},
	}
	for in, tt := range tests {
		t.Run(in, func(t *testing.T) {
			var v api.Value
			err := v.UnmarshalJSON([]byte(in))
			if (err == nil) != tt.ok {
				t.Fatalf("err = %v", err)
			}
			if !tt.ok {
				return
			}
			if !reflect.DeepEqual(v, tt.v) {
				t.Errorf("got %+v, want %+v", v, tt.v)
			}
			if out, _ := json.Marshal(v); string(out) != in {
				t.Errorf("round trip: %s", out)
			}
		})
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{`"a"`, `["a"]`, `[]`, `null`, `[null]`, `{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var v api.Value
		if json.Unmarshal(in, &v) != nil {
			return
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again api.Value
		if err := json.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("%s -> %s -> %+v, %v", in, out, again, err)
		}
	})
}

func TestCaller(t *testing.T) {
	claude := api.Parent{PID: 7, Name: "claude", Exe: "/opt/claude"}
	tests := map[string]struct {
		p    api.Process
		want int32
	}{
		"the process itself": {api.Process{PID: 1, Exe: "/usr/bin/python3", Parents: []api.Parent{claude}}, 1},
		"behind nod and shells": {api.Process{PID: 1, Exe: "/opt/nod/nod",
			Parents: []api.Parent{{PID: 2, Exe: "/bin/sh"}, {PID: 3}, claude}}, 7},
		"nothing but shells": {api.Process{PID: 1, Exe: "/bin/bash",
			Parents: []api.Parent{{PID: 2, Exe: "/bin/sh"}}}, 1},
		"nothing verified": {api.Process{}, 0},
	}
	for name, tt := range tests {
		if got := interact.Caller(tt.p); got.PID != tt.want {
			t.Errorf("%s: pid %d, want %d", name, got.PID, tt.want)
		}
	}
}
