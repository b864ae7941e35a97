package interact

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"nod/api"
	"nod/policy"
)

// texts are what JSON encoders like to change.
var texts = []string{
	"", "plain", "<b>&amp;</b>", "\u2028\u2029", "\x00\x1b[31m", "\ufffd", "\U0001f600 漢字", `"\u003c"`, "\r\n\t",
}

// inputs are one object, written in ways that only their bytes tell apart.
var inputs = []string{`{"a":"<"}`, `{"a": "<"}`, `{"a":"\u003c"}`, "{\"a\":\"\u2028\"}", "{ }\n", "{\"a\":\"\xff\"}"}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func maybe[T any](r *rand.Rand, v T) *T {
	if r.IntN(2) == 0 {
		return nil
	}
	return &v
}

// several returns nothing or a few of what one makes.
func several[T any](r *rand.Rand, one func() T) (list []T) {
	for range r.IntN(4) {
		list = append(list, one())
	}
	return list
}

func anyTime(r *rand.Rand) time.Time {
	if r.IntN(4) == 0 {
		return time.Time{}
	}
	return time.Unix(r.Int64N(4e9), r.Int64N(1e9)).UTC()
}

func anyValue(r *rand.Rand) api.Value {
	if r.IntN(2) == 0 {
		return TextValue(pick(r, texts))
	}
	return api.Value{List: true, Items: append([]string{}, several(r, func() string { return pick(r, texts) })...)}
}

func anyBody(r *rand.Rand) Body {
	text := func() string { return pick(r, texts) }
	coin := func() bool { return r.IntN(2) == 0 }
	switch r.IntN(5) {
	case 0:
		return api.Ask{
			Question: text(), Options: several(r, text), AllowOther: maybe(r, coin()), Placeholder: text(), Multiline: coin(),
		}
	case 1:
		return api.Confirm{Message: text(), Default: coin(), YesLabel: text(), NoLabel: text()}
	case 2:
		return api.Notify{Message: text(), Title: text(), Level: text()}
	case 3:
		return api.Form{Title: text(), Questions: several(r, func() api.Question {
			q := api.Question{
				ID: text(), Question: text(), Header: text(), InputType: text(), MultiSelect: coin(),
				Required: maybe(r, coin()), AllowOther: maybe(r, coin()), Placeholder: text(), Format: text(),
				Min: maybe(r, r.NormFloat64()), Max: maybe(r, r.NormFloat64()),
			}
			q.Options = several(r, func() api.Option {
				return api.Option{Label: text(), Value: text(), Description: text(), Recommended: coin(), Preview: text()}
			})
			if coin() {
				q.Default = anyValue(r)
			}
			return q
		})}
	}
	return Approve{
		text(), json.RawMessage(pick(r, inputs)), policy.Class(text()), text(), text(), coin(), several(r, text),
		false, false, false, nil,
	}
}

func anyRequest(r *rand.Rand) Request {
	text := func() string { return pick(r, texts) }
	return Request{
		ID: ID(text()), Created: anyTime(r), Deadline: anyTime(r), Timeout: time.Duration(r.Int64()),
		Patience: time.Duration(r.Int64()), Until: anyTime(r), Snoozed: anyTime(r),
		Silence:        api.Silence(text()),
		IdempotencyKey: text(), Body: anyBody(r),
		Requester: Requester{
			Agent: text(), Session: text(), CWD: text(), Subagent: Subagent{text(), text()}, Process: api.Process{
				PID: r.Int32(), UID: r.Int(), Exe: text(), CWD: text(), Started: anyTime(r),
				Parents: several(r, func() api.Parent { return api.Parent{PID: r.Int32(), Name: text(), Exe: text()} }),
			},
		},
	}
}

func anyAnswer(r *rand.Rand) Answer {
	text := func() string { return pick(r, texts) }
	coin := func() bool { return r.IntN(2) == 0 }
	a := Answer{
		api.Outcome(text()), api.By(text()), text(), text(), policy.Scope(text()), policy.Cover(text()), r.IntN(3), text(),
		coin(), coin(), nil, coin(),
		policy.Confinement{Project: text(), Write: coin(), Git: coin()}, text(), anyShown(r), anyTime(r), "", text(),
	}
	for range r.IntN(3) {
		if a.Values == nil {
			a.Values = map[string]api.Value{}
		}
		a.Values[text()] = anyValue(r)
	}
	return a
}

func anyShown(r *rand.Rand) Shown {
	text := func() string { return pick(r, texts) }
	return Shown{
		anyTime(r), time.Duration(r.Int64()), time.Duration(r.Int64()), text(), several(r, text), text(),
	}
}

// The windows are another process: what crosses to them and back must arrive as it was sent.
func TestJSONLosesNothing(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := func() string { return pick(r, texts) }
		sameAfterJSON(t, seed, anyRequest(r))
		sameAfterJSON(t, seed, anyAnswer(r))
		sameAfterJSON(t, seed, policy.Decision{
			Effect: policy.Effect(text()), Rule: text(), Reason: text(), Class: policy.Class(text()), Grant: r.IntN(2) == 0,
		})
	}
}

func sameAfterJSON[T any](t *testing.T, seed uint64, sent T) {
	t.Helper()
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatalf("seed %d: encode %+v: %v", seed, sent, err)
	}
	var got T
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("seed %d: decode %s: %v", seed, text, err)
	}
	if !reflect.DeepEqual(got, sent) {
		t.Fatalf("seed %d:\nsent %+v\ngot  %+v\nas   %s", seed, sent, got, text)
	}
}

func TestJSONRefusesWhatIsNoRequest(t *testing.T) {
	for _, text := range []string{`{}`, `{"kind":"order","body":{}}`, `{"kind":"ask"}`, `{"kind":"ask","body":[]}`, `[]`} {
		var r Request
		if err := json.Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s: decoded to %+v", text, r)
		}
	}
	if text, err := json.Marshal(Request{ID: "1"}); err == nil {
		t.Errorf("a request without a body was encoded: %s", text)
	}
}
