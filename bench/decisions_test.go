//go:build linux

package main

import "testing"

// The comparison is one of like with like: all come to the same, and not always to the same.
func TestEnginesAgree(t *testing.T) {
	home := t.TempDir()
	calls, err := toolCalls(home)
	if err != nil {
		t.Fatal(err)
	}
	want := []bool{true, false, false, true}
	for _, e := range engines {
		engine, err := e.make(100, home)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			decide, err := engine(c)
			if err != nil {
				t.Fatal(err)
			}
			if allow, err := decide(); err != nil || allow != want[i] {
				t.Errorf("%s about %s: %v, %v, want %v", e.name, c.name, allow, err, want[i])
			}
		}
	}
}
