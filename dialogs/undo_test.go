package dialogs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/interact"
	"nod/ipc/operator"
)

// settled is what a window asked the tray process to settle.
type settled struct {
	id   int
	back bool
	done func(error)
}

// withUndo has the screen note what is settled.
func withUndo(s *screen) *[]settled {
	var all []settled
	s.p.options.Settle = func(undo int, back bool, done func(error)) { all = append(all, settled{undo, back, done}) }
	return &all
}

func (s *screen) undos(list ...operator.Undo) {
	for i := range list {
		list[i].Until = s.time.Add(10 * time.Second)
	}
	s.p.SetUndos(list)
	s.settle()
}

func (s *screen) undoChord() {
	if f, takes := s.canvas().Focused().(fyne.Shortcutable); takes {
		f.TypedShortcut(&fyne.ShortcutUndo{})
	}
	s.settle()
}

var (
	aDenial = operator.Undo{ID: 1, Kind: operator.UndoDeny, Text: "rm -rf x\u202e"}
	aGrant  = operator.Undo{ID: 2, Kind: operator.UndoKeep, Text: "go test"}
)

// Below a prompt stands what was done before it. It covers nothing, moves nothing when its time is over, and Allow
// waits anew when it comes.
func TestUndoBelowThePrompt(t *testing.T) {
	s := newScreen(t)
	all := withUndo(s)
	s.open(bash("1", "make"))
	s.ready()
	before := s.canvas().Size()
	s.undos(aDenial, aGrant)
	if got := s.p.window.undos.text.Text; got != "Saved: go test" {
		t.Errorf("the newest: %q", got)
	}
	s.chord(fyne.KeyReturn)
	s.wantOpen("1")
	s.undos(aDenial)
	if got := s.p.window.undos.text.Text; got != "Denied: rm -rf x‹U+202E› · the agent is told in 0:10" {
		t.Errorf("a denial: %q", got)
	}
	row, page := s.p.window.undos.Content, s.page().object
	if bottom := page.Position().Y + page.Size().Height; row.Position().Y < bottom {
		t.Errorf("the bar begins at %v, the prompt ends at %v", row.Position().Y, bottom)
	}
	size := s.canvas().Size()
	if size.Height <= before.Height || page.Size() != before {
		t.Errorf("window %v, was %v; the prompt has %v", size, before, page.Size())
	}
	s.ready()
	s.undos()
	if page.Size() != before || s.canvas().Size() != size {
		t.Error("the prompt moved when the time was over")
	}
	s.chord(fyne.KeyReturn)
	s.wantOutcome("1", interact.Allowed)
	if len(*all) != 0 {
		t.Errorf("settled by itself: %+v", *all)
	}
}

// The chord undoes the newest, once, and the bar says what came of it only when that is known.
func TestUndoByChord(t *testing.T) {
	s := newScreen(t)
	all := withUndo(s)
	s.open(bash("1", "make"))
	s.undoChord()
	s.undos(aDenial, aGrant)
	s.undoChord()
	s.undoChord()
	if len(*all) != 1 || (*all)[0].id != 2 || !(*all)[0].back {
		t.Fatalf("settled %+v", *all)
	}
	text := func() string { return s.p.window.undos.text.Text }
	if text() != "" {
		t.Errorf("it says %q too early", text())
	}
	(*all)[0].done(nil)
	if text() != "Removed. The call that was allowed already ran." {
		t.Errorf("it says %q", text())
	}
	s.undos(aDenial)
	s.undoChord()
	(*all)[1].done(errors.New("too late"))
	if !strings.Contains(text(), "Not undone: too late") {
		t.Errorf("it says %q of what failed", text())
	}
	s.wantOpen("1")
}

// While a reason is typed the chord undoes typing, and nothing else.
func TestUndoWhileTyping(t *testing.T) {
	s := newScreen(t)
	all := withUndo(s)
	s.open(bash("1", "make"))
	s.undos(aGrant)
	s.tapText("Deny with reason…")
	s.typeText("no")
	s.undoChord()
	if len(*all) != 0 {
		t.Errorf("settled %+v", *all)
	}
}

// Without a prompt a window of its own shows what can be undone, until that is over or a prompt comes.
func TestUndoStrip(t *testing.T) {
	s := newScreen(t)
	all := withUndo(s)
	s.p.Prepare()
	shown := func(want bool, when string) {
		t.Helper()
		if s.p.Undoing() != want {
			t.Errorf("%s: shown %v, want %v", when, !want, want)
		}
	}
	s.undos(aDenial)
	shown(true, "after a denial")
	s.open(bash("1", "make"))
	shown(false, "while a prompt is there")
	if !s.p.window.undos.room {
		t.Error("the prompt does not show it")
	}
	s.withdraw("1")
	shown(true, "without the prompt")
	for _, o := range test.LaidOutObjects(s.p.strip.Content) {
		if b, ok := o.(*widget.Button); ok && b.Text == "Tell it now" {
			test.Tap(b)
		}
	}
	if len(*all) != 1 || (*all)[0].back {
		t.Fatalf("settled %+v", *all)
	}
	s.undos()
	(*all)[0].done(nil)
	shown(false, "after the agent was told")

	s.undos(aGrant)
	s.p.strip.TakeBack()
	s.undos()
	(*all)[1].done(nil)
	shown(true, "to say what came of it")
	s.time = s.time.Add(lingers)
	s.p.strip.update()
	shown(false, "later")
}
