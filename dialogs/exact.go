package dialogs

import "nod/dialogs/prompt"

// newRawView shows an input as JSON, with line breaks and indentation between its parts, and nothing changed within
// them. Invalid JSON is shown unchanged.
func newRawView(raw []byte) *sheet {
	return newSheet(prompt.RawLines(raw), string(raw))
}
