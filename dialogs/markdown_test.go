package dialogs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/dialogs/prompt"
)

// texts returns the text in o, and its links.
func texts(o fyne.CanvasObject, links *[]*widget.HyperlinkSegment) string {
	var b strings.Builder
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			if s := texts(c, links); s != "" {
				b.WriteString(s + "|")
			}
		}
		return strings.TrimSuffix(b.String(), "|")
	case *surface:
		return texts(o.content, links)
	case *linkedText:
		return texts(&o.RichText, links)
	case *widget.RichText:
		for _, s := range o.Segments {
			b.WriteString(s.Textual())
			if link, ok := s.(*widget.HyperlinkSegment); ok && links != nil {
				*links = append(*links, link)
			}
		}
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	for _, tt := range []struct {
		name, in, want string
		links          int
	}{
		{"plain", "hello", "hello", 0},
		{"bold", "a **b** *c* `d`", "a b c d", 0},
		{"heading", "# T\ntext", "T|text", 0},
		{"list", "- a\n- b\n  - c", "•|a|•|b|•|c", 0},
		{"numbers", "3. a\n4. b", "3.|a|4.|b", 0},
		{"quote", "> a", "a", 0},
		{"line breaks", "a\nb", "a\nb", 0},
		{"code", "```sh\nrm -rf /\n```", "rm -rf /", 0},
		{"escapes", `\*a\* \<b>`, "*a* <b>", 0},
		{"link", "[here](https://example.com/x)", "here (https://example.com/x)", 1},
		{"link that lies", "[https://good.example](https://evil.example)", "https://good.example (https://evil.example)", 1},
		{"bare link", "<https://example.com>", "https://example.com", 1},
		{"file", "[x](file:///etc/passwd)", "x (file:///etc/passwd)", 0},
		{"script", "[x](javascript:alert(1))", "x (javascript:alert(1))", 0},
		{"user name", "[x](https://good.example@evil.example)", "x (https://good.example@evil.example)", 0},
		{"hidden in a link", "[x](<https://a.example/\u202e>)", "x (https://a.example/‹U+202E›)", 0},
		{"image", "![alt](http://tracker.example/p.png)", "alt (http://tracker.example/p.png)", 0},
		{"reference", "[x][r]\n\n[r]: https://example.com", "x (https://example.com)|[r]: https://example.com", 1},
		{"HTML", "<b>x</b>", "<b>x</b>", 0},
		{"HTML block", "<script>\nalert(1)\n</script>", "<script>\nalert(1)\n</script>", 0},
		{"comment", "a <!-- hidden --> b", "a <!-- hidden --> b", 0},
		{"entity", "&lt;b&gt; &#x202e;", "&lt;b&gt; &#x202e;", 0},
		{"task", "- [ ] **bold**\n- [x] done", "•|[ ] bold|•|[x] done", 0},
		{"struck out", "~~no~~ ~~`x`~~", "~~no~~ ~~x~~", 0},
		{"table", "|a|b|\n|-|:-:|\n|**1**|[x](https://example.com)|\n|3|", "a|b|1|x (https://example.com)|3", 1},
		{"table with odd text", "|a|\n|-|\n|\u202e ‹|", "a|‹U+202E› ‹U+2039›", 0},
		{"wide table", "|" + strings.Repeat("a|", 9) + "\n|" + strings.Repeat("-|", 9) + "\n|" + strings.Repeat("b|", 9),
			"|" + strings.Repeat("a|", 9) + "\n|" + strings.Repeat("b|", 9), 0},
		{"hidden", "a\u202eb", "a‹U+202E›b", 0},
		{"hidden in code", "`a\u00a0b`", "a‹U+00A0›b", 0},
		{"French", "Oui\u00a0?", "Oui ?", 0},
		{"empty", "", "", 0},
		{"only a link definition", "[r]: https://example.com", "[r]: https://example.com", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var links []*widget.HyperlinkSegment
			if got := texts(newMarkdown(&window{}, tt.in), &links); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if len(links) != tt.links {
				t.Errorf("%d links, want %d", len(links), tt.links)
			}
			for _, l := range links {
				if l.URL != nil || l.OnTapped == nil {
					t.Error("the link opens without asking")
				}
			}
		})
	}
}

func TestNoLinkOpensOutsideAPrompt(t *testing.T) {
	test.NewTempApp(t)
	var links []*widget.HyperlinkSegment
	if got := texts(newMarkdown(nil, "<https://example.com>"), &links); got != "https://example.com" || len(links) > 0 {
		t.Errorf("%q, %d links", got, len(links))
	}
}

func TestNumbersOfAListFitOnOneLine(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	short, long := newMarkdown(nil, "1. a\n2. b"), newMarkdown(nil, "999. a\n1000. b")
	short.Resize(fyne.NewSize(400, 400))
	long.Resize(fyne.NewSize(400, 400))
	if got, want := long.MinSize().Height, short.MinSize().Height; got != want {
		t.Errorf("a list with large numbers is %v high, one with small numbers %v", got, want)
	}
}

func TestMarkdownHasLimits(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	for name, in := range map[string]string{
		"long":     strings.Repeat("word ", prompt.MaxMarkdownBytes),
		"deep":     strings.Repeat("> ", 2000) + "x",
		"nested":   strings.Repeat("*a **b ", 500),
		"brackets": strings.Repeat("[", 5000),
		"blocks":   strings.Repeat("- a\n\n", 3000),
		"rows":     "|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", 3000),
		"cells":    "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000),
	} {
		if o := newMarkdown(&window{}, in); o == nil {
			t.Errorf("%s: nothing", name)
		}
	}
	if got := texts(newMarkdown(&window{}, strings.Repeat("> ", 40)+"deep"), nil); !strings.Contains(got, "deep") {
		t.Errorf("what is too deep got lost: %q", got)
	}
}

// FuzzMarkdown: no text panics, and none makes an object that could load anything.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		question, "- [ ] **bold**", "- [x] [l](u)", "- [ ] <b>", "![](http://x/y.png)", "[a]: b\n[a]", "***a***",
		"|a|b|\n|-|-:|\n|1|2|\n", "- a\n\n  |c|\n  |-|", "|a\n|-\n", "- [ ]\n\n      x",
		"1) x\n   ```",
	} {
		f.Add(s)
	}
	test.NewApp().Settings().SetTheme(Theme("light"))
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			t.Skip()
		}
		o := newMarkdown(&window{}, s)
		o.Resize(fyne.NewSize(400, o.MinSize().Height))
		checkInert(t, o)
	})
}

// checkInert fails if o contains a picture, or a link that opens without asking.
func checkInert(t *testing.T, o fyne.CanvasObject) {
	t.Helper()
	switch o := o.(type) {
	case *canvas.Image, *widget.Icon:
		t.Errorf("a %T", o)
	case *fyne.Container:
		for _, c := range o.Objects {
			checkInert(t, c)
		}
	case *surface:
		checkInert(t, o.content)
	case *linkedText:
		checkInert(t, &o.RichText)
	case *widget.RichText:
		for _, s := range o.Segments {
			switch s := s.(type) {
			case *widget.TextSegment:
			case *widget.HyperlinkSegment:
				if s.URL != nil || s.OnTapped == nil {
					t.Errorf("the link %q opens without asking", s.Text)
				}
			default:
				t.Errorf("a %T", s)
			}
		}
	}
}

// Fyne's own Markdown loads pictures and panics on some lists. nod must not use it.
func TestNobodyUsesFynesMarkdown(t *testing.T) {
	forbidden := []string{"RichText" + "FromMarkdown", "Parse" + "Markdown("}
	checked := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		checked++
		for _, name := range forbidden {
			if strings.Contains(string(source), name) {
				t.Errorf("%s uses %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 10 {
		t.Errorf("only %d files were looked at", checked)
	}
}
