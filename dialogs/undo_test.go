package dialogs

import (
	"errors"
	"testing"

	"nod/api"
	"nod/ipc/operator"
)

// takenBack is an undo that a window requested.
type takenBack struct {
	id   int
	done func(error)
}

// withUndo makes the screen record undos.
func withUndo(s *screen) *[]takenBack {
	var all []takenBack
	s.p.options.Undo = func(id int, done func(error)) { all = append(all, takenBack{id, done}) }
	return &all
}

func (s *screen) undos(list ...operator.Undo) {
	s.p.SetUndos(list)
	s.settle()
}

var (
	aGrant      = operator.Undo{ID: 2, Kind: operator.UndoKeep, Text: "rm x\u202e"}
	aRevocation = operator.Undo{ID: 3, Kind: operator.UndoRevoke, Text: "make"}
)

// Without a prompt, a separate window offers to undo, until the time is over or a prompt appears.
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
	text := func() string { return s.p.strip.text.Text }
	s.undos(aRevocation)
	shown(false, "after a revocation in the settings")
	s.undos(aGrant)
	shown(true, "after an answer that saved something")
	if text() != "Saved: rm x‹U+202E›" {
		t.Errorf("it says %q", text())
	}
	s.open(bash("1", "make"))
	shown(false, "while a prompt is there")
	s.withdraw("1")
	shown(true, "without the prompt")

	s.p.strip.TakeBack()
	s.p.strip.TakeBack()
	if len(*all) != 1 || (*all)[0].id != 2 {
		t.Fatalf("taken back: %+v", *all)
	}
	if text() != "" {
		t.Errorf("it says %q too early", text())
	}
	s.undos()
	(*all)[0].done(nil)
	s.settle()
	if text() != "Removed. The call that was allowed already ran." {
		t.Errorf("it says %q", text())
	}
	shown(true, "to say what came of it")
	s.time = s.time.Add(resultTime)
	s.p.strip.update()
	shown(false, "later")

	s.undos(aGrant)
	s.p.strip.TakeBack()
	(*all)[1].done(errors.New("too late"))
	s.settle()
	if text() != "Not undone: too late" {
		t.Errorf("it says %q of what failed", text())
	}
}

// The chord of a prompt with nothing to undo neither undoes nor types anything.
func TestUndoChordInAPrompt(t *testing.T) {
	s := newScreen(t)
	all := withUndo(s)
	s.undos(aGrant)
	s.open(bash("1", "make"))
	s.ready()
	s.chord("Z")
	if len(*all) != 0 {
		t.Errorf("taken back: %+v", *all)
	}
	s.wantOpen("1")
	s.chord("Return")
	s.wantOutcome("1", api.Allowed)
}
