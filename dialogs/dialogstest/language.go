package dialogstest

import (
	"embed"
	"testing"

	"fyne.io/fyne/v2"

	"nod/assets"
)

// Chinese is the second language of images, which shows that translations fit.
const Chinese = "zh-CN"

var spoken = "en"

// Speak switches to a language until the test ends.
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

// Fonts adds the fonts for the current language to a theme. Those for Chinese have only the characters of the images,
// so that Latin letters still come from Fyne; a desktop would use system fonts, on which images must not depend.
func Fonts(of fyne.Theme) fyne.Theme {
	if spoken != Chinese {
		return of
	}
	return chinese{Theme: of, regular: Font("NotoSansSC-Regular.otf"), bold: Font("NotoSansSC-Bold.otf")}
}

//go:embed fonts/*.otf
var fonts embed.FS

// Font returns one of the fonts that fonts/make.sh makes.
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

func (c chinese) Font(s fyne.TextStyle) fyne.Resource {
	switch {
	case s.Monospace:
		return c.Theme.Font(s)
	case s.Bold:
		return c.bold
	}
	return c.regular
}
