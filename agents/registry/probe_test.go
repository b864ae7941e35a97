package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/agents/claude"
)

// However long a file is, its first lines tell whose it is; and they tell by what nod needs of them.
func TestProbeReadsTheFirstLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.jsonl")
	const line = `{"type":"user","sessionId":"s","message":"hi"}` + "\n"
	for text, want := range map[string]bool{
		line: true,
		strings.Repeat("{}\n", maxProbed-1) + line: true,
		strings.Repeat("{}\n", maxProbed) + line:   false,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, is, err := probe(name, claude.Agent.Transcripts); is != want || err != nil {
			t.Errorf("%d bytes: %v, %v", len(text), is, err)
		}
	}
}
