package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.jsonl")
	for range 2 { // a start forgets what came before
		s, err := NewSessions(path)
		if err != nil {
			t.Fatal(err)
		}
		since, came, err := ReadSessions(path)
		if err != nil || since.IsZero() || came("a", "1") {
			t.Fatalf("%v, %v", since, err)
		}
		s.came("a", "1")
		s.came("a", "1")
		s.came("b", "")
		_, came, err = ReadSessions(path)
		if err != nil || !came("a", "1") || came("b", "1") || came("a", "2") || came("", "") || came("b", "") {
			t.Errorf("%v", err)
		}
	}
}

// A file that cannot be complete is gone rather than wrong.
func TestTooManySessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.jsonl")
	s, err := NewSessions(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxSessions + 2 {
		s.came("a", fmt.Sprint(i))
	}
	if _, _, err := ReadSessions(path); !os.IsNotExist(err) {
		t.Error(err)
	}
	for _, text := range []string{"", "x\n", `{"agent": "a"}` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadSessions(path); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	var none *Sessions
	none.came("a", "1")
}
