package dialogs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"nod/dialogs/dialogstest"
	"nod/dialogs/prompt"
	"nod/policy"
)

func reads(text string) policy.CommandPart {
	return policy.CommandPart{Text: text, State: policy.PartReads}
}

func fresh(text string) policy.CommandPart {
	return policy.CommandPart{Text: text, State: policy.PartNew, Why: "It writes."}
}

func repeated(n int, part policy.CommandPart) []policy.CommandPart {
	var parts []policy.CommandPart
	for range n {
		parts = append(parts, part)
	}
	return parts
}

func different(n int) []policy.CommandPart {
	var parts []policy.CommandPart
	for i := range n {
		parts = append(parts, fresh(fmt.Sprintf("program%d x", i)))
	}
	return parts
}

func TestPartsThatSayNothingAreNotListed(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	for name, tt := range map[string]struct {
		parts []policy.CommandPart
		want  bool
	}{
		"none":               {nil, false},
		"one that reads":     {repeated(1, reads("ls")), false},
		"one that is new":    {repeated(1, fresh("make")), false},
		"several that read":  {repeated(2, reads("ls")), true},
		"one that is known":  {[]policy.CommandPart{{Text: "make", State: policy.PartCovered, By: "x"}}, false},
		"of an unknown kind": {[]policy.CommandPart{{Text: "make"}, {Text: "ls"}}, true},
	} {
		if got := partList(tt.parts) != nil; got != tt.want {
			t.Errorf("%s: listed: %v, want %v", name, got, tt.want)
		}
	}
}

// Parts that only read never hide a new one, and the list never gets long.
func TestManyPartsAreCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		parts                 []policy.CommandPart
		shown, onlyRead, left int
	}{
		"few":              {append(repeated(7, reads("ls")), fresh("rm x")), 8, 0, 0},
		"reads in front":   {append(repeated(1000, reads("ls")), fresh("rm x")), 1, 1000, 0},
		"reads behind":     {append([]policy.CommandPart{fresh("rm x")}, repeated(1000, reads("ls"))...), 1, 1000, 0},
		"many alike":       {append(repeated(1000, fresh("rm x")), reads("ls")), 1, 1, 0},
		"many of them":     {append(different(1000), reads("ls")), 24, 1, 1000 - 24},
		"only reads":       {repeated(1000, reads("ls")), 0, 1000, 0},
		"one beyond eight": {append(repeated(8, reads("ls")), fresh("rm x")), 1, 8, 0},
	} {
		var want []string
		switch {
		case tt.onlyRead == 1:
			want = append(want, "1 more part")
		case tt.onlyRead > 0:
			want = append(want, prompt.Number(tt.onlyRead)+" more parts")
		}
		if tt.left > 0 {
			want = append(want, prompt.Number(tt.left)+" more parts: read the whole command")
		}
		shown, counted := 0, []string(nil)
		for _, row := range prompt.PartRows(tt.parts) {
			if row.Summary {
				counted = append(counted, row.Text)
			} else {
				shown++
			}
		}
		if shown != tt.shown || !slices.Equal(counted, want) {
			t.Errorf("%s: %d shown, and %q; want %d, and %q", name, shown, counted, tt.shown, want)
		}
	}
}

// In a long list the parts that need the user come first.
func TestNewPartsComeFirst(t *testing.T) {
	parts := different(3)
	for i := range 20 {
		parts = slices.Insert(parts, i, policy.CommandPart{Text: fmt.Sprint("make ", i), State: policy.PartCovered})
	}
	rows := prompt.PartRows(parts)
	if len(rows) < 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if isNew := row.State == policy.PartNew; isNew != (i < 3) {
			t.Errorf("row %d is %s: %s", i, row.State, row.Text)
		}
	}
}

// Every mark has a word beside its colour, and hidden characters of a part are spelled out.
func TestPartsAreMarkedInWords(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	dialogstest.Speak(t, "en")
	list := partList([]policy.CommandPart{
		reads("cat a"), fresh("rm \u202ex\nls"),
		{Text: "make", State: policy.PartCovered, By: "make-it"},
		{Text: "mix test", State: policy.PartCovered, By: "0195e1d0-0000-7000-8000-000000000000"},
	})
	w := test.NewTempWindow(t, list)
	w.Resize(fyne.NewSize(600, 300))
	got := test.RenderToMarkup(w.Canvas())
	for _, want := range []string{
		"reads", "covered", "new", "It writes.", "by the rule make-it", "you allowed this before", "U+202E", "‹newline›",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not show", want)
		}
	}
	if strings.Contains(got, "\u202e") {
		t.Error("a hidden character is drawn")
	}
}

func TestElidedKeepsBothEnds(t *testing.T) {
	test.NewTempApp(t)
	test.ApplyTheme(t, Theme("light"))
	mono := newFace(theme.Size(theme.SizeNameCaptionText), fyne.TextStyle{Monospace: true})
	l := &elided{text: "npm run " + strings.Repeat("größe 语 ", 40) + "--fix /etc", face: mono}
	for width := float32(0); width < 3000; width += 37 {
		got := l.fit(width)
		if w := l.face.measure(got); w > width && got != "…" {
			t.Errorf("%v wide where there is %v: %q", w, width, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("broken at %v: %q", width, got)
		}
		if width > 200 && (!strings.HasPrefix(got, "npm run") || !strings.HasSuffix(got, "/etc")) {
			t.Errorf("at %v an end is missing: %q", width, got)
		}
	}
}

func FuzzSafeEnds(f *testing.F) {
	f.Add("ls")
	f.Add(strings.Repeat("é", 300))
	f.Add(strings.Repeat("\xff", 1000) + "\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := prompt.SafeEnds(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\u202e\u200b\x1b") {
			t.Errorf("%q shows as %q", s, got)
		}
		if s != "" && got == "" {
			t.Errorf("%q shows as nothing", s)
		}
	})
}

// Every line of the grants that one answer gives is in the user's language.
func TestGrantsInTheUsersLanguage(t *testing.T) {
	const text = "codex (program not verified) may do this in ~/src/shop, for 15 minutes:\n" +
		"· run \"go test\" with other arguments or project files\n· write to ~/src/shop/go.mod"
	if got := inWords(text); got != text {
		t.Errorf("in English: %q", got)
	}
	dialogstest.Speak(t, dialogstest.Chinese)
	const want = "codex（程序未核实）可以在 ~/src/shop 中进行以下操作，15 分钟内：\n" +
		"· 运行 \"go test\"（可带其他参数或项目文件）\n· 写入 ~/src/shop/go.mod"
	if got := inWords(text); got != want {
		t.Errorf("in Chinese: %q, want %q", got, want)
	}
}
