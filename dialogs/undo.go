package dialogs

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/ipc/operator"
)

// maxUndoText is the largest number of characters shown of an action that can be undone.
const maxUndoText = 48

func undoWords(u operator.Undo) string {
	v := values{"What": shortText(u.Text, maxUndoText)}
	switch u.Kind {
	case operator.UndoKeep:
		return tr("Saved: {{.What}}", v)
	case operator.UndoRevoke:
		return tr("Revoked: {{.What}}", v)
	}
	return tr("Rule deleted: {{.What}}", v)
}

func undoneWords(u operator.Undo) string {
	if u.Kind == operator.UndoKeep {
		return tr("Removed. The call that was allowed already ran.")
	}
	return tr("Restored.")
}

// TakeBack undoes the action with that id. It must not block, and calls done on the UI goroutine.
type TakeBack func(id int, done func(error))

// UndoBar is a line with the last action that can be undone, and its button.
type UndoBar struct {
	Content fyne.CanvasObject

	takeBack TakeBack
	latest   operator.Undo // its ID is 0 if there is none
	text     *widget.Label
	undo     fyne.CanvasObject
}

// NewUndoBar returns an empty bar.
func NewUndoBar(takeBack TakeBack) *UndoBar {
	b := &UndoBar{takeBack: takeBack, text: Lines("", theme.SizeNameCaptionText, widget.MediumImportance)}
	b.text.Wrapping, b.text.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	b.undo = widget.NewButton(tr("Undo")+"  "+commandName()+"+Z", b.TakeBack)
	line := container.NewBorder(nil, nil, nil, b.undo, container.NewVBox(
		layout.NewSpacer(), Tight(b.text), layout.NewSpacer()))
	b.Content = Column(0, Rule(), Surface(ColorSunken, Padded(5, 12, line)))
	b.Show(nil)
	return b
}

// Show shows the last action in list. If list is empty, the result of an undo stays.
func (b *UndoBar) Show(list []operator.Undo) {
	was := b.latest
	b.latest = operator.Undo{}
	if len(list) > 0 {
		b.latest = list[len(list)-1]
		b.text.SetText(undoWords(b.latest))
	} else if was.ID != 0 {
		b.text.SetText("")
	}
	setVisible(b.undo, b.latest.ID != 0)
}

// TakeBack undoes the action that the bar shows.
func (b *UndoBar) TakeBack() {
	done := b.latest
	if done.ID == 0 {
		return
	}
	b.Show(nil)
	b.takeBack(done.ID, func(err error) {
		switch {
		case b.latest.ID != 0:
		case err != nil:
			b.text.SetText(tr("Not undone: {{.Problem}}", values{"Problem": prompt.PlainText(err.Error())}))
		default:
			b.text.SetText(undoneWords(done))
		}
	})
}

// SetUndos sets the actions that can be undone, newest last. It skips those of the settings, which offers them itself.
func (p *Prompter) SetUndos(list []operator.Undo) {
	list = slices.DeleteFunc(slices.Clone(list), func(u operator.Undo) bool { return !u.OfPrompt() })
	p.post(func() {
		if len(list) > 0 {
			p.ensureWindow()
		}
		if p.window != nil {
			p.strip.set(list)
			p.notifyChanged()
		}
	})
}
