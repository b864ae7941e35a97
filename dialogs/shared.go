package dialogs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/policy"
)

// Here is what nod's other windows take from its look, so that all of them look the same.

// The colours of [Theme] that nod's other windows use.
const (
	ColorSunken = colorSunken // ground that steps back
	ColorMuted  = colorMuted  // second-rank text
	ColorPaper  = colorPaper  // behind text that is shown exactly
)

// EffectColor is the colour that goes with an effect, always beside its name.
func EffectColor(e policy.Effect) fyne.ThemeColorName {
	switch e {
	case policy.Allow:
		return theme.ColorNameSuccess
	case policy.Deny:
		return theme.ColorNameError
	}
	return theme.ColorNameWarning
}

// ClassColor is the colour that goes with a class of tools, always beside its name.
func ClassColor(c policy.Class) fyne.ThemeColorName { return classColor(c) }

// Badge is a short word on a tinted ground.
func Badge(s string, c fyne.ThemeColorName) fyne.CanvasObject { return newBadge(s, c) }

// Card is an area with a line around it and round corners.
func Card(fill fyne.ThemeColorName, content fyne.CanvasObject) fyne.CanvasObject {
	return newCard(fill, colorHairline, content)
}

// Surface is a coloured area behind some content.
func Surface(fill fyne.ThemeColorName, content fyne.CanvasObject) fyne.CanvasObject {
	return newSurface(fill, content)
}

// Words are one line of text that does not wrap.
func Words(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) fyne.CanvasObject {
	return newWords(s, size, c)
}

// BoldWords are Words in bold.
func BoldWords(s string, size fyne.ThemeSizeName, c fyne.ThemeColorName) fyne.CanvasObject {
	return newWords(s, size, c).bold()
}

// Lines is a paragraph that wraps, with Fyne's padding round it; [Tight] takes that off.
func Lines(s string, size fyne.ThemeSizeName, importance widget.Importance) *widget.Label {
	return newLines(s, size, importance)
}

// Tight takes the padding off a Label.
func Tight(o fyne.CanvasObject) fyne.CanvasObject { return tight(o) }

// Padded keeps a distance around o: v above and below, h left and right.
func Padded(v, h float32, o fyne.CanvasObject) fyne.CanvasObject { return padded(v, h, o) }

// Column puts objects under one another, gap apart; paragraphs among them wrap.
func Column(gap float32, o ...fyne.CanvasObject) *fyne.Container { return column(gap, o...) }

// Row puts objects side by side, gap apart, each in the middle of the height.
func Row(gap float32, o ...fyne.CanvasObject) *fyne.Container { return row(gap, o...) }

// Diff shows what becomes of a text, exactly, as a prompt does. It calls seen, once, when all of it has been
// in view.
func Diff(before, after string, seen func()) fyne.CanvasObject {
	s := newSheet(newDiff(before, after).lines(), after)
	s.onSeen = seen
	return s
}

// Rule is a hairline across its container.
func Rule() fyne.CanvasObject { return newRule() }
