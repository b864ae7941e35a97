package dialogs

import (
	"testing"

	"nod/dialogs/prompt"
)

func TestPatchMarksWords(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.go\n@@\n-x := 1 // old\n+x := 2 // old\n*** End Patch\n"
	lines := viewOf(call(t, "apply_patch", object{"input": patch}), in("/")).Lines[2:] // without the file's name
	for i, want := range map[int]string{3: "1", 4: "2"} {
		marks := lines[i].Changed
		if len(marks) != 1 || lines[i].Text()[marks[0].From:marks[0].To] != want {
			t.Errorf("%q: %v, want a mark on %s", lines[i].Text(), marks, want)
		}
	}
	inks := prompt.Colours(lines, inksIn)
	if got, want := inked(lines[4].Text(), inks[4]), "number:2 comment:// old"; got != want {
		t.Errorf("colours: %s, want %s", got, want)
	}
}
