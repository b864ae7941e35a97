package dialogs

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/safetext"
)

// newRawView is the "whole input (JSON)" block.
func newRawView(raw []byte) fyne.CanvasObject {
	var b = json.RawMessage(raw)
	return widget.NewLabel(string(b))
}

// plainText makes one line of safe text for a label.
func plainText(s string) string { return safetext.OneLine(s, maxLabel) }

// maxLabel is the number of characters that a label shows of a requester's text before the visible cut.
const maxLabel = 300
