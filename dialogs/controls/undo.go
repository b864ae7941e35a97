package controls

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"nod/dialogs"
	"nod/ipc/operator"
)

// UndoLine is the foot of a window, with what was deleted last and can be had back.
type UndoLine struct {
	Content *fyne.Container

	bar   *dialogs.UndoBar
	list  []operator.Undo
	until time.Time // it says until then what has come of an undo
}

// lingers is how long it is said what has come of an undo.
const lingers = 5 * time.Second

// NewUndoLine returns a line that is hidden. After runs something on the UI goroutine in a while.
func NewUndoLine(settle dialogs.Settle, after func(time.Duration, func())) *UndoLine {
	l := &UndoLine{}
	l.bar = dialogs.NewUndoBar(func(undo int, back bool, done func(error)) {
		settle(undo, back, func(err error) {
			l.list = slices.DeleteFunc(l.list, func(u operator.Undo) bool { return u.ID == undo })
			l.until = time.Now().Add(lingers)
			done(err)
			after(lingers, l.draw)
		})
	})
	l.Content = container.NewStack(l.bar.Content)
	l.Content.Hide()
	return l
}

// Refresh shows what can be had back now.
func (l *UndoLine) Refresh(list []operator.Undo) {
	l.list = slices.DeleteFunc(slices.Clone(list), operator.Undo.OfPrompt)
	l.draw()
}

func (l *UndoLine) draw() {
	l.bar.Show(l.list, time.Now())
	SetVisible(l.Content, len(l.list) > 0 || time.Now().Before(l.until))
}

// TakeBack takes back what the line shows.
func (l *UndoLine) TakeBack() { l.bar.TakeBack() }
