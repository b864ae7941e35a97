package ipc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"nod/api"
	"nod/interact"
)

func nested(open, middle, end string, depth int) string {
	return strings.Repeat(open, depth) + middle + strings.Repeat(end, depth)
}

func TestBodiesThatAreRefused(t *testing.T) {
	d := open(t)
	cases := []struct {
		name, path, body string
		code             api.Code
		param            string
		detail           string // a part of it
	}{
		{"nothing", "/v1/ask", " ", api.CodeInvalidParam, "body", "not JSON"},
		{"truncated", "/v1/ask", `{"question":"Wh`, api.CodeInvalidParam, "body", "unexpected EOF"},
		{"truncated object", "/v1/ask", `{"question":"Which?"`, api.CodeInvalidParam, "body", "at byte 20"},
		{"no JSON", "/v1/ask", `question=Which`, api.CodeInvalidParam, "body", "not JSON"},
		{"comment", "/v1/ask", `{"question":"Which?"/**/}`, api.CodeInvalidParam, "body", "not JSON"},
		{"trailing comma", "/v1/ask", `{"question":"Which?",}`, api.CodeInvalidParam, "body", "not JSON"},
		{"NaN", "/v1/ask", `{"question":"Which?","timeout":NaN}`, api.CodeInvalidParam, "body", "not JSON"},
		{"byte order mark", "/v1/ask", "\ufeff" + `{"question":"Which?"}`, api.CodeInvalidParam, "body", "not JSON"},
		{"two objects", "/v1/ask", `{"question":"Which?"}{}`, api.CodeInvalidParam, "body", "not JSON"},
		{"something after", "/v1/ask", `{"question":"Which?"} x`, api.CodeInvalidParam, "body", "not JSON"},
		{"invalid UTF-8", "/v1/ask", "{\"question\":\"Which\xff?\"}", api.CodeInvalidParam, "body", "UTF-8"},
		{
			"invalid UTF-8 in input", "/v1/approve", "{\"tool\":\"T\",\"input\":{\"a\":\"\xc3\"}}", api.CodeInvalidParam,
			"body", "UTF-8",
		},
		{"array", "/v1/ask", `[{"question":"Which?"}]`, api.CodeInvalidParam, "body", "want an object, got an array"},
		{"null", "/v1/ask", `null`, api.CodeInvalidParam, "body", "want an object, got null"},
		{"string", "/v1/ask", `"Which?"`, api.CodeInvalidParam, "body", "want an object, got a string"},

		{"missing", "/v1/ask", `{}`, api.CodeInvalidPath, "question", "want a text that is not blank"},
		{"missing message", "/v1/confirm", `{}`, api.CodeInvalidPath, "message", "want a text that is not blank"},
		{"missing tool", "/v1/approve", `{"input":{}}`, api.CodeInvalidPath, "tool", "want a text that is not blank"},
		{"missing notice", "/v1/notify", `{"level":"info"}`, api.CodeInvalidPath, "message", "want a text that is not blank"},
		{
			"missing id", "/v1/form", `{"questions":[{"question":"Which?"}]}`, api.CodeInvalidPath, "questions[0].id",
			"want a text that is not blank",
		},
		{
			"missing label", "/v1/form",
			`{"questions":[{"id":"a","question":"Which?","options":[{"label":"x"},{"value":"y"}]}]}`, api.CodeInvalidPath,
			"questions[0].options[1].label", "want a text that is not blank",
		},
		{"not a string", "/v1/ask", `{"question":42}`, api.CodeInvalidPath, "question", "want a string, got a number"},
		{"null for a string", "/v1/ask", `{"question":null}`, api.CodeInvalidPath, "question", "got null"},
		{"blank", "/v1/ask", `{"question":" \n\t"}`, api.CodeInvalidPath, "question", "blank"},
		{"missing input", "/v1/approve", `{"tool":"T"}`, api.CodeInvalidParam, "input", "as a JSON object"},
		{"missing questions", "/v1/form", `{"title":"T"}`, api.CodeInvalidParam, "questions", "at least one question"},

		{"unknown field", "/v1/ask", `{"question":"Which?","allow":true}`, api.CodeInvalidParam, "allow", "unknown field"},
		{
			"unknown field with a long name", "/v1/ask", `{"question":"Which?","` + strings.Repeat("é", 5000) + `":1}`,
			api.CodeInvalidParam, strings.Repeat("é", 30) + "…", "unknown field",
		},
		{
			"unknown field in a question", "/v1/form", `{"questions":[{"id":"a","question":"Which?","answer":"x"}]}`,
			api.CodeInvalidParam, "questions[0].answer", "unknown field",
		},
		{
			"field of another kind", "/v1/ask", `{"question":"Which?","tool":"Bash"}`, api.CodeInvalidParam, "tool",
			"unknown field",
		},
		{
			"name in capitals", "/v1/approve", `{"Tool":"Bash","tool":"Read","input":{}}`, api.CodeInvalidParam, "Tool",
			"unknown field",
		},
		{
			"Go's name", "/v1/approve", `{"tool":"Bash","input":{},"Approve":{}}`, api.CodeInvalidParam, "Approve",
			"unknown field",
		},

		{"twice", "/v1/approve", `{"tool":"Read","input":{},"tool":"Bash"}`, api.CodeInvalidParam, "tool", "twice"},
		{
			"twice, escaped", "/v1/approve", `{"tool":"Read","input":{},"\u0074ool":"Bash"}`, api.CodeInvalidParam, "tool",
			"twice",
		},
		{
			"twice in input", "/v1/approve", `{"tool":"Bash","input":{"command":"ls","command":"rm -rf ~"}}`,
			api.CodeInvalidParam, "input.command", "twice",
		},
		{
			"twice deep in input", "/v1/approve", `{"tool":"T","input":{"a":[0,{"b":1,"b":2}]}}`, api.CodeInvalidParam,
			"input.a[1].b", "twice",
		},
		{
			"twice in a question", "/v1/form", `{"questions":[{"id":"a","id":"b","question":"Which?"}]}`, api.CodeInvalidParam,
			"questions[0].id", "twice",
		},

		{
			"deep input", "/v1/approve", `{"tool":"T","input":` + nested(`{"a":`, "1", "}", 64) + `}`,
			api.CodeInvalidParam, "body", "deeper than 64",
		},
		{
			"deep arrays in input", "/v1/approve", `{"tool":"T","input":{"a":` + nested("[", "", "]", 64) + `}}`,
			api.CodeInvalidParam, "body", "deeper than 64",
		},
		{
			"very deep", "/v1/approve", `{"tool":"T","input":` + nested("[", "", "]", 400_000) + `}`, api.CodeInvalidParam,
			"body", "deeper than 64",
		},
		{
			"deep where nothing nests", "/v1/ask", `{"question":` + nested("[", "", "]", 50) + `}`, api.CodeInvalidPath,
			"question", "got an array",
		},

		{
			"text for a time", "/v1/ask", `{"question":"Which?","timeout":"30"}`, api.CodeInvalidParam, "timeout",
			"want a number, got a string",
		},
		{"negative time", "/v1/ask", `{"question":"Which?","timeout":-1}`, api.CodeInvalidParam, "timeout", "0 to 86400"},
		{
			"time too long", "/v1/ask", `{"question":"Which?","timeout":86400.5}`, api.CodeInvalidParam, "timeout",
			"0 to 86400",
		},
		{
			"time beyond numbers", "/v1/ask", `{"question":"Which?","timeout":1e999}`, api.CodeInvalidParam, "timeout",
			"out of range",
		},
		{"hold too long", "/v1/ask", `{"question":"Which?","hold":1e300}`, api.CodeInvalidParam, "hold", "0 to 86400"},
		{"hold in evaluate", "/v1/evaluate", `{"tool":"T","input":{},"hold":-1}`, api.CodeInvalidParam, "hold", "0 to 86400"},
		{
			"text for a flag", "/v1/ask", `{"question":"Which?","detach":"yes"}`, api.CodeInvalidParam, "detach",
			"want true or false",
		},
		{
			"null for a flag", "/v1/ask", `{"question":"Which?","allow_other":null}`, api.CodeInvalidParam, "allow_other",
			"leave the field out",
		},
		{"relative folder", "/v1/ask", `{"question":"Which?","cwd":"src"}`, api.CodeInvalidParam, "cwd", "absolute"},
		{
			"name too long", "/v1/ask", `{"question":"Which?","agent":"` + strings.Repeat("a", 201) + `"}`,
			api.CodeInvalidParam, "agent", "longer than 200",
		},
		{
			"number for an option", "/v1/ask", `{"question":"Which?","options":["a",1]}`, api.CodeInvalidParam, "options[1]",
			"want a string, got a number",
		},
		{
			"object for options", "/v1/ask", `{"question":"Which?","options":{}}`, api.CodeInvalidParam, "options",
			"want an array, got an object",
		},
		{
			"input that is a string", "/v1/approve", `{"tool":"T","input":"ls"}`, api.CodeInvalidParam, "input",
			"want a JSON object",
		},
		{"input that is null", "/v1/approve", `{"tool":"T","input":null}`, api.CodeInvalidParam, "input", "JSON object"},
		{
			"unknown class", "/v1/approve", `{"tool":"T","input":{},"class":"harmless"}`, api.CodeInvalidParam, "class",
			"want one of",
		},
		{
			"unknown class in evaluate", "/v1/evaluate", `{"tool":"T","input":{},"class":"harmless"}`, api.CodeInvalidParam,
			"class", "want one of",
		},
		{"unknown level", "/v1/notify", `{"message":"m","level":"fatal"}`, api.CodeInvalidParam, "level", "warning"},
		{
			"default of a wrong type", "/v1/form", `{"questions":[{"id":"a","question":"Which?","default":7}]}`,
			api.CodeInvalidParam, "questions[0].default", "string or an array",
		},
		{
			"default that is no option", "/v1/form",
			`{"questions":[{"id":"a","question":"Which?","options":[{"label":"x"}],"default":"y"}]}`, api.CodeInvalidParam,
			"questions[0].default", "no option",
		},
		{
			"the same id twice", "/v1/form", `{"questions":[{"id":"a","question":"1"},{"id":"a","question":"2"}]}`,
			api.CodeInvalidParam, "questions[1].id", "two questions",
		},
		{"no questions", "/v1/form", `{"questions":[]}`, api.CodeInvalidParam, "questions", "at least one"},
		{
			"recommended in the label", "/v1/form",
			`{"questions":[{"id":"a","question":"Which?","options":[{"label":"x (Recommended)"}]}]}`, api.CodeInvalidParam,
			"questions[0].options[0].label", "recommended: true",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := d.post(c.path, c.body)
			want := map[string]any{"code": string(c.code)}
			if c.param != "" {
				want["param"] = c.param
			}
			g.want(t, http.StatusBadRequest, want)
			if detail, _ := g.body["detail"].(string); !strings.Contains(detail, c.detail) {
				t.Errorf("detail %q, want a part %q", detail, c.detail)
			}
			if len(g.text) > 1000 {
				t.Errorf("the refusal has %d bytes: it repeats what it refuses", len(g.text))
			}
		})
	}
	d.wantNothing()
}

func TestDecodeKeepsInputByteForByte(t *testing.T) {
	for _, input := range []string{
		`{}`, `{ "a" : 1 }`, `{"a":1e2,"b":1.0,"c":"\u0041\u00e9é","d":"<&>"}`, "{\n\t\"x\": [ 1 , 2 ]\r\n}",
		`{"big":12345678901234567890}`,
	} {
		for _, around := range []string{`{"tool":"T","input":%s}`, `{"input" : %s , "tool":"T"}`,
			"{\"tool\":\"T\",\n\"input\":\n%s\n}"} {
			var got api.ApproveRequest
			if err := api.DecodeStrict(fmt.Appendf(nil, around, input), &got); err != nil {
				t.Fatal(err)
			}
			if string(got.Input) != input {
				t.Errorf("input %q, want %q", got.Input, input)
			}
		}
	}
}

func TestDecodeReadsEverything(t *testing.T) {
	var got api.FormRequest
	err := api.DecodeStrict([]byte(`{"agent":"a","session":"s","cwd":"/w","timeout":1.5,"idempotency_key":"k",`+
		`"detach":true,"hold":2,"silence":"agent",
		"title":"T","questions":[{"id":"q","question":"Q","header":"H","input_type":"choice","multi_select":true,
		"options":[{"label":"L","value":"V","description":"D","recommended":true}],"required":false,"default":["V"],
		"placeholder":"P"}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := api.FormRequest{
		Form: api.Form{Title: "T", Questions: []api.Question{{
			ID: "q", Question: "Q", Header: "H", InputType: "choice", MultiSelect: true, Required: &no,
			Options: []api.Option{{Label: "L", Value: "V", Description: "D", Recommended: true}},
			Default: api.Value{List: true, Items: []string{"V"}}, Placeholder: "P",
		}}},
		Common: api.Common{Agent: "a", Session: "s", CWD: "/w", Timeout: 1.5, IdempotencyKey: "k", Detach: true, Hold: 2,
			Silence: api.AsksItself},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// fuzzDecoder holds the decoder of one request against the published schema: it allows whatever the decoder and the
// broker take, and that is valid JSON in UTF-8.
func fuzzDecoder[T any](f *testing.F, path string, parts func(T) (interact.Body, api.Common)) {
	f.Add([]byte(samples[path]))
	for _, seed := range []string{
		`{}`, `null`, `{"tool":"T","input":{"a":[{"b":{}},null,1e5]}}`, `{"question":"\ud800","options":[]}`,
		`{"questions":[{"id":"a","question":"b","default":["x"],"options":[{"label":"x"}]}]}`, `{"tool":"a","tool":"b"}`,
		"{\"question\":\"\xff\"}", `{"question":"a","detach":null}`, `{"tool":"T","input":{"k":1,"k":2}}`, `[[[[`,
		`{"message":"m","hold":0.5}`, `{"timeout":1e400}`, `{"tool":"T","input":{"k":1},"class":""}`,
		`{"message":"m","level":"","silence":""}`, `{"question":"a","format":"","input_type":""}`,
	} {
		f.Add([]byte(seed))
	}
	schema := loadSchemas(f).request(f, path)
	f.Fuzz(func(t *testing.T, text []byte) {
		var got T
		if err := api.DecodeStrict(text, &got); err != nil {
			if p := problemOf(err); p.Status != http.StatusBadRequest || p.Param == "" || !utf8.ValidString(p.Detail) {
				t.Fatalf("refused with %+v", p)
			}
			return
		}
		if !utf8.Valid(text) || !json.Valid(text) {
			t.Fatalf("accepted %q", text)
		}
		body, common := parts(got)
		if checkTimes(common) != nil || (interact.Request{Body: body}).Validate() != nil {
			return // the schema need not know every rule, nor break it
		}
		if err := schema.validate(text); err != nil {
			t.Fatalf("accepted what the schema refuses: %v: %s", err, text)
		}
	})
}

func FuzzDecodeAsk(f *testing.F)      { fuzzDecoder(f, "/v1/ask", partsOfAsk) }
func FuzzDecodeConfirm(f *testing.F)  { fuzzDecoder(f, "/v1/confirm", partsOfConfirm) }
func FuzzDecodeForm(f *testing.F)     { fuzzDecoder(f, "/v1/form", partsOfForm) }
func FuzzDecodeApprove(f *testing.F)  { fuzzDecoder(f, "/v1/approve", partsOfApprove) }
func FuzzDecodeNotify(f *testing.F)   { fuzzDecoder(f, "/v1/notify", partsOfNotify) }
func FuzzDecodeEvaluate(f *testing.F) { fuzzDecoder(f, "/v1/evaluate", partsOfApprove) }
