package api

import (
	"strings"
	"testing"
)

// What callers send is refused with the name of what is wrong, and what to do.
func TestDecodeStrict(t *testing.T) {
	for text, want := range map[string]string{
		``:                                       "not JSON: unexpected EOF at byte 0",
		`{"questions":[`:                         "not JSON: unexpected EOF at byte 14",
		`{} x`:                                   "not JSON: invalid character 'x' after top-level value at byte 3",
		"{\"title\":\"\xff\"}":                   "not JSON: invalid UTF-8 at byte 10",
		`[]`:                                     "want an object, got an array",
		`null`:                                   "want an object, got null (leave the field out instead)",
		`{"Title":"x"}`:                          "Title: unknown field",
		`{"Form":{}}`:                            "Form: unknown field",
		`{"title":1}`:                            "title: want a string, got a number",
		`{"detach":"yes"}`:                       "detach: want true or false, got a string",
		`{"detach":null}`:                        "detach: want true or false, got null (leave the field out instead)",
		`{"hold":"1"}`:                           "hold: want a number, got a string",
		`{"hold":1e999}`:                         "hold: value out of range",
		`{"hold":1,"hold":1}`:                    "hold: appears twice",
		`{"hold":1,"h\u006fld":1}`:               "hold: appears twice",
		`{"questions":{}}`:                       "questions: want an array, got an object",
		`{"questions":[{},{"id":1}]}`:            "questions[1].id: want a string, got a number",
		`{"questions":[{},null]}`:                "questions[1]: want an object, got null (leave the field out instead)",
		`{"questions":[{"default":7}]}`:          "questions[0].default: want a string or an array of strings",
		`{"questions":[{"default":["a",null]}]}`: "questions[0].default: want a string or an array of strings",
		`{"title":` + strings.Repeat("[", maxDepth+1) + "":    "nested deeper than 64 levels",
		`{"` + strings.Repeat("é", 1000) + `":1}`:             strings.Repeat("é", 30) + "…: unknown field",
		`{"title":"` + strings.Repeat(`[\"{`, 100) + `"}`:     "",
		`{"questions":[{"id":"a","default":["b"]}],"hold":2}`: "",
	} {
		var into FormRequest
		got := ""
		if err := DecodeStrict([]byte(text), &into); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
}

// A reply may hold members that a later version made up, but never two of one name.
func TestDecode(t *testing.T) {
	var reply ApproveReply
	if err := Decode([]byte(`{"decision":"deny","mood":{"good":true},"rule":null}`), &reply); err != nil ||
		reply.Decision != Deny {
		t.Errorf("%+v, %v", reply, err)
	}
	for _, text := range []string{`{"decision":"deny","decision":"allow"}`, `{"mood":{"a":1,"a":2}}`, `{} {}`,
		`{"decision":true}`} {
		if err := Decode([]byte(text), &reply); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// The input of a tool reaches the user byte by byte; only the client takes out the space between tokens.
func TestInputIsKept(t *testing.T) {
	const text = `{"tool":"T","input":{ "b" : "\u0041<\/é", "a": 1.0, "n": 12345678901234567890 }}`
	var r ApproveRequest
	if err := DecodeStrict([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if got := string(r.Input); got != `{ "b" : "\u0041<\/é", "a": 1.0, "n": 12345678901234567890 }` {
		t.Errorf("read %s", got)
	}
	got, err := Encode(r)
	if want := `{"tool":"T","input":{"b":"\u0041<\/é","a":1.0,"n":12345678901234567890}}`; err != nil ||
		string(got) != want {
		t.Errorf("written %s, %v, want %s", got, err, want)
	}
}

func TestEncode(t *testing.T) {
	one := Value{List: true, Items: []string{"<b>"}}
	for want, reply := range map[string]any{
		`{"id":"","outcome":"answered","answer":["<b>"]}`: FormReply{
			Head: Head{Outcome: Answered}, Answer: &one,
		},
		`{"id":"","outcome":"","answers":{"a":"","b":[],"c":["<b>"]}}`: FormReply{
			Answers: map[string]Value{"c": one, "a": {Items: []string{""}}, "b": {List: true}},
		},
		`{"requests":[]}`: ListReply{},
		`{"id":"","outcome":"","answer":"` + "\ufffd" + `"}`: AskReply{Answer: "\xff"},
	} {
		if got, err := Encode(reply); err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}
