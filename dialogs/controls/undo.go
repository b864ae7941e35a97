package controls

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs"
	"nod/dialogs/prompt"
	"nod/ipc/operator"
)

const resultTime = 5 * time.Second

// undoBar is a line with the last action that can be undone, and its button. It is hidden while nothing can be undone.
type undoBar struct {
	Content fyne.CanvasObject
	win     *Window
	list    []operator.Undo
	until   time.Time // until then the result of an undo is shown
	text    *widget.Label
	undo    fyne.CanvasObject
}

func newUndoBar(w *Window) *undoBar {
	b := &undoBar{win: w, text: dialogs.Lines("", theme.SizeNameCaptionText, widget.MediumImportance)}
	b.text.Wrapping, b.text.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	b.undo = widget.NewButton(lang.L("Undo")+"  "+dialogs.CommandName()+"+Z", b.TakeBack)
	line := container.NewBorder(nil, nil, nil, b.undo, container.NewVBox(
		layout.NewSpacer(), dialogs.Tight(b.text), layout.NewSpacer()))
	b.Content = dialogs.Column(0, dialogs.Rule(), dialogs.Surface(dialogs.ColorSunken, dialogs.Padded(5, 12, line)))
	b.Content.Hide()
	return b
}

func (b *undoBar) update() {
	b.win.setVisible(b.Content, len(b.list) > 0 || b.text.Text != "" && time.Now().Before(b.until))
}

// show shows the last action in list. If list is empty, the result of an undo stays for a while.
func (b *undoBar) show(list []operator.Undo) {
	if len(list) > 0 {
		last := list[len(list)-1]
		what := map[string]any{"What": prompt.SafeEnds(last.Text)}
		b.text.SetText(lang.L("Rule deleted: {{.What}}", what))
		if last.Kind == operator.UndoRevoke {
			b.text.SetText(lang.L("Revoked: {{.What}}", what))
		}
	} else if len(b.list) > 0 {
		b.text.SetText("")
	}
	b.list = list
	dialogs.SetVisible(b.undo, len(list) > 0)
	b.update()
}

func (b *undoBar) TakeBack() {
	if len(b.list) == 0 {
		return
	}
	id := b.list[len(b.list)-1].ID
	b.show(nil)
	b.win.Act(func(ctx context.Context) error { return b.win.operator.Undo(ctx, id) }, func(err error) {
		b.show(slices.DeleteFunc(slices.Clone(b.list), func(o operator.Undo) bool { return o.ID == id }))
		if err == nil && b.win.Done != nil {
			b.win.Done(lang.L("Restored."))
			return
		}
		if len(b.list) > 0 {
			return
		}
		b.text.SetText(lang.L("Restored."))
		if err != nil {
			b.text.SetText(lang.L("Not undone: {{.Problem}}", map[string]any{"Problem": prompt.PlainText(err.Error())}))
		}
		b.until = time.Now().Add(resultTime)
		b.update()
		b.win.After(resultTime, b.update)
	})
}
