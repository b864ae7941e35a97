package dialogs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The editor opens a read-only copy of this user, in a file named by nod.
func TestOpenInEditor(t *testing.T) {
	s := newScreen(t)
	t.Setenv("TMPDIR", t.TempDir())
	s.open(bash("1", "rm -rf build"))
	s.tap(s.p.window.page.head.more)
	s.tapText("Open in my editor")
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "nod-input-*", "*"))
	if err != nil || len(found) != 1 || filepath.Base(found[0]) != "input.txt" {
		t.Fatalf("made %q, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	info, _ := os.Stat(found[0])
	if err != nil || !strings.Contains(string(text), "rm -rf build") || info.Mode() != 0o400 {
		t.Errorf("%q, mode %v, %v", text, info.Mode(), err)
	}
	s.wantOpen("1")
}
