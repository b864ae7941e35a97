package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"nod/interact"
)

func nested(open, middle, end string, depth int) string {
	return strings.Repeat(open, depth) + middle + strings.Repeat(end, depth)
}

func TestBodiesThatAreRefused(t *testing.T) {
	d := open(t)
	cases := []struct {
		name, path, body string
		code             code
		param            string
		detail           string // a part of it
	}{
		{"nothing", "/v1/ask", " ", codeInvalidParam, "body", "not JSON"},
		{"truncated", "/v1/ask", `{"question":"Wh`, codeInvalidParam, "body", "unexpected end"},
		{"truncated object", "/v1/ask", `{"question":"Which?"`, codeInvalidParam, "body", "at byte 20"},
		{"no JSON", "/v1/ask", `question=Which`, codeInvalidParam, "body", "not JSON"},
		{"comment", "/v1/ask", `{"question":"Which?"/**/}`, codeInvalidParam, "body", "not JSON"},
		{"trailing comma", "/v1/ask", `{"question":"Which?",}`, codeInvalidParam, "body", "not JSON"},
		{"NaN", "/v1/ask", `{"question":"Which?","timeout":NaN}`, codeInvalidParam, "body", "not JSON"},
		{"byte order mark", "/v1/ask", "\ufeff" + `{"question":"Which?"}`, codeInvalidParam, "body", "not JSON"},
		{"two objects", "/v1/ask", `{"question":"Which?"}{}`, codeInvalidParam, "body", "not JSON"},
		{"something after", "/v1/ask", `{"question":"Which?"} x`, codeInvalidParam, "body", "not JSON"},
		{"invalid UTF-8", "/v1/ask", "{\"question\":\"Which\xff?\"}", codeInvalidParam, "body", "UTF-8"},
		{"invalid UTF-8 in input", "/v1/approve", "{\"tool\":\"T\",\"input\":{\"a\":\"\xc3\"}}", codeInvalidParam, "body", "UTF-8"},
		{"array", "/v1/ask", `[{"question":"Which?"}]`, codeInvalidParam, "body", "want an object, got an array"},
		{"null", "/v1/ask", `null`, codeInvalidParam, "body", "want an object, got null"},
		{"string", "/v1/ask", `"Which?"`, codeInvalidParam, "body", "want an object, got a string"},

		{"missing", "/v1/ask", `{}`, codeInvalidPath, "question", "is missing"},
		{"missing message", "/v1/confirm", `{}`, codeInvalidPath, "message", "is missing"},
		{"missing tool", "/v1/approve", `{"input":{}}`, codeInvalidPath, "tool", "is missing"},
		{"missing notice", "/v1/notify", `{"level":"info"}`, codeInvalidPath, "message", "is missing"},
		{"missing id", "/v1/form", `{"questions":[{"question":"Which?"}]}`, codeInvalidPath, "questions[0].id", "is missing"},
		{"missing label", "/v1/form", `{"questions":[{"id":"a","question":"Which?","options":[{"label":"x"},{"value":"y"}]}]}`, codeInvalidPath, "questions[0].options[1].label", "is missing"},
		{"not a string", "/v1/ask", `{"question":42}`, codeInvalidPath, "question", "want a string, got a number"},
		{"null for a string", "/v1/ask", `{"question":null}`, codeInvalidPath, "question", "got null"},
		{"blank", "/v1/ask", `{"question":" \n\t"}`, codeInvalidPath, "question", "blank"},
		{"missing input", "/v1/approve", `{"tool":"T"}`, codeInvalidParam, "input", "is missing"},
		{"missing questions", "/v1/form", `{"title":"T"}`, codeInvalidParam, "questions", "is missing"},

		{"unknown field", "/v1/ask", `{"question":"Which?","allow":true}`, codeInvalidParam, "allow", "unknown field"},
		{"unknown field with a long name", "/v1/ask", `{"question":"Which?","` + strings.Repeat("é", 5000) + `":1}`, codeInvalidParam, strings.Repeat("é", 30) + "…", "unknown field"},
		{"unknown field in a question", "/v1/form", `{"questions":[{"id":"a","question":"Which?","answer":"x"}]}`, codeInvalidParam, "questions[0].answer", "unknown field"},
		{"field of another kind", "/v1/ask", `{"question":"Which?","tool":"Bash"}`, codeInvalidParam, "tool", "unknown field"},
		{"name in capitals", "/v1/approve", `{"Tool":"Bash","tool":"Read","input":{}}`, codeInvalidParam, "Tool", "unknown field"},
		{"Go's name", "/v1/approve", `{"tool":"Bash","input":{},"Approve":{}}`, codeInvalidParam, "Approve", "unknown field"},

		{"twice", "/v1/approve", `{"tool":"Read","input":{},"tool":"Bash"}`, codeInvalidParam, "tool", "twice"},
		{"twice, escaped", "/v1/approve", `{"tool":"Read","input":{},"\u0074ool":"Bash"}`, codeInvalidParam, "tool", "twice"},
		{"twice in input", "/v1/approve", `{"tool":"Bash","input":{"command":"ls","command":"rm -rf ~"}}`, codeInvalidParam, "input.command", "twice"},
		{"twice deep in input", "/v1/approve", `{"tool":"T","input":{"a":[0,{"b":1,"b":2}]}}`, codeInvalidParam, "input.a[1].b", "twice"},
		{"twice in a question", "/v1/form", `{"questions":[{"id":"a","id":"b","question":"Which?"}]}`, codeInvalidParam, "questions[0].id", "twice"},

		{"deep input", "/v1/approve", `{"tool":"T","input":` + nested(`{"a":`, "1", "}", maxDepth) + `}`, codeInvalidParam, "input" + strings.Repeat(".a", maxDepth-1), "deeper than 64"},
		{"deep arrays in input", "/v1/approve", `{"tool":"T","input":{"a":` + nested("[", "", "]", maxDepth) + `}}`, codeInvalidParam, "", "deeper than 64"},
		{"very deep", "/v1/approve", `{"tool":"T","input":` + nested("[", "", "]", 400_000) + `}`, codeInvalidParam, "body", "not JSON"},
		{"deep where nothing nests", "/v1/ask", `{"question":` + nested("[", "", "]", 100) + `}`, codeInvalidPath, "question", "got an array"},

		{"text for a time", "/v1/ask", `{"question":"Which?","timeout":"30"}`, codeInvalidParam, "timeout", "want a number, got a string"},
		{"negative time", "/v1/ask", `{"question":"Which?","timeout":-1}`, codeInvalidParam, "timeout", "0 to 86400"},
		{"time too long", "/v1/ask", `{"question":"Which?","timeout":86400.5}`, codeInvalidParam, "timeout", "0 to 86400"},
		{"time beyond numbers", "/v1/ask", `{"question":"Which?","timeout":1e999}`, codeInvalidParam, "timeout", "out of range"},
		{"hold too long", "/v1/ask", `{"question":"Which?","hold":1e300}`, codeInvalidParam, "hold", "0 to 86400"},
		{"hold in evaluate", "/v1/evaluate", `{"tool":"T","input":{},"hold":-1}`, codeInvalidParam, "hold", "0 to 86400"},
		{"text for a flag", "/v1/ask", `{"question":"Which?","detach":"yes"}`, codeInvalidParam, "detach", "want true or false"},
		{"null for a flag", "/v1/ask", `{"question":"Which?","allow_other":null}`, codeInvalidParam, "allow_other", "leave the field out"},
		{"relative folder", "/v1/ask", `{"question":"Which?","cwd":"src"}`, codeInvalidParam, "cwd", "absolute"},
		{"name too long", "/v1/ask", `{"question":"Which?","agent":"` + strings.Repeat("a", 201) + `"}`, codeInvalidParam, "agent", "longer than 200"},
		{"number for an option", "/v1/ask", `{"question":"Which?","options":["a",1]}`, codeInvalidParam, "options[1]", "want a string, got a number"},
		{"object for options", "/v1/ask", `{"question":"Which?","options":{}}`, codeInvalidParam, "options", "want an array, got an object"},
		{"input that is a string", "/v1/approve", `{"tool":"T","input":"ls"}`, codeInvalidParam, "input", "want a JSON object"},
		{"input that is null", "/v1/approve", `{"tool":"T","input":null}`, codeInvalidParam, "input", "JSON object"},
		{"unknown class", "/v1/approve", `{"tool":"T","input":{},"class":"harmless"}`, codeInvalidParam, "class", "want one of"},
		{"unknown class in evaluate", "/v1/evaluate", `{"tool":"T","input":{},"class":"harmless"}`, codeInvalidParam, "class", "want one of"},
		{"unknown level", "/v1/notify", `{"message":"m","level":"fatal"}`, codeInvalidParam, "level", "warning"},
		{"default of a wrong type", "/v1/form", `{"questions":[{"id":"a","question":"Which?","default":7}]}`, codeInvalidParam, "questions[0].default", "string or an array"},
		{"default that is no option", "/v1/form", `{"questions":[{"id":"a","question":"Which?","options":[{"label":"x"}],"default":"y"}]}`, codeInvalidParam, "questions[0].default", "no option"},
		{"the same id twice", "/v1/form", `{"questions":[{"id":"a","question":"1"},{"id":"a","question":"2"}]}`, codeInvalidParam, "questions[1].id", "two questions"},
		{"no questions", "/v1/form", `{"questions":[]}`, codeInvalidParam, "questions", "at least one"},
		{"recommended in the label", "/v1/form", `{"questions":[{"id":"a","question":"Which?","options":[{"label":"x (Recommended)"}]}]}`, codeInvalidParam, "questions[0].options[0].label", "recommended: true"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := d.post(c.path, c.body)
			want := map[string]any{"code": string(c.code)}
			if c.param != "" {
				want["param"] = shortenPath(c.param)
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

// shortenPath is how much of a long path is shown: its end, as far as it fits.
func shortenPath(path string) string {
	for len(path) > maxParam {
		_, path, _ = strings.Cut(path, ".")
	}
	return path
}

func TestDecodeKeepsInputByteForByte(t *testing.T) {
	for _, input := range []string{
		`{}`, `{ "a" : 1 }`, `{"a":1e2,"b":1.0,"c":"\u0041\u00e9é","d":"<&>"}`, "{\n\t\"x\": [ 1 , 2 ]\r\n}", `{"big":12345678901234567890}`,
	} {
		for _, around := range []string{`{"tool":"T","input":%s}`, `{"input" : %s , "tool":"T"}`, "{\"tool\":\"T\",\n\"input\":\n%s\n}"} {
			var got approveRequest
			if err := decode(fmt.Appendf(nil, around, input), &got); err != nil {
				t.Fatal(err)
			}
			if string(got.Input) != input {
				t.Errorf("input %q, want %q", got.Input, input)
			}
		}
	}
}

func TestDecodeReadsEverything(t *testing.T) {
	var got formRequest
	err := decode([]byte(`{"agent":"a","session":"s","cwd":"/w","timeout":1.5,"idempotency_key":"k","detach":true,"hold":2,
		"title":"T","questions":[{"id":"q","question":"Q","header":"H","input_type":"choice","multi_select":true,"required":false,
		"options":[{"label":"L","value":"V","description":"D","recommended":true}],"default":["V"],"placeholder":"P"}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := formRequest{
		interact.Form{Title: "T", Questions: []interact.Question{{
			ID: "q", Question: "Q", Header: "H", InputType: interact.Choice, MultiSelect: true, Required: &no,
			Options: []interact.Option{{Label: "L", Value: "V", Description: "D", Recommended: true}},
			Default: interact.ListValue("V"), Placeholder: "P",
		}}},
		common{Agent: "a", Session: "s", CWD: "/w", Timeout: 1.5, IdempotencyKey: "k", Detach: true, Hold: 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// fuzzDecoder holds the decoder of one request against two others: whatever it takes, encoding/json reads
// as the same request, and the published schema allows.
func fuzzDecoder[T wireRequest](f *testing.F, path string) {
	f.Add([]byte(samples[path]))
	for _, seed := range []string{
		`{}`, `null`, `{"tool":"T","input":{"a":[{"b":{}},null,1e5]}}`, `{"question":"\ud800","options":[]}`, `{"message":"m","hold":0.5}`,
		`{"questions":[{"id":"a","question":"b","default":["x"],"options":[{"label":"x"}]}]}`, `{"tool":"a","tool":"b"}`, `[[[[`, `{"timeout":1e400}`,
		"{\"question\":\"\xff\"}", `{"question":"a","detach":null}`, `{"tool":"T","input":{"k":1,"k":2}}`,
	} {
		f.Add([]byte(seed))
	}
	schema := loadSchemas(f).request(f, path)
	f.Fuzz(func(t *testing.T, text []byte) {
		var got T
		if err := decode(text, &got); err != nil {
			if _, ok := errors.AsType[*interact.ParamError](err); !ok {
				t.Fatalf("decode fails with %T: %v", err, err)
			}
			if p := problemOf(err); p.Status != http.StatusBadRequest || p.Param == "" || !utf8.ValidString(p.Detail) {
				t.Fatalf("refused with %+v", p)
			}
			return
		}
		if !utf8.Valid(text) || !json.Valid(text) {
			t.Fatalf("accepted %q", text)
		}
		var plain T
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&plain); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		a, b := got.body(), plain.body()
		if !sameBody(a, b) || got.options() != plain.options() {
			t.Fatalf("decode reads    %+v %+v\nencoding/json %+v %+v", a, got.options(), b, plain.options())
		}
		if err := got.options().check(); err != nil || a.Validate() != nil {
			return // the schema need not know every rule, nor break it
		}
		if err := schema.validate(text); err != nil {
			t.Fatalf("accepted what the schema refuses: %v: %s", err, text)
		}
	})
}

// sameBody compares what two decoders read. An empty list and none are the same.
func sameBody(a, b interact.Body) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func FuzzDecodeAsk(f *testing.F)      { fuzzDecoder[askRequest](f, "/v1/ask") }
func FuzzDecodeConfirm(f *testing.F)  { fuzzDecoder[confirmRequest](f, "/v1/confirm") }
func FuzzDecodeForm(f *testing.F)     { fuzzDecoder[formRequest](f, "/v1/form") }
func FuzzDecodeApprove(f *testing.F)  { fuzzDecoder[approveRequest](f, "/v1/approve") }
func FuzzDecodeNotify(f *testing.F)   { fuzzDecoder[notifyRequest](f, "/v1/notify") }
func FuzzDecodeEvaluate(f *testing.F) { fuzzDecoder[approveRequest](f, "/v1/evaluate") }
