package dialogs

import (
	"strings"
	"testing"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

func TestJumpShowsAndMarksTheLine(t *testing.T) {
	s := newTestSheet(t, lines(100))
	offset := strings.Index(s.original, "line 60")
	at := s.positionOf(offset)
	s.jumpTo(at)
	row := s.page.rows[59]
	if row.from != at {
		t.Fatalf("line 60 starts at %d, not %d", row.from, at)
	}
	if top := s.scroll.Offset.Y; row.y < top || row.y+row.height > top+s.scroll.Size().Height {
		t.Errorf("the line at %v is not in view, which starts at %v", row.y, top)
	}
	plain := len(s.page.drawn[60])
	if got := len(s.page.drawn[59]); got != plain+1 { // the ground
		t.Errorf("the line is drawn with %d objects, the next one with %d", got, plain)
	}
	if want := s.page.rowText(row) + "\n"; s.page.selected() != want {
		t.Errorf("selected: %q, want %q", s.page.selected(), want)
	}
}

// Text skipped by a jump does not count as read.
func TestJumpInPrompt(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", manyLines))
	text := s.page().text.(*sheet)
	text.jumpTo(text.page.end - 1)
	if text.unread == 0 {
		t.Error("a jump to the end counts as seeing everything")
	}
	if text.page.selection == nil {
		t.Error("nothing is selected")
	}
	text.jumpTo(0)
	if text.page.selection.anchor != 0 || text.scroll.Offset.Y != 0 {
		t.Errorf("selected from %d, scrolled to %v", text.page.selection.anchor, text.scroll.Offset.Y)
	}
}

// The text drawn at the position of an offset is the text at that offset.
func TestPositionOfOffset(t *testing.T) {
	const text = "ab\n\u202e\tc\r\n" + "\n\n\n\n\n\n" + "große ‹x›   \nend"
	s := newTestSheet(t, text)
	for _, tt := range []struct {
		at   string
		want string // what is drawn from there on
	}{
		{"ab", "ab"}, {"b\n", "b"}, {"\u202e", "‹U+202E›"}, {"c", "c"}, {"große", "große"}, {"ße", "ße"}, {"end", "end"},
		{"‹x", "‹U+2039›"}, {"x›", "x"},
	} {
		at := s.positionOf(strings.Index(text, tt.at))
		got := drawnFrom(s.lines, at)
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("at %q: drawn %q, want %q", tt.at, got, tt.want)
		}
	}
	if got := s.positionOf(1 << 20); got >= s.page.end {
		t.Errorf("behind the end: %d of %d", got, s.page.end)
	}
}

// drawnFrom is what is drawn of the line at a position, from there on.
func drawnFrom(lines []prompt.Line, position int) string {
	for _, l := range lines {
		if text := (safetext.Row{Spans: l.Spans}).String(); position <= len(text) {
			return text[position:]
		}
		position -= len(l.Text()) + 1
	}
	return ""
}
