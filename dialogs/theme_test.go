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

// Text can be read: level AA of WCAG 2 wants a contrast of 4.5 to 1.
func TestContrast(t *testing.T) {
	test.NewTempApp(t)
	texts := []fyne.ThemeColorName{
		theme.ColorNameForeground, theme.ColorNameDisabled, theme.ColorNamePlaceHolder, theme.ColorNameError,
		theme.ColorNameHyperlink, ColorMuted,
	}
	grounds := []fyne.ThemeColorName{theme.ColorNameBackground, ColorSunken, ColorPaper, theme.ColorNameInputBackground}
	badges := []fyne.ThemeColorName{
		colorWrite, colorNetwork,
		theme.ColorNameSuccess, theme.ColorNameWarning, theme.ColorNameError, ColorMuted,
	}
	pairs := [][2]fyne.ThemeColorName{
		{theme.ColorNameForegroundOnPrimary, theme.ColorNamePrimary},
		{theme.ColorNameForegroundOnError, theme.ColorNameError},
		{theme.ColorNameForegroundOnSuccess, theme.ColorNameSuccess},
		{theme.ColorNameForegroundOnWarning, theme.ColorNameWarning},
		{theme.ColorNameForeground, theme.ColorNameButton},
		{theme.ColorNameForeground, colorAccent},
	}
	for _, a := range texts {
		for _, b := range grounds {
			pairs = append(pairs, [2]fyne.ThemeColorName{a, b})
		}
	}
	for _, name := range []string{"light", "dark"} {
		th := Theme(name)
		at := func(n fyne.ThemeColorName) color.Color { return th.Color(n, theme.VariantLight) }
		for _, p := range pairs {
			if got := contrast(at(p[0]), at(p[1])); got < 4.5 {
				t.Errorf("%s: %s on %s: %.1f to 1", name, p[0], p[1], got)
			}
		}
		for _, b := range badges {
			for _, under := range []fyne.ThemeColorName{theme.ColorNameBackground, ColorSunken} {
				ground := mix(at(under), at(b), float32(0x22)/0xff)
				if got := contrast(at(b), ground); got < 4.5 {
					t.Errorf("%s: badge %s on %s: %.1f to 1", name, b, under, got)
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

// The fonts are those that come with Fyne, whatever the environment names: an agent that sets FYNE_FONT must
// not choose how letters look. Fyne's own default theme would read it.
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
