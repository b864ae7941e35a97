package dialogs

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
	"nod/ipc/operator"
)

const maxUndoText = 48

func undoWords(u operator.Undo) string {
	v := values{"What": shortText(u.Text, maxUndoText)}
	if u.Kind == operator.UndoRevoke {
		return tr("Revoked: {{.What}}", v)
	}
	return tr("Rule deleted: {{.What}}", v)
}

// resultTime is how long the result of an undo is shown.
const resultTime = 5 * time.Second

// UndoBar is a line with the last action that can be undone, and its button. It is hidden while there is none.
type UndoBar struct {
	Content fyne.CanvasObject

	takeBack func(id int, done func(error))
	after    func(time.Duration, func()) // runs a function on the UI goroutine after a delay
	list     []operator.Undo
	until    time.Time // until then the result of an undo is shown
	text     *widget.Label
	undo     fyne.CanvasObject
}

// NewUndoBar returns an empty bar. takeBack undoes an action without blocking, and calls done on the UI goroutine.
// after runs a function on the UI goroutine after a delay.
func NewUndoBar(takeBack func(id int, done func(error)), after func(time.Duration, func())) *UndoBar {
	b := &UndoBar{takeBack: takeBack, after: after}
	b.text = Lines("", theme.SizeNameCaptionText, widget.MediumImportance)
	b.text.Wrapping, b.text.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	b.undo = widget.NewButton(tr("Undo")+"  "+commandName()+"+Z", b.TakeBack)
	line := container.NewBorder(nil, nil, nil, b.undo, container.NewVBox(
		layout.NewSpacer(), Tight(b.text), layout.NewSpacer()))
	b.Content = Column(0, Rule(), Surface(ColorSunken, Padded(5, 12, line)))
	b.Show(nil)
	return b
}

func (b *UndoBar) update() {
	SetVisible(b.Content, len(b.list) > 0 || b.text.Text != "" && time.Now().Before(b.until))
}

// Show shows the last action in list. If list is empty, the result of an undo stays for a while.
func (b *UndoBar) Show(list []operator.Undo) {
	if len(list) > 0 {
		b.text.SetText(undoWords(list[len(list)-1]))
	} else if len(b.list) > 0 {
		b.text.SetText("")
	}
	b.list = list
	SetVisible(b.undo, len(list) > 0)
	b.update()
}

func (b *UndoBar) TakeBack() {
	if len(b.list) == 0 {
		return
	}
	u := b.list[len(b.list)-1]
	b.Show(nil)
	b.takeBack(u.ID, func(err error) {
		b.Show(slices.DeleteFunc(slices.Clone(b.list), func(o operator.Undo) bool { return o.ID == u.ID }))
		if len(b.list) > 0 {
			return
		}
		b.text.SetText(tr("Restored."))
		if err != nil {
			b.text.SetText(tr("Not undone: {{.Problem}}", values{"Problem": prompt.PlainText(err.Error())}))
		}
		b.until = time.Now().Add(resultTime)
		b.update()
		b.after(resultTime, b.update)
	})
}
