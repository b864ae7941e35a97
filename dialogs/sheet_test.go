package dialogs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// The limits of the prompt package.
const maxShownBytes, maxShownLines = 512 << 10, 10_000

// newTestSheet lays out text in a sheet of 400 by 200.
func newTestSheet(t *testing.T, text string) *sheet {
	t.Helper()
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	s := newSheet(prompt.Unnumbered("1 ", text, prompt.LineText), text)
	w := test.NewTempWindow(t, s)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(400, 200))
	return s
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestSeenAtOnceWhenItFits(t *testing.T) {
	s := newTestSheet(t, lines(3))
	if !s.read {
		t.Error("a text that fits has not been seen")
	}
	if s.onward.Visible() {
		t.Error("a text that fits has a foot")
	}
}

// A mandatory text counts as read once its end has been in view. Skipped lines stay reported.
func TestReadOnceTheEndWasInView(t *testing.T) {
	s := newTestSheet(t, lines(60))
	told := 0
	s.onSeen = func() { told++ }
	if s.read {
		t.Fatal("read before the end was in view")
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if !s.read || told != 1 {
		t.Errorf("at the end: read %v, told %d times; want true, 1", s.read, told)
	}
	if want := fmt.Sprintf("%d of 60 lines not shown", s.unread); s.unread < 30 || s.state.Text != want {
		t.Errorf("says %q after a jump over the middle, want %q", s.state.Text, want)
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	for range 60 {
		s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
	if s.unread != 0 {
		t.Errorf("%d lines count as unread after paging through", s.unread)
	}
}

// The content of a file need not be read, but the lines above it must.
func TestReadUpToTheContent(t *testing.T) {
	s := newTestSheet(t, lines(60))
	fresh := newSheet(s.lines, "")
	fresh.mustRead = 30
	fresh.Resize(fyne.NewSize(400, 200))
	if fresh.read {
		t.Error("read before line 30 was in view")
	}
	for range 30 {
		fresh.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	if !fresh.read || fresh.unread == 0 {
		t.Errorf("line 30 in view: read %v, %d lines unread", fresh.read, fresh.unread)
	}
}

func TestNextPartLeadsToTheEnd(t *testing.T) {
	s := newTestSheet(t, lines(100))
	steps := 0
	for ; s.unread > 0 && steps < 100; steps++ {
		test.Tap(s.onward)
	}
	if s.unread > 0 || !s.read || s.onward.Visible() {
		t.Errorf("after %d steps: read %v, %d lines unread", steps, s.read, s.unread)
	}
}

func TestPaddingCannotHideTheEnd(t *testing.T) {
	for _, text := range []string{
		"ls" + strings.Repeat(" ", 4000) + "; touch y",
		"ls" + strings.Repeat("\n", 4000) + "; touch y",
		"ls" + strings.Repeat("\t", 4000) + "; touch y",
		"ls" + strings.Repeat("\u00a0", 4000) + "; touch y",
	} {
		s := newTestSheet(t, text)
		if !s.read {
			t.Errorf("%.6q…: the padding was not folded", text)
		}
		last := s.page.rows[len(s.page.rows)-1]
		if got := s.page.rowText(last); !strings.Contains(got, "touch y") {
			t.Errorf("%.6q…: the last row is %q", text, got)
		}
	}
	// This cannot be counted as one run, so it must be scrolled.
	mixed := newTestSheet(t, "ls"+strings.Repeat(" \t", 4000)+"; touch y")
	if mixed.read {
		t.Error("400 rows of blanks count as seen")
	}
}

func TestRewrapKeepsWhatWasSeen(t *testing.T) {
	s := newTestSheet(t, lines(30))
	for !s.read {
		s.showNextPart()
	}
	s.Resize(fyne.NewSize(300, 120))
	if !s.read {
		t.Error("a narrower window makes what was seen unseen")
	}
	fresh := newTestSheet(t, strings.Repeat("word ", 300))
	fresh.Resize(fyne.NewSize(900, 600))
	if !fresh.read {
		t.Error("a larger window that shows everything does not count")
	}
}

func TestTooLongIsNeverSeen(t *testing.T) {
	for name, text := range map[string]string{
		"bytes": strings.Repeat("x", maxShownBytes+1), "lines": lines(maxShownLines + 1),
	} {
		s := newTestSheet(t, text)
		for range 2000 {
			s.showNextPart()
		}
		if s.read || !s.capped || !s.file.Visible() {
			t.Errorf("%s: read %v, capped %v, offered as file %v", name, s.read, s.capped, s.file.Visible())
		}
	}
	test.NewTempApp(t)
	long := strings.Repeat("x", maxShownBytes)
	for _, input := range []object{
		{"command": long + "y"}, {"file_path": "new.txt", "content": long + "y\n"},
		{"file_path": "new.txt", "content": long + "\r\n"}, {"patch": "*** Begin Patch\n" + long + "\r\n"},
	} {
		v := viewOf(call(t, "Write", input), in("/"))
		if !v.block.capped || !strings.Contains(strings.Join(v.Warnings, ""), "not allow it") {
			t.Errorf("capped: %v, warnings: %q", v.block.capped, v.Warnings)
		}
	}
}

func TestLongLineIsVirtual(t *testing.T) {
	s := newTestSheet(t, strings.Repeat("abcdefghi ", 10_000))
	if n := len(s.page.rows); n < 1000 {
		t.Errorf("100 kB in one line make %d rows", n)
	}
	if n := len(pageRenderer{s.page}.Objects()); n > 100 {
		t.Errorf("%d objects are drawn for a view of 200 pixels", n)
	}
}

func TestNoRowIsWiderThanTheView(t *testing.T) {
	s := newTestSheet(t, "ls "+strings.Repeat("unbreakable", 50)+" \u202e größe "+strings.Repeat("ش",
		80)+strings.Repeat("\u200b\u200c", 40))
	for _, o := range (pageRenderer{s.page}).Objects() {
		if right := o.Position().X + o.Size().Width; right > s.page.width {
			t.Errorf("an object at %v reaches to %v, the page to %v", o.Position(), right, s.page.width)
		}
	}
}

// Wrapping loses nothing, for any text and width.
func TestWrapCoversEverything(t *testing.T) {
	test.NewTempApp(t)
	alphabet := []rune("ab  /-\tß日\u202e\u200b‹" + "\u00a0")
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text strings.Builder
		for range random.IntN(200) {
			text.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		s := newSheet(prompt.Unnumbered("1 ", text.String(), prompt.LineText), text.String())
		s.page.wrap(float32(80 + random.IntN(400)))
		var drawn strings.Builder
		for i, r := range s.page.rows {
			if i > 0 && (r.from != s.page.rows[i-1].to || r.from >= r.to) {
				t.Fatalf("%q: row %d covers %d to %d, the one before ends at %d", text.String(), i, r.from, r.to,
					s.page.rows[i-1].to)
			}
			drawn.WriteString(s.page.rowText(r))
		}
		var want strings.Builder
		for _, l := range safetext.Render(text.String()) {
			want.WriteString(l.String())
		}
		if drawn.String() != want.String() {
			t.Fatalf("the rows of %q hold\n%q, want\n%q", text.String(), drawn.String(), want.String())
		}
	}
}

func TestCopyGivesTheOriginal(t *testing.T) {
	const text = "a\tb\u202e c  \n\n\n\n\n\n\nend ‹x›"
	s := newTestSheet(t, text)
	s.TypedShortcut(&fyne.ShortcutSelectAll{})
	s.TypedShortcut(&fyne.ShortcutCopy{})
	if got := fyne.CurrentApp().Clipboard().Content(); got != text {
		t.Errorf("copied %q, want %q", got, text)
	}
	// Without the short cut for everything, from its places.
	all := *s.page.selection
	if got := all.text(s.lines); got != text {
		t.Errorf("selected %q, want %q", got, text)
	}
}

func TestSelectByDragging(t *testing.T) {
	s := newTestSheet(t, "first line\nsecond \u202eline")
	cell, row := s.page.face(prompt.LineText).cell, s.page.rows[0].height
	left := s.page.leadWidth(s.lines[0])
	at := func(column, line float32) fyne.Position { return fyne.NewPos(left+column*cell, (line+0.5)*row) }

	s.page.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at(6, 0)},
		Button: desktop.MouseButtonPrimary})
	s.page.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: at(7+8+2, 1)}})
	s.page.DragEnd()
	if got, want := s.page.selected(), "line\nsecond \u202eli"; got != want {
		t.Errorf("selected %q, want %q", got, want)
	}
}

func TestSeenRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		const size = 40
		var ranges seenRanges
		var want [size]bool
		for range random.IntN(12) {
			from := random.IntN(size)
			to := from + random.IntN(size-from+1)
			ranges.add(from, to)
			for i := from; i < to; i++ {
				want[i] = true
			}
		}
		var got [size]bool
		end := -1
		for _, r := range ranges {
			if r.from <= end || r.from >= r.to {
				t.Fatalf("ranges are not in order or touch: %v", ranges)
			}
			end = r.to
			for i := r.from; i < r.to; i++ {
				got[i] = true
			}
		}
		if got != want {
			t.Fatalf("%v covers %v, want %v", ranges, got, want)
		}
		gap := 0
		for gap < size && want[gap] {
			gap++
		}
		if ranges.firstGap() != gap || ranges.covers(size) != (gap == size) {
			t.Fatalf("%v: first gap %d, want %d", ranges, ranges.firstGap(), gap)
		}
	}
}

func BenchmarkSheetHalfMegabyte(b *testing.B) {
	test.NewApp().Settings().SetTheme(Theme("light"))
	text := strings.Repeat(strings.Repeat("word ", 50)+"\n", maxShownBytes/251)
	for b.Loop() {
		s := newSheet(prompt.Unnumbered("1 ", text, prompt.LineText), text)
		s.Resize(fyne.NewSize(600, 300))
	}
}

// A window may get smaller than the foot of a text needs, also after scrolling to the end.
func TestSmallerAfterScrollingToTheEnd(t *testing.T) {
	for height := float32(200); height >= 0; height -= 7 {
		s := newTestSheet(t, lines(100))
		s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
		s.Resize(fyne.NewSize(300, height))
		s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
		if s.unread == 0 {
			t.Fatalf("at a height of %v all of it counts as seen", height)
		}
	}
}

// The same in a prompt, whose body loses its height to the head and the foot.
func TestSmallerPromptAfterScrollingToTheEnd(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", manyLines))
	s.ready()
	s.key(fyne.KeyEnd)
	for _, size := range []fyne.Size{fyne.NewSize(540, 360), fyne.NewSize(400, 250), fyne.NewSize(300, 100)} {
		s.p.window.win.Resize(size)
		s.key(fyne.KeyEnd)
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
}

// What a key brought into view stays there, whatever is laid out or measured anew because of it.
func TestEndStaysInView(t *testing.T) {
	s := newScreen(t)
	s.open(bash("1", strings.Repeat("echo a\n", 47)+"rm -rf ~/old-builds"))
	for _, size := range []fyne.Size{fyne.NewSize(700, 700), fyne.NewSize(540, 480), fyne.NewSize(540, 360)} {
		s.p.window.win.Resize(size)
		s.ready()
		block := s.page().approval.input.block
		s.key(fyne.KeyHome)
		s.key(fyne.KeyEnd)
		s.page().object.Refresh()
		s.p.window.fit()
		height, _ := block.text.extent()
		if shown := block.scroll.Offset.Y + block.scroll.Size().Height; shown < height-1 {
			t.Errorf("in a window of %v, End shows %v of %v", size, shown, height)
		}
	}
}
