package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// However long a file is, its first lines tell whose it is; and they tell by what nod needs of them.
func TestProbeReadsTheFirstLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.jsonl")
	const line = `{"type":"user","sessionId":"s","message":"hi"}` + "\n"
	for text, want := range map[string]bool{
		line: true,
		strings.Repeat("x\n", maxProbed-1) + line: true,
		strings.Repeat("x\n", maxProbed) + line:   false,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := probe(name); (err == nil) != want {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}
