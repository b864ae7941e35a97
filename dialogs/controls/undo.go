package controls

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"nod/dialogs"
	"nod/ipc/operator"
)

// UndoLine is the foot of a window with the last deletion, which can be undone.
type UndoLine struct {
	Content *fyne.Container

	bar   *dialogs.UndoBar
	list  []operator.Undo
	until time.Time // until then it shows the result of an undo
}

// resultTime is how long the result of an undo is shown.
const resultTime = 5 * time.Second

// NewUndoLine returns a hidden line. after runs a function on the UI goroutine after a delay.
func NewUndoLine(undo dialogs.TakeBack, after func(time.Duration, func())) *UndoLine {
	l := &UndoLine{}
	l.bar = dialogs.NewUndoBar(func(id int, done func(error)) {
		undo(id, func(err error) {
			l.list = slices.DeleteFunc(l.list, func(u operator.Undo) bool { return u.ID == id })
			l.until = time.Now().Add(resultTime)
			done(err)
			after(resultTime, l.draw)
		})
	})
	l.Content = container.NewStack(l.bar.Content)
	l.Content.Hide()
	return l
}

// Refresh shows the last of the actions in list that can be undone.
func (l *UndoLine) Refresh(list []operator.Undo) {
	l.list = slices.DeleteFunc(slices.Clone(list), operator.Undo.OfPrompt)
	l.draw()
}

func (l *UndoLine) draw() {
	l.bar.Show(l.list)
	SetVisible(l.Content, len(l.list) > 0 || time.Now().Before(l.until))
}

// TakeBack undoes the action that the line shows.
func (l *UndoLine) TakeBack() { l.bar.TakeBack() }
