package dialogs

import "nod/dialogs/prompt"

// newRawView is the "whole input (JSON)" block: the input as it came, with line breaks and indentation
// between its parts. Within its parts nothing is changed. What is not JSON is shown as it is.
func newRawView(raw []byte) *sheet {
	return newSheet(prompt.RawLines(raw), string(raw))
}
