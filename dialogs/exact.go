package dialogs

import "nod/dialogs/prompt"

// newRawView shows an input as indented JSON, with nothing changed within its parts; invalid JSON unchanged.
func newRawView(raw []byte) *sheet {
	return newSheet(prompt.RawLines(raw), string(raw))
}
