package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestInputKeepsItsBytes(t *testing.T) {
	for _, text := range []string{`{"a": "<"}`, `{"a":"\u003c"}`, "{\"a\":\"\xff\"}", `[1]`, `{`, ``} {
		in := ReadInput([]byte(text))
		sum := sha256.Sum256([]byte(text))
		if in.String() != text || in.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%q became %q with %s", text, in.Raw, in.SHA256)
		}
		wire, err := json.Marshal(Call{Tool: "T", Input: in})
		if err != nil {
			t.Fatal(err)
		}
		var got Call
		if err := json.Unmarshal(wire, &got); err != nil || !reflect.DeepEqual(got.Input, in) {
			t.Errorf("%q came back as %+v (%v)", text, got.Input, err)
		}
	}
}

// What an input may hold in memory is bounded, and what is beyond that is asked about.
func TestInputFieldsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		text      string
		fields    int
		isProblem bool
	}{
		"numbers in a list": {`{"n":[1` + strings.Repeat(",2", 300_000) + `]}`, 1, false},
		"texts in a list":   {`{"n":["a"` + strings.Repeat(`,"b"`, 200_000) + `]}`, maxFields, true},
	} {
		in := ReadInput([]byte(tt.text))
		if len(in.fields) != tt.fields || (in.problem != "") != tt.isProblem {
			t.Errorf("%s: %d fields, problem %q", name, len(in.fields), in.problem)
		}
	}
}

func TestInputThatNobodyReadIsAskedAbout(t *testing.T) {
	p, err := Compile(Policy{AutoAllow: Classes}, Places{})
	if err != nil {
		t.Fatal(err)
	}
	if d := Decide(Call{Tool: "T"}, p, time.Time{}); d.Effect != Ask || d.Rule != "builtin:unreadable" {
		t.Errorf("%+v", d)
	}
}

// Objects in objects do not make names that grow with each.
func TestDeepNamesAreBounded(t *testing.T) {
	const deep = 9000
	key := strings.Repeat("k", 100)
	in := ReadInput([]byte(strings.Repeat(`{"`+key+`":`, deep) + `{"file_path":"/x"}` + strings.Repeat("}", deep)))
	if len(in.fields) != 1 || len(in.fields[0].name) > 2000 || in.fields[0].value != "/x" {
		t.Fatalf("%d fields, problem %q", len(in.fields), in.problem)
	}
	if !isPathKey(in.fields[0].name) {
		t.Errorf("%q is not taken for a path", in.fields[0].name)
	}
}
