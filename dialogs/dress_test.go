package dialogs

import (
	"embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"nod/assets"
)

//go:embed testdata/fonts/*.otf
var testFonts embed.FS

// dress gives the test's windows a look: light, dark, or zh-CN, which is light in Chinese.
func dress(t *testing.T, look string) {
	t.Helper()
	if look != "zh-CN" {
		test.ApplyTheme(t, Theme(look))
		return
	}
	speak(t, "zh-CN")
	test.ApplyTheme(t, chinese{
		Theme:   Theme("light"),
		regular: testFont(t, "NotoSansSC-Regular.otf"),
		bold:    testFont(t, "NotoSansSC-Bold.otf"),
	})
}

// chinese is a theme whose fonts have the Chinese characters that the images need and nothing else, so that
// Latin letters still come from Fyne's own. On a desktop the Chinese ones come from the system.
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

func testFont(t *testing.T, name string) fyne.Resource {
	t.Helper()
	b, err := testFonts.ReadFile("testdata/fonts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return fyne.NewStaticResource(name, b)
}

// translations returns the sentences of one language.
func translations(t *testing.T, language string) map[string]string {
	t.Helper()
	b, err := assets.Translations.ReadFile("translations/" + language + ".json")
	if err != nil {
		t.Fatal(err)
	}
	sentences := map[string]string{}
	if err := json.Unmarshal(b, &sentences); err != nil {
		t.Fatal(err)
	}
	return sentences
}

func TestLanguagesHaveTheSameSentences(t *testing.T) {
	en, zh := translations(t, "en"), translations(t, "zh-CN")
	for _, key := range slices.Sorted(maps.Keys(en)) {
		if en[key] != key {
			t.Errorf("en: %q is translated as %q", key, en[key])
		}
		if zh[key] == "" {
			t.Errorf("zh-CN has no %q", key)
		}
		if got, want := placesOf(zh[key]), placesOf(key); !slices.Equal(got, want) {
			t.Errorf("zh-CN: %q fills in %v, want %v", zh[key], got, want)
		}
	}
	for key := range zh {
		if _, known := en[key]; !known {
			t.Errorf("en has no %q", key)
		}
	}
}

// placesOf lists the places of a sentence that values fill.
func placesOf(s string) []string {
	var places []string
	for _, part := range strings.Split(s, "{{")[1:] {
		place, _, _ := strings.Cut(part, "}}")
		places = append(places, place)
	}
	slices.Sort(places)
	return places
}

func TestEverySentenceIsTranslated(t *testing.T) {
	en := translations(t, "en")
	for where, sentence := range sentences(t) {
		if _, known := en[sentence]; !known {
			t.Errorf("%s: %q is in no language file", where, sentence)
		}
	}
}

// sentences finds the literal sentences of this package that are translated, by where they are.
func sentences(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "tr" {
				return true
			}
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				s, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[fmt.Sprint(set.Position(lit.Pos()))] = s
			}
			return true
		})
	}
	for _, d := range deeds {
		found[d.deed.sentence] = d.deed.sentence
	}
	return found
}

// The images in Chinese are drawn with a font of few characters: those of the sentences in them.
func TestTestFontHasEveryCharacter(t *testing.T) {
	zh := translations(t, "zh-CN")
	names, err := fs.Glob(testFonts, "testdata/fonts/*.otf")
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	dress(t, "zh-CN")
	for _, s := range sentences(t) {
		for _, r := range zh[s] {
			missing := fyne.MeasureText(string(r), 14, fyne.TextStyle{}) == fyne.MeasureText("\U0010fffd", 14, fyne.TextStyle{})
			if r > 0x2fff && missing {
				t.Errorf("no glyph for %q of %q: run testdata/fonts/make.sh", r, zh[s])
			}
		}
	}
}
