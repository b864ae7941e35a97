package dialogs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"nod/dialogs/prompt"
	"nod/dialogs/safetext"
)

// inked writes the coloured parts of a text, each after the name of its colour.
func inked(text string, inks []prompt.Stretch) string {
	var parts []string
	for _, s := range inks {
		name := strings.ToLower(strings.TrimPrefix(string(s.Ink), "nod"))
		parts = append(parts, name+":"+text[s.From:s.To])
	}
	return strings.Join(parts, " ")
}

func TestShellColours(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"rm -rf build", "name:rm"},
		{"a && b | c; d &", "name:a keyword:&& name:b keyword:| name:c keyword:; name:d keyword:&"},
		{"echo 'x y' >out # end", "name:echo string:'x y' keyword:> comment:# end"},
		{`echo "a $B $(rm c)"`, `name:echo string:"a  variable:$B string:  keyword:$( name:rm keyword:) string:"`},
		{"X=1 make", "variable:X keyword:= name:make"},
		{"for f in *; do ls $f; done",
			"keyword:for keyword:in keyword:; keyword:do name:ls variable:$f keyword:; keyword:done"},
		{"cat <<E\nrm x\nE", "name:cat keyword:<< string:rm x\nE"},
		// What an editor takes for a comment or a string, and a shell executes.
		{`echo "a"#b; rm c`, `name:echo string:"a" keyword:; name:rm`},
		{`echo '\'; rm c #'`, `name:echo string:'\' keyword:; name:rm comment:#'`},
		{`echo \"; rm c #"`, `name:echo keyword:; name:rm comment:#"`},
		{"echo a#b; rm c", "name:echo keyword:; name:rm"},
		{"echo 'not closed", ""},
		{"for", ""},
	} {
		c := prompt.Code{Name: prompt.ShellCode, Text: tt.in}
		if got := inked(tt.in, inksIn(c)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestOnlyWhatAShellGetsIsColouredAsShell(t *testing.T) {
	test.NewTempApp(t)
	for words, want := range map[string]string{
		"/bin/bash -lc a;b": "name:a keyword:; name:b", "bash a;b x": "", "echo -c a;b": "", "bash -c x a;b": "",
	} {
		c := viewOf(call(t, "shell", object{"command": strings.Fields(words)}), in("/"))
		i := slices.IndexFunc(c.Lines, func(l prompt.Line) bool { return l.Text() == "a;b" })
		if got := inked("a;b", prompt.Colours(c.Lines, inksIn)[i]); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

func TestFileColours(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a/main.go", "func f() { return 1 } // x", "keyword:func name:f keyword:return number:1 comment:// x"},
		{"x.json", `{"a": "b"}`, `name:"a" string:"b"`},
		{"Makefile", "x = 1", "variable:x number:1"},
		{"nobody.knows", "func f()", ""},
		{"long.go", strings.Repeat("func", maxInkBytes/4) + "x", ""},
		{"bad.go", "func \xff", ""},
	} {
		if got := inked(tt.in, prompt.Colours(inCode(tt.name, tt.in), inksIn)[0]); got != tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// Colours do not change the drawn text, and odd characters keep their own colour.
func TestColoursChangeNoText(t *testing.T) {
	for _, text := range []string{
		"rm\u202e -rf\u200b \"größe \t日本\" # 🦊\u200d💻 pаypal" + strings.Repeat(" ", 40),
		strings.Repeat("echo 'a b c' && ", 40), "echo 'not closed", "a\r\nb\r\n\n\n\n\n\n\n\nc",
	} {
		test.NewTempApp(t)
		test.ApplyTheme(t, Theme("light"))
		s := newSheet(inCode(prompt.ShellCode, text), text)
		w := test.NewTempWindow(t, s)
		w.Resize(fyne.NewSize(400, 400))
		plain, _ := drawnTexts(s)
		s.colour()()
		coloured, odd := drawnTexts(s)
		if plain != coloured {
			t.Errorf("%q is drawn as\n%q, with colours as\n%q", text, plain, coloured)
		}
		if want := strings.Contains(text, "\u202e"); strings.Contains(odd, "U+202E") != want {
			t.Errorf("in the error colour: %q", odd)
		}
	}
}

// drawnTexts returns all text that a sheet draws, and the part in the error colour.
func drawnTexts(s *sheet) (all, odd string) {
	red := fmt.Sprint(colorOf(s, "error"))
	for _, o := range (pageRenderer{s.page}).Objects() {
		if text, ok := o.(*canvas.Text); ok {
			all += text.Text
			if fmt.Sprint(text.Color) == red {
				odd += text.Text
			}
		}
	}
	return all, odd
}

// BenchmarkFile lays out and draws a new file of 3,000 lines, with and without colours. Colours are computed on another
// goroutine and drawn on that of the UI.
func BenchmarkFile(b *testing.B) {
	test.NewApp().Settings().SetTheme(Theme("light"))
	text := strings.Repeat(goFile, 3000/strings.Count(goFile, "\n"))
	for _, steps := range []struct {
		name string
		do   func(s *sheet)
	}{
		{"plain", func(*sheet) {}},
		{"coloured", func(s *sheet) { s.colour()() }},
		{"scrolled", func(s *sheet) { scrollThrough(s) }},
		{"scrolled-coloured", func(s *sheet) { s.colour()(); scrollThrough(s) }},
	} {
		b.Run(steps.name, func(b *testing.B) {
			for b.Loop() {
				s := newSheet(inCode("shop.go", text), text)
				s.Resize(fyne.NewSize(600, 400))
				steps.do(s)
			}
		})
	}
}

// scrollThrough shows a hundred pages.
func scrollThrough(s *sheet) {
	for range 100 {
		s.scroll.scrollBy(300)
	}
}

// inCode shows text as code in the language of a file called name.
func inCode(name, text string) []prompt.Line {
	lines, c, at := prompt.Unnumbered("1 ", text, prompt.LineText), &prompt.Code{Name: name, Text: text}, 0
	for i := range lines {
		lines[i].Code, lines[i].At = c, at
		for _, s := range lines[i].Spans {
			at += len(s.Source)
		}
		at++ // the line break
	}
	return lines
}

// fits reports whether stretches are in order and split no character of text.
func fits(inks []prompt.Stretch, text string) bool {
	at := 0
	for _, s := range inks {
		if s.From < at || s.To <= s.From || s.To > len(text) || !utf8.ValidString(text[s.From:s.To]) {
			return false
		}
		at = s.To
	}
	return true
}

func FuzzColours(f *testing.F) {
	names := []string{prompt.ShellCode, "a.go", "a.py", "a.html", "a.md", "a.sh", "a.yaml"}
	for _, text := range []string{
		goFile, longCommand(), "echo \"$(x)\" # y", "<a b='c'>\r\n", "\xff‹\u202e", "#!/bin/sh\n<<E\n",
	} {
		for i := range names {
			f.Add(byte(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, language byte, text string) {
		if len(text) > 1024 {
			t.Skip()
		}
		name := names[int(language)%len(names)]
		lines := inCode(name, text)
		for i, stretches := range prompt.Colours(lines, inksIn) {
			drawn := (safetext.Row{Spans: lines[i].Spans}).String()
			if !fits(stretches, drawn) {
				t.Fatalf("%q is drawn as %q: %v", text, drawn, stretches)
			}
		}
	})
}
