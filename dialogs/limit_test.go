package dialogs

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"nod/api"
	"nod/interact"
)

// A field takes no more text than an answer may have, and says so.
func TestAFieldIsFull(t *testing.T) {
	full := strings.Repeat("中", interact.MaxAnswer)
	lines := strings.Repeat("\n", interact.MaxAnswerLines-1)
	tests := map[string]struct {
		before    string
		do        func(*screen, *field)
		want      string
		isTold    bool
		oneLine   bool
		selectAll bool
	}{
		"pasted":           {do: func(s *screen, f *field) { s.paste(f, full) }, want: full},
		"pasted, too long": {do: func(s *screen, f *field) { s.paste(f, full+"x") }, want: full, isTold: true},
		"pasted into text": {before: "ab", do: func(s *screen, f *field) { s.paste(f, full) },
			want: full[:len(full)-6] + "ab", isTold: true},
		"pasted over text":  {before: full, do: func(s *screen, f *field) { s.paste(f, "y") }, want: "y", selectAll: true},
		"pasted when full":  {before: full, do: func(s *screen, f *field) { s.paste(f, "y") }, want: full, isTold: true},
		"typed when full":   {before: full, do: func(s *screen, f *field) { f.TypedRune('x') }, want: full, isTold: true},
		"typed":             {before: full[3:], do: func(s *screen, f *field) { f.TypedRune('x') }, want: "x" + full[3:]},
		"lines":             {do: func(s *screen, f *field) { s.paste(f, lines+"\nx") }, want: lines, isTold: true},
		"lines in one line": {do: func(s *screen, f *field) { s.paste(f, "a\nb\r\nc") }, want: "a b c", oneLine: true},
		"tabs": {do: func(s *screen, f *field) { s.paste(f, "a\tb\n价\tc\té\nd\te\té\tf") },
			want: "a\tb\n价 c é\nd\te\té f"},
		"Enter when full": {before: lines, do: func(s *screen, f *field) { f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) },
			want: lines, isTold: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.open(request("1", api.Ask{Question: "Why?", Multiline: !test.oneLine}))
			f := s.page().inputs[""].(*field)
			s.canvas().Focus(f)
			s.p.window.pressedOn = f
			f.SetText(test.before)
			if test.selectAll {
				f.TypedShortcut(&fyne.ShortcutSelectAll{})
			}
			test.do(s, f)
			if f.Text != test.want {
				t.Errorf("%d bytes: %.40q, want %d: %.40q", len(f.Text), f.Text, len(test.want), test.want)
			}
			if told := strings.Contains(s.page().status.Text, "10,000 characters and 1,000 lines"); told != test.isTold {
				t.Errorf("told: %v: %q", told, s.page().status.Text)
			}
		})
	}
}
