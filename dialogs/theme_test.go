package dialogs

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// luminance is the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	part := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(n.R) + 0.7152*part(n.G) + 0.0722*part(n.B)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// ground is a background: a colour of the theme with tints on it.
type ground struct {
	under fyne.ThemeColorName
	tints []tinted
}

type tinted struct {
	name  fyne.ThemeColorName
	alpha uint8
}

func on(under fyne.ThemeColorName, tints ...tinted) ground { return ground{under, tints} }

// Text is readable: level AA of WCAG 2 requires a contrast of 4.5 to 1 of each text with each of its backgrounds.
func TestContrast(t *testing.T) {
	test.NewTempApp(t)
	type names = []fyne.ThemeColorName
	texts := names{
		theme.ColorNameForeground, theme.ColorNameDisabled, theme.ColorNamePlaceHolder, theme.ColorNameError,
		theme.ColorNameWarning, theme.ColorNameSuccess, theme.ColorNameHyperlink, theme.ColorNamePrimary, ColorMuted,
	}
	code := names{
		theme.ColorNameForeground, ColorMuted, colorKeyword, colorName, colorVariable, colorString, colorNumber, colorComment,
	}
	badges := names{
		colorWrite, colorNetwork,
		theme.ColorNameSuccess, theme.ColorNameWarning, theme.ColorNameError, ColorMuted, theme.ColorNamePrimary,
	}
	type surface struct {
		on    ground
		texts names
	}
	surfaces := []surface{
		{on(theme.ColorNamePrimary), names{theme.ColorNameForegroundOnPrimary}},
		{on(theme.ColorNameError), names{theme.ColorNameForegroundOnError}},
		{on(theme.ColorNameSuccess), names{theme.ColorNameForegroundOnSuccess}},
		{on(theme.ColorNameWarning), names{theme.ColorNameForegroundOnWarning}},
		{on(theme.ColorNameButton), names{theme.ColorNameForeground, ColorMuted, theme.ColorNameDisabled}},
		{on(theme.ColorNameDisabledButton), names{theme.ColorNameDisabled}},
	}
	papers := names{
		theme.ColorNameBackground, ColorSunken, ColorPaper, theme.ColorNameInputBackground,
		theme.ColorNameMenuBackground, theme.ColorNameOverlayBackground,
	}
	for _, under := range papers {
		surfaces = append(surfaces, surface{on(under), texts},
			surface{on(under, tinted{theme.ColorNameSelection, 0xff}), names{theme.ColorNameForeground}},
			surface{on(under, tinted{theme.ColorNameHover, 0xff}), texts},
			surface{on(under, tinted{theme.ColorNameError, 0x1c}), names{theme.ColorNameError, theme.ColorNameForeground}},
			surface{on(under, tinted{theme.ColorNameWarning, 0x1c}),
				names{theme.ColorNameWarning, theme.ColorNameForeground, ColorMuted, theme.ColorNameDisabled}})
		for _, b := range badges {
			surfaces = append(surfaces, surface{on(under, tinted{b, 0x22}), names{b}})
		}
	}
	surfaces = append(surfaces, surface{on(colorAccent), texts})

	// What a sheet shows: plain, selected, and as it comes or goes, with the words that change.
	grounds := []ground{on(ColorPaper), on(ColorPaper, tinted{theme.ColorNameSelection, 0xff})}
	for style, name := range changeColors {
		line := on(ColorPaper, tinted{name, changedLineTint})
		word := on(ColorPaper, tinted{name, changedLineTint}, tinted{name, changedWordTint})
		grounds = append(grounds, line, word)
		surfaces = append(surfaces, surface{line, names{changeColors[style]}}) // the number and the sign
	}
	for _, g := range grounds {
		surfaces = append(surfaces, surface{g, code})
	}
	for name, alpha := range oddTints {
		surfaces = append(surfaces, surface{on(ColorPaper, tinted{name, alpha}), names{name}})
	}

	for _, name := range []string{"light", "dark"} {
		th := Theme(name)
		at := func(n fyne.ThemeColorName) color.Color { return th.Color(n, theme.VariantLight) }
		for _, s := range surfaces {
			under := at(s.on.under)
			for _, over := range s.on.tints {
				c := color.NRGBAModel.Convert(at(over.name)).(color.NRGBA)
				under = mix(under, c, float32(over.alpha)/0xff*float32(c.A)/0xff)
			}
			for _, text := range s.texts {
				if got := contrast(at(text), under); got < 4.5 {
					t.Errorf("%s: %s on %v: %.2f to 1", name, text, s.on, got)
				}
			}
		}
	}
}

// The texts of buttons are readable, also while the buttons are disabled.
func TestContrastOfButtons(t *testing.T) {
	for _, name := range []string{"light", "dark"} {
		test.NewTempApp(t)
		test.ApplyTheme(t, Theme(name))
		for _, look := range []buttonLook{plainButton, strongButton, quietButton} {
			for _, ready := range []bool{false, true} {
				for _, hovered := range []bool{false, true} {
					b := &button{look: look, ready: ready}
					b.hovered = hovered
					fill, ink := b.colors()
					if fill == color.Transparent {
						continue // on its ground, like any text
					}
					for what, c := range map[string]color.Color{"label": ink, "hint": b.hintColor(fill, ink)} {
						if got := contrast(c, fill); got < 4.5 {
							t.Errorf("%s: look %d, ready %v, hovered %v: %s %.2f to 1", name, look, ready, hovered, what, got)
						}
					}
				}
			}
		}
	}
}

// Input fields, such as an empty check box, are visible: WCAG 2 requires a contrast of 3 to 1.
func TestContrastOfBorders(t *testing.T) {
	for _, name := range []string{"light", "dark"} {
		test.NewTempApp(t)
		test.ApplyTheme(t, Theme(name))
		of := func(n fyne.ThemeColorName) color.Color { return Theme(name).Color(n, theme.VariantLight) }
		for _, under := range []fyne.ThemeColorName{theme.ColorNameBackground, ColorSunken, theme.ColorNameInputBackground,
			theme.ColorNameOverlayBackground} {
			for _, border := range []fyne.ThemeColorName{theme.ColorNameInputBorder, theme.ColorNamePrimary} {
				if got := contrast(of(border), of(under)); got < 3 {
					t.Errorf("%s: %s on %s %.2f to 1", name, border, under, got)
				}
			}
		}
	}
}

func TestThemeFollowsTheSystemUnlessForced(t *testing.T) {
	test.NewTempApp(t)
	ground := func(name string, v fyne.ThemeVariant) color.Color {
		return Theme(name).Color(theme.ColorNameBackground, v)
	}
	light, dark := palette[theme.ColorNameBackground].light, palette[theme.ColorNameBackground].dark
	for _, test := range []struct {
		name    string
		variant fyne.ThemeVariant
		want    color.Color
	}{
		{"system", theme.VariantLight, light}, {"system", theme.VariantDark, dark},
		{"light", theme.VariantDark, light}, {"dark", theme.VariantLight, dark},
	} {
		if got := ground(test.name, test.variant); got != test.want {
			t.Errorf("%s on a system with variant %d: %v, want %v", test.name, test.variant, got, test.want)
		}
	}
}

// The fonts are Fyne's, whatever the environment says: an agent that sets FYNE_FONT must not choose how letters look.
// Fyne's default theme would read it.
func TestFontsAreFynesOwn(t *testing.T) {
	for style, want := range map[fyne.TextStyle]string{
		{}:                         "NotoSans-Regular.ttf",
		{Bold: true}:               "NotoSans-Bold.ttf",
		{Italic: true}:             "NotoSans-Italic.ttf",
		{Bold: true, Italic: true}: "NotoSans-BoldItalic.ttf",
		{Monospace: true}:          "DejaVuSansMono-Powerline.ttf",
	} {
		if got := Theme("light").Font(style).Name(); got != want {
			t.Errorf("%+v: %s, want %s", style, got, want)
		}
	}
}
