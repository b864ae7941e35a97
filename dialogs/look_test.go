package dialogs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"nod/assets"
	"nod/dialogs/dialogstest"
)

// setLook gives the test's windows a look: light, dark, or zh-CN, which is light in Chinese.
func setLook(t *testing.T, look string) {
	t.Helper()
	if look == dialogstest.Chinese {
		dialogstest.Speak(t, look)
		look = "light"
	}
	test.ApplyTheme(t, dialogstest.Fonts(Theme(look)))
}

// translations returns the sentences of one language.
func translations(t *testing.T, language string) map[string]string {
	t.Helper()
	sentences, err := assets.Sentences(language)
	if err != nil {
		t.Fatal(err)
	}
	return sentences
}

func TestTranslationsFillInTheSame(t *testing.T) {
	for key, translated := range translations(t, "zh-CN") {
		if got, want := positionsOf(translated), positionsOf(key); !slices.Equal(got, want) {
			t.Errorf("zh-CN: %q fills in %v, want %v", translated, got, want)
		}
	}
}

// positionsOf lists the places of a sentence that values fill.
func positionsOf(s string) []string {
	var places []string
	for _, part := range strings.Split(s, "{{")[1:] {
		place, _, _ := strings.Cut(part, "}}")
		places = append(places, place)
	}
	slices.Sort(places)
	return places
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
	for _, text := range slices.Concat(wishes(t), riskTexts(t)) {
		found[text] = text
	}
	return found
}

// wishes are what a head says that agents want.
func wishes(t *testing.T) (texts []string) {
	t.Helper()
	source, err := os.ReadFile("prompt/head.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`"(wants to .+?)"`).FindAllStringSubmatch(string(source), -1) {
		texts = append(texts, found[1])
	}
	return texts
}

// riskTexts are what the policy may say of a call: in its data, and in its own words.
func riskTexts(t *testing.T) (texts []string) {
	t.Helper()
	data := regexp.MustCompile(`(?m)^(?:(?:danger|caution|note) (.+)|\[(.+)\])$`)
	code := regexp.MustCompile(`"([A-Z][a-z]+ [^"\\]+|[A-Z][a-z]+: [^"\\]+|nod [^"\\]+)"`)
	for name, pattern := range map[string]*regexp.Regexp{
		"shell/programs/risks.txt": data, "names/guarded.txt": data, "names/notable.txt": data,
		"risk.go": code, "shell/assess.go": code,
	} {
		text, err := os.ReadFile("../policy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := pattern.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Fatalf("%s tells nothing", name)
		}
		for _, m := range found {
			if text := m[1]; text != "" {
				texts = append(texts, text)
			} else {
				texts = append(texts, m[2]+": {{.What}}")
			}
		}
	}
	return texts
}

// The images in Chinese are drawn with a font of few characters: those of the sentences in them.
func TestTestFontHasEveryCharacter(t *testing.T) {
	zh := translations(t, "zh-CN")
	setLook(t, "zh-CN")
	for _, s := range sentences(t) {
		for _, r := range zh[s] {
			missing := fyne.MeasureText(string(r), 14, fyne.TextStyle{}) == fyne.MeasureText("\U0010fffd", 14, fyne.TextStyle{})
			if r > 0x2fff && missing {
				t.Errorf("no glyph for %q of %q: run dialogstest/fonts/make.sh", r, zh[s])
			}
		}
	}
}

func TestRisksAreTranslated(t *testing.T) {
	zh := translations(t, "zh-CN")
	for _, text := range riskTexts(t) {
		if zh[text] == "" {
			t.Errorf("zh-CN lacks %q", text)
		}
	}
}

// Chinese has few spaces: a paragraph that only broke at them would leave most of a line empty.
func TestChineseFillsItsLines(t *testing.T) {
	setLook(t, "zh-CN")
	const text = "代理可在此读取而无需询问。Git 仓库无需信任：会查看其配置，若其中指定了程序则会询问。"
	byWord, l := widget.NewLabel(text), Lines(text, theme.SizeNameText, widget.MediumImportance)
	byWord.Wrapping = fyne.TextWrapWord
	var heights [2]float32 // of all widths
	for width := float32(160); width < 400; width += 10 {
		for i, o := range []fyne.CanvasObject{byWord, l} {
			heights[i] += resizeToWidth(o, width)
		}
	}
	if heights[1] >= heights[0] {
		t.Errorf("paragraphs are %v high, and %v if they break at spaces", heights[1], heights[0])
	}
}
