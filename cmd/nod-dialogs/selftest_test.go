package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"nod/dialogs/safetext"
	"nod/ipc/operator"
	"nod/version"
)

// What no font has is named, and nothing else.
func TestSelfTest(t *testing.T) {
	known := safetext.CanDraw
	t.Cleanup(func() { safetext.CanDraw = known })
	safetext.CanDraw = func(c rune, _ bool) bool { return c != operator.Korean.Sample() }
	var out bytes.Buffer
	if err := selfTest(&out); err != nil {
		t.Fatal(err)
	}
	var got operator.SelfTest
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []operator.Script{operator.Korean}
	if got.Version != version.Number() || got.Problem != "" || !slices.Equal(got.Undrawn, want) {
		t.Errorf("%+v, want %v undrawn and nothing else", got, want)
	}
}
