package interact_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"nod/interact"
)

func TestValidate(t *testing.T) {
	long := strings.Repeat("x", interact.MaxText+1)
	choice := func(options ...interact.Option) interact.Question {
		return interact.Question{ID: "q", Question: "?", Options: options}
	}
	form := func(qs ...interact.Question) interact.Form { return interact.Form{Questions: qs} }
	a, b := interact.Option{Label: "A"}, interact.Option{Label: "B"}
	with := func(q interact.Question, f func(*interact.Question)) interact.Question { f(&q); return q }

	tests := map[string]struct {
		body    interact.Body
		param   string // "" means valid
		missing bool
	}{
		"ask":                {interact.Ask{Question: "?"}, "", false},
		"ask blank":          {interact.Ask{Question: " \n"}, "question", true},
		"ask long":           {interact.Ask{Question: long}, "question", false},
		"ask bad utf-8":      {interact.Ask{Question: "\xff"}, "question", false},
		"ask blank option":   {interact.Ask{Question: "?", Options: []string{"a", ""}}, "options[1]", true},
		"ask twin options":   {interact.Ask{Question: "?", Options: []string{"a", "a"}}, "options[1]", false},
		"ask many options":   {interact.Ask{Question: "?", Options: make([]string, interact.MaxOptions+1)}, "options", false},
		"confirm":            {interact.Confirm{Message: "?"}, "", false},
		"confirm blank":      {interact.Confirm{}, "message", true},
		"confirm long label": {interact.Confirm{Message: "?", YesLabel: strings.Repeat("x", interact.MaxName+1)}, "yes_label", false},
		"form":               {form(choice(a, b), interact.Question{ID: "t", Question: "?"}), "", false},
		"form empty":         {form(), "questions", false},
		"form many":          {form(make([]interact.Question, interact.MaxQuestions+1)...), "questions", false},
		"form twin ids":      {form(choice(a), choice(b)), "questions[1].id", false},
		"form no id":         {form(interact.Question{Question: "?"}), "questions[0].id", true},
		"form bad type":      {form(interact.Question{ID: "q", Question: "?", InputType: "slider"}), "questions[0].input_type", false},
		"form no options":    {form(interact.Question{ID: "q", Question: "?", InputType: interact.Choice}), "questions[0].options", false},
		"form text options":  {form(with(choice(a), func(q *interact.Question) { q.InputType = interact.Text })), "questions[0].options", false},
		"form text multi":    {form(interact.Question{ID: "q", Question: "?", MultiSelect: true}), "questions[0].multi_select", false},
		"form text default":  {form(interact.Question{ID: "q", Question: "?", Default: interact.ListValue("a")}), "questions[0].default", false},
		"form twin values":   {form(choice(a, interact.Option{Label: "X", Value: "A"})), "questions[0].options[1].value", false},
		"form recommended":   {form(choice(interact.Option{Label: "A (Recommended) "})), "questions[0].options[0].label", false},
		"form 推荐":            {form(choice(interact.Option{Label: "甲（推荐）"})), "questions[0].options[0].label", false},
		"form no label":      {form(choice(interact.Option{Value: "v"})), "questions[0].options[0].label", true},
		"form default":       {form(with(choice(a, b), func(q *interact.Question) { q.Default = interact.TextValue("B") })), "", false},
		"form bad default":   {form(with(choice(a, b), func(q *interact.Question) { q.Default = interact.TextValue("C") })), "questions[0].default", false},
		"form two defaults":  {form(with(choice(a, b), func(q *interact.Question) { q.Default = interact.ListValue("A", "B") })), "questions[0].default", false},
		"approve":            {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`)}, "", false},
		"approve mutating":   {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Class: "mutating"}, "", false},
		"approve no tool":    {interact.Approve{Input: json.RawMessage(`{}`)}, "tool", true},
		"approve no input":   {interact.Approve{Tool: "Bash"}, "input", false},
		"approve null":       {interact.Approve{Tool: "Bash", Input: json.RawMessage(`null`)}, "input", false},
		"approve array":      {interact.Approve{Tool: "Bash", Input: json.RawMessage(`[]`)}, "input", false},
		"approve broken":     {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"a":`)}, "input", false},
		"approve bad class":  {interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Class: "harmless"}, "class", false},
		"notify":             {interact.Notify{Message: "!"}, "", false},
		"notify blank":       {interact.Notify{}, "message", true},
		"notify bad level":   {interact.Notify{Message: "!", Level: "loud"}, "level", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := interact.Request{Body: interact.Normalize(tt.body)}.Validate()
			checkParam(t, err, tt.param, tt.missing)
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
			tt.r.Body = interact.Ask{Question: "?"}
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
	no, answered := false, interact.Answered
	optional := interact.Question{ID: "o", Question: "?", Required: &no}
	pick := interact.Question{ID: "p", Question: "?", Options: []interact.Option{{Label: "A"}, {Label: "B"}}}
	many := interact.Question{ID: "m", Question: "?", Options: []interact.Option{{Label: "A"}, {Label: "B"}}, MultiSelect: true, Required: &no}
	form := interact.Normalize(interact.Form{Questions: []interact.Question{optional, pick, many}})
	values := func(o, p, m interact.Value) interact.Answer {
		return interact.Answer{Outcome: answered, Values: map[string]interact.Value{"o": o, "p": p, "m": m}}
	}
	text, list := interact.TextValue, interact.ListValue

	tests := map[string]struct {
		body interact.Body
		a    interact.Answer
		ok   bool
	}{
		"text":            {interact.Ask{Question: "?"}, interact.Answer{Outcome: answered, Text: "x"}, true},
		"blank text":      {interact.Ask{Question: "?"}, interact.Answer{Outcome: answered, Text: " "}, false},
		"other":           {interact.Ask{Question: "?", Options: []string{"a"}}, interact.Answer{Outcome: answered, Text: "x"}, true},
		"no other":        {interact.Ask{Question: "?", Options: []string{"a"}, AllowOther: &no}, interact.Answer{Outcome: answered, Text: "x"}, false},
		"option":          {interact.Ask{Question: "?", Options: []string{"a"}, AllowOther: &no}, interact.Answer{Outcome: answered, Text: "a"}, true},
		"ask allowed":     {interact.Ask{Question: "?"}, allowed, false},
		"form":            {form, values(text(""), list("A"), list()), true},
		"form other":      {form, values(text("x"), list("something else"), list("A", "C")), true},
		"form missing":    {form, values(text("x"), list(), list()), false},
		"form two":        {form, values(text("x"), list("A", "B"), list()), false},
		"form blank pick": {form, values(text("x"), list(" "), list()), false},
		"form wrong kind": {form, values(list("x"), list("A"), list()), false},
		"form stranger":   {form, interact.Answer{Outcome: answered, Values: map[string]interact.Value{"o": text(""), "p": list("A"), "m": list(), "z": text("")}}, false},
		"form none":       {form, interact.Answer{Outcome: answered}, false},
		"dismissed":       {form, interact.Answer{Outcome: interact.Dismissed}, true},
		"timed out":       {form, interact.Answer{Outcome: interact.TimedOut}, false},
		"session allow without a session": {interact.Approve{Tool: "T", Input: json.RawMessage(`{}`)},
			interact.Answer{Outcome: interact.Allowed, Scope: "session"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := (interact.Request{Body: tt.body}).Check(tt.a); (err == nil) != tt.ok {
				t.Errorf("Check: %v, want ok = %v", err, tt.ok)
			}
		})
	}
}

func TestValueJSON(t *testing.T) {
	tests := map[string]struct {
		v  interact.Value
		ok bool
	}{
		`"a"`:        {interact.TextValue("a"), true},
		`""`:         {interact.TextValue(""), true},
		`["a","b"]`:  {interact.ListValue("a", "b"), true},
		`[]`:         {interact.ListValue(), true},
		`1`:          {ok: false},
		`null`:       {ok: false},
		`["a",null]`: {ok: false},
		`["a",1]`:    {ok: false},
		`{"a":1}`:    {ok: false},
	}
	for in, tt := range tests {
		t.Run(in, func(t *testing.T) {
			var v interact.Value
			err := v.UnmarshalJSON([]byte(in))
			if (err == nil) != tt.ok {
				t.Fatalf("err = %v", err)
			}
			if !tt.ok {
				return
			}
			if !v.Equal(tt.v) {
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
		var v interact.Value
		if json.Unmarshal(in, &v) != nil {
			return
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again interact.Value
		if err := json.Unmarshal(out, &again); err != nil || !again.Equal(v) {
			t.Fatalf("%s -> %s -> %+v, %v", in, out, again, err)
		}
	})
}
