package settings

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"nod/dialogs"
	"nod/ipc/operator"
)

// undoLine is the foot of the window, with what was deleted last and can be had back.
type undoLine struct {
	*dialogs.UndoBar
	win     *Window
	content *fyne.Container
	list    []operator.Undo
	until   time.Time // it says until then what has come of an undo
}

// lingers is how long it is said what has come of an undo.
const lingers = 5 * time.Second

func newUndoLine(w *Window) *undoLine {
	l := &undoLine{win: w}
	l.UndoBar = dialogs.NewUndoBar(func(undo int, back bool, done func(error)) {
		w.act(func(ctx context.Context) error { return w.opts.Operator.Settle(ctx, undo, back) }, func(err error) {
			l.list = slices.DeleteFunc(l.list, func(u operator.Undo) bool { return u.ID == undo })
			l.until = time.Now().Add(lingers)
			done(err)
			w.after(lingers, l.draw)
		})
	})
	l.content = container.NewStack(l.Content)
	l.content.Hide()
	return l
}

// refresh shows what can be had back now.
func (l *undoLine) refresh(list []operator.Undo) {
	l.list = slices.DeleteFunc(slices.Clone(list), operator.Undo.OfPrompt)
	l.draw()
}

func (l *undoLine) draw() {
	l.Show(l.list, time.Now())
	setVisible(l.content, len(l.list) > 0 || time.Now().Before(l.until))
}
