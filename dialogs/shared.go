package dialogs

import (
	"fyne.io/fyne/v2"

	"nod/dialogs/prompt"
)

// The other windows use these, so that all of nod looks the same.

// Words is one line of text that does not wrap.
func Words(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) fyne.CanvasObject {
	return newWords(s, size, c)
}

// BoldWords is Words in bold.
func BoldWords(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) fyne.CanvasObject {
	return newWords(s, size, c).bold()
}

// Diff shows the change of a text exactly, as a prompt does. It calls seen once all of it has been in view.
func Diff(before, after string, seen func()) fyne.CanvasObject {
	s := newSheet(prompt.NewDiff(before, after).Lines(""), after)
	s.onSeen = func() {
		if s.read && s.unread == 0 && seen != nil {
			seen()
		}
	}
	return s
}
