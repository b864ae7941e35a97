package dialogs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jezek/xgb/xproto"

	"nod/interact"
)

func TestTheNearestProcessWithAWindow(t *testing.T) {
	asks := interact.Process{PID: 40, Parents: []interact.Parent{{PID: 30}, {PID: 20}, {PID: 10}, {PID: 1}}}
	tests := []struct {
		name          string
		windows, pids []uint32 // the topmost last
		want          xproto.Window
	}{
		{"none", nil, nil, 0},
		{"somebody else's", []uint32{1, 2}, []uint32{99, 0}, 0},
		{"the terminal's, not the session's", []uint32{1, 2, 3}, []uint32{20, 99, 10}, 1},
		{"the topmost of the terminal's", []uint32{1, 2, 3, 4}, []uint32{20, 20, 20, 10}, 3},
		{"its own", []uint32{1, 2}, []uint32{40, 30}, 1},
		{"never the first process's", []uint32{1}, []uint32{1}, 0},
	}
	for _, tt := range tests {
		if got := topmostOf(asks, tt.windows, tt.pids); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := topmostOf(interact.Process{}, []uint32{1}, []uint32{0}); got != 0 {
		t.Errorf("of an unknown process: %d", got)
	}
}

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
