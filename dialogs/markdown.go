package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
)

// newMarkdown shows text as light, safe Markdown.
func newMarkdown(text string) fyne.CanvasObject {
	l := widget.NewLabel(safetext.OneLine(text, 1<<20))
	l.Wrapping = fyne.TextWrapWord
	return l
}
