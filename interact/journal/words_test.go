package journal_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/interact/journal"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		" \n\t.,;":                        "",
		"git push --force":                "git push force",
		"interact/journal_test.go:12":     "interact journal test go 12",
		"GOFLAGS=-trimpath":               "goflags trimpath",
		"Größe naïve Ångström":            "große naive angstrom",
		"İstanbul ΣΊΣΥΦΟΣ":                "istanbul σισυφοσ",
		"ＡＢＣ１２ ﬁle":                       "abc12 file",
		"数据库 nod数据":                       "数 据 库 nod 数 据",
		"ひらカナ":                            "ひ ら カ ナ",
		"привет мир":                      "привет мир",
		"internationalization":            "internationaliza",
		"0123456789abcdef0123456789abcde": "0123456789abcdef",
		"a\x00b\xffc":                     "a b c",
		`"x" OR y* NEAR(z) col:w ^v`:      "x or y near z col w v",
		"\U000F0061 \uE000a":              "a", // no text has what stands for filters
		"e\u0301te\u0301":                 "ete",
	} {
		if got := strings.Join(slices.Collect(journal.Split(text)), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// What a user may look for is in the index, and names of fields are not.
func TestWordsOfAnEntry(t *testing.T) {
	approve := history.Entry{Line: history.Line{
		Agent: "codex", Tool: "Bash", Project: "/src/shop", Gist: "make all", Rule: "r7",
	}}
	approve.Record.Request.Body = interact.Approve{
		Tool: "Bash", Input: []byte(`{"command":"make all","env":{"A":["deep",42,true]}}`), Description: "why",
	}
	approve.Record.Answer = interact.Answer{Reason: "because", Shown: interact.Shown{Facts: []string{"fact one"}}}
	ask := history.Entry{}
	ask.Record.Request.Body = api.Ask{Question: "Which?", Options: []string{"SQLite"}}
	ask.Record.Answer = interact.Answer{Text: "neither"}
	form := history.Entry{}
	form.Record.Request.Body = api.Form{Questions: []api.Question{{ID: "x", Question: "Name?"}}}
	form.Record.Answer = interact.Answer{Values: map[string]api.Value{"x": interact.TextValue("Zoe")}}
	gone := history.Entry{Line: history.Line{Gist: "only this"}}
	broken := history.Entry{}
	broken.Record.Request.Body = interact.Approve{Input: []byte(`{"command":"cut`)}
	for name, c := range map[string]struct {
		e    history.Entry
		want string
	}{
		"approval":     {approve, "42 all bash because codex deep fact make one r7 shop src why"},
		"question":     {ask, "neither sqlite which"},
		"form":         {form, "name x zoe"},
		"gone":         {gone, "only this"},
		"broken input": {broken, ""},
	} {
		got := journal.Words(c.e)
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWordsAreLimited(t *testing.T) {
	var many history.Entry
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		many.Gist += letters(r, 10) + " "
	}
	if n := len(journal.Words(many)); n != 1000 {
		t.Errorf("got %d words, want 1000", n)
	}
	long := history.Entry{Line: history.Line{Gist: strings.Repeat("é", 40_000) + " end"}}
	if got := journal.Words(long); !slices.Equal(got, []string{strings.Repeat("e", 16)}) {
		t.Errorf("got %q, want what the first 64 KB have", got)
	}
}

// FuzzSearch: whatever is looked for is data. It finds what a look at each entry finds, in the index and behind it.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{
		"make", `"`, `" OR "a`, "a*", "NEAR(a b)", "-git", "^go", "text : a", "{text words} : x", "文件", "\x00", "\xff",
		"'; DROP TABLE entries; --", "internationalizations", "a AND b", "NOT", "ﬁ", "\U000F0061\U000F0062",
		strings.Repeat("a ", 100), "İ", "+", "a + b", "( g",
	} {
		f.Add(text, "Bash")
	}
	f.Add("", `" OR 1=1`)
	f.Add("g", "\x00")
	j := open(f, file(f), keepAll)
	r := rand.New(rand.NewPCG(6, 6))
	for n := range 40 {
		must(f, j.Settle(f.Context(), random(r, n)))
		if n == 30 {
			must(f, j.Index(f.Context()))
		}
	}
	all := whole(f, j.Reader)
	f.Fuzz(func(t *testing.T, text, tool string) {
		for _, q := range []history.Query{{Text: text}, {Text: text, Tool: tool}, {Agent: tool, Session: text}} {
			got, err := j.Search(t.Context(), q)
			must(t, err)
			if want := find(q, all); !slices.Equal(got.Lines, want.Lines) {
				t.Errorf("%+v: got %v, want %v", q, seqs(got), seqs(want))
			}
		}
	})
}

// FuzzWords: words are letters and digits, no longer than the index has them, and stay themselves.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"git push", "Größe", "数据库x", "ＡＢＣ", "ǅ", "ﷺ", "한국어", "\xff\xfe", "e\u0301", "Ⅷ½", "ẛ̣"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for word := range journal.Split(text) {
			if word == "" || utf8.RuneCountInString(word) > 16 {
				t.Errorf("%q: %q has another length", text, word)
			}
			if strings.ContainsFunc(word, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) }) {
				t.Errorf("%q: %q has more than letters and digits", text, word)
			}
			if again := slices.Collect(journal.Split(word)); !slices.Equal(again, []string{word}) {
				t.Errorf("%q: %q becomes %q", text, word, again)
			}
		}
	})
}
