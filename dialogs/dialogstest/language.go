package dialogstest

import (
	"embed"
	"testing"

	"fyne.io/fyne/v2"

	"nod/assets"
)

// Chinese is the language of which the images show that windows have room for another than English.
const Chinese = "zh-CN"

// spoken is the language that nod speaks.
var spoken = "en"

// Speak has nod speak a language until the end of the test.
func Speak(t testing.TB, language string) {
	t.Helper()
	set := func(language string) {
		if err := assets.SetLanguage(language); err != nil {
			t.Fatal(err)
		}
		spoken = language
	}
	set(language)
	t.Cleanup(func() { set("en") })
}

// Fonts is a theme with the fonts that the language needs which nod speaks. Those for Chinese have the characters that
// the images need and nothing else, so that Latin letters still come from Fyne's own; on a desktop they come from the
// system, and images must not depend on that.
func Fonts(of fyne.Theme) fyne.Theme {
	if spoken != Chinese {
		return of
	}
	return chinese{Theme: of, regular: Font("NotoSansSC-Regular.otf"), bold: Font("NotoSansSC-Bold.otf")}
}

//go:embed fonts/*.otf
var fonts embed.FS

// Font is one of the fonts that fonts/make.sh makes.
func Font(name string) fyne.Resource {
	text, err := fonts.ReadFile("fonts/" + name)
	if err != nil {
		panic(err)
	}
	return fyne.NewStaticResource(name, text)
}

type chinese struct {
	fyne.Theme
	regular, bold fyne.Resource
}

// Font implements [fyne.Theme].
func (c chinese) Font(s fyne.TextStyle) fyne.Resource {
	switch {
	case s.Monospace:
		return c.Theme.Font(s)
	case s.Bold:
		return c.bold
	}
	return c.regular
}
