package dialogs

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// restless counts how often it is moved.
type restless struct {
	canvas.Text
	moves int
}

func (r *restless) Move(to fyne.Position) {
	r.moves++
	r.Text.Move(to)
}

// Fyne asks for the least size with each frame, and draws another one after whatever is moved.
func TestBriefRests(t *testing.T) {
	w := newWindow(newScreen(t).p)
	for _, width := range []float32{80, 200, 320, 600, 2000} {
		for _, isOpen := range []bool{false, true} {
			labels := []*restless{{Text: *canvas.NewText("its program", nil)}, {Text: *canvas.NewText("says", nil)}}
			b := newBrief(w,
				newBriefPart(labels[0], "/home/user/shop · /usr/bin/node (pid 4242)", widget.LowImportance),
				newBriefPart(labels[1], "it works in /home/user/another/project/somewhere/else", widget.LowImportance))
			b.open = isOpen
			b.object.Resize(fyne.NewSize(width, b.object.MinSize().Height))
			b.object.Resize(fyne.NewSize(width, b.object.MinSize().Height))
			before := labels[0].moves + labels[1].moves
			for range 3 {
				b.object.MinSize()
			}
			if moves := labels[0].moves + labels[1].moves - before; before == 0 || moves > 0 {
				t.Errorf("width %v, open %v: %d moves, after %d when it was laid out", width, isOpen, moves, before)
			}
		}
	}
}
