package dialogs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
)

func TestWhatWasShownIsTold(t *testing.T) {
	facts := []string{"Runs programs", "Runs a program nod doesn't know: x"}
	tests := []struct {
		name string
		do   func(s *screen)
		want interact.Shown // its At is relative to the start
	}{
		{"allowed with keys", func(s *screen) { s.focusWindow(); s.pass(2 * time.Second); s.chord(fyne.KeyReturn) },
			interact.Shown{Armed: 700 * time.Millisecond, Decided: 2 * time.Second, With: interact.WithKeys}},
		{"allowed with the mouse", func(s *screen) { s.ready(); s.tapText("Allow") },
			interact.Shown{Armed: 700 * time.Millisecond, Decided: time.Second, With: interact.WithMouse}},
		{"denied at once", func(s *screen) { s.tapText("Deny") }, interact.Shown{Decided: 1, With: interact.WithMouse}},
		{"denied before it armed", func(s *screen) { s.pass(300 * time.Millisecond); s.chord(fyne.KeyD) },
			interact.Shown{Decided: 300 * time.Millisecond, With: interact.WithKeys}},
		{"disarmed, and closed", func(s *screen) {
			s.ready()
			s.blurWindow()
			s.pass(time.Minute)
			s.key(fyne.KeyEscape)
		}, interact.Shown{Armed: 700 * time.Millisecond, Decided: 61 * time.Second, With: interact.WithKeys}},
		{"seen, left and seen again", func(s *screen) {
			s.open(bash("2", "y"))
			s.chord(fyne.KeyPeriod)
			s.pass(time.Minute)
			s.chord(fyne.KeyComma)
			s.chord(fyne.KeyD)
		}, interact.Shown{Decided: time.Minute, With: interact.WithKeys}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScreen(t)
			start := s.time
			s.open(bash("1", "x"))
			tt.do(s)
			a, answered := s.answer("1")
			tt.want.At = start
			for _, fact := range facts {
				if !slices.Contains(a.Shown.Facts, fact) {
					t.Errorf("%q is not among the facts %q", fact, a.Shown.Facts)
				}
			}
			a.Shown.Facts = nil
			if !answered || !reflect.DeepEqual(a.Shown, tt.want) {
				t.Errorf("shown %+v, want %+v", a.Shown, tt.want)
			}
		})
	}
}

// A request answered in a list was never shown.
func TestWhatWasNeverShownIsNot(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", "x"))
	s.open(bash("2", "y"))
	s.tapText("1 of 2 ›")
	s.tapText("Deny all from this session")
	one, two := s.wantOutcome("1", api.Denied), s.wantOutcome("2", api.Denied)
	if one.Shown.At.IsZero() || !reflect.DeepEqual(two.Shown, interact.Shown{With: interact.WithMouse}) {
		t.Errorf("the first was shown %+v, the second %+v", one.Shown, two.Shown)
	}
}

// The journal gets the change of a file as it was shown, independent of the later content.
func TestTheDifferenceIsTold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const maxDiff = 64 << 10 // bytes of a diff in the journal
	long := strings.Repeat("x\n", maxDiff)
	header := "--- " + path + "\n+++ " + path + "\n"
	for _, tt := range []struct {
		name, tool string
		input      map[string]any
		want       string
	}{
		{"an edit", "Edit", map[string]any{"file_path": path, "old_string": "two", "new_string": "2"},
			header + "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
		{"an edit of what is not there", "Edit", map[string]any{"file_path": path, "old_string": "four", "new_string": "4"},
			header + "@@\n-four\n+4\n"},
		{"a new file", "Write", map[string]any{"file_path": path + "x", "content": "new\n"},
			strings.ReplaceAll(header, path, path+"x") + "@@ -0,0 +1,1 @@\n+new\n"},
		{"no change", "Write", map[string]any{"file_path": path, "content": "one\ntwo\nthree\n"}, ""},
		{"a path of two lines", "Write", map[string]any{"file_path": dir + "/a\n+++ b", "content": "new\n"},
			strings.ReplaceAll(header, path, dir+"/a‹newline›+++ b") + "@@ -0,0 +1,1 @@\n+new\n"},
		{"a patch", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Add File: x\n+new\n*** End Patch\n"},
			"*** Begin Patch\n*** Add File: x\n+new\n*** End Patch\n"},
		{"a command", "Bash", map[string]any{"command": "x"}, ""},
		{"a long file", "Write", map[string]any{"file_path": path + "x", "content": long}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			input, err := json.Marshal(tt.input)
			if err != nil {
				t.Fatal(err)
			}
			s := newScreen(t)
			r := request("1", interact.Approve{Tool: tt.tool, Input: input})
			r.Requester.CWD = dir
			s.open(r)
			s.tapText("Deny")
			got := s.wantOutcome("1", api.Denied).Shown.Diff
			if tt.name == "a long file" {
				cut, more, _ := strings.Cut(got, `\ and `)
				if len(got) > maxDiff+100 || !strings.HasSuffix(cut, "+x\n") || !strings.HasSuffix(more, " more lines\n") {
					t.Errorf("%d bytes end with %q and %q", len(got), cut[len(cut)-10:], more)
				}
				return
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
