package history_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/policy/invisible"
)

// export writes entries.
func export(t testing.TB, asCSV bool, entries ...history.Entry) string {
	t.Helper()
	var b bytes.Buffer
	all := func(yield func(history.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
	if err := history.Write(&b, asCSV, all); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// entry is one that says gist.
func entry(gist string) history.Entry {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	e := history.Entry{
		Line: history.Line{
			Seq: 7, ID: "id", Kind: api.KindApprove, Created: at, Settled: at.Add(time.Second), Agent: "codex",
			Tool: "Bash", Gist: gist, Machine: "build-1", Device: "Pixel", Outcome: api.Denied, By: api.ByHuman,
		},
		Hash: "abc",
	}
	e.Record.Request.Body = interact.Approve{Tool: "Bash", Input: json.RawMessage(`{"command":  "make <all>"}`)}
	e.Record.Answer.Reason = "two\nlines"
	return e
}

func TestCSV(t *testing.T) {
	got := export(t, true, entry("make"))
	want := `"seq","id","kind","created","settled","agent","session","project","tool","class","gist","outcome","by",` +
		`"rule","reason","withheld","hash","machine","device"` + "\r\n" +
		`"7","id","approve","2026-01-02T15:04:05Z","2026-01-02T15:04:06Z","codex","","","Bash","","make","denied","human",` +
		"\"\",\"two\nlines\",\"\",\"abc\",\"build-1\",\"Pixel\"\r\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, header, _ := strings.Cut(export(t, true), "\r\n"); !strings.HasPrefix(got, `"seq",`) || header != "" {
		t.Errorf("without entries: %q", got)
	}
}

func TestCSVIsHarmless(t *testing.T) {
	for gist, want := range map[string]string{
		"plain, with \"quotes\"":         "plain, with \"quotes\"",
		"=HYPERLINK(\"http://x\")":       "'=HYPERLINK(\"http://x\")",
		"+1":                             "'+1",
		"-1+1":                           "'-1+1",
		"@SUM(A1)":                       "'@SUM(A1)",
		"  =1":                           "  '=1",
		"＝1":                             "'＝1",
		"\u3000=1":                       "\u3000'=1",
		"\t=1":                           "\t'=1",
		"a;=cmd|' /C calc'!A0":           "a;'=cmd|' /C calc'!A0",
		"a\n@x":                          "a\n'@x",
		"\x1b]0;title\a":                 `\u001b]0;title\u0007`,
		"\r=1":                           `\u000d=1`,
		"rtl \u202e end \u200b":          `rtl \u202e end \u200b`,
		"a-b=c + d":                      "a-b=c + d",
		"git log --oneline -5; rm -rf x": "git log --oneline -5; rm -rf x",
	} {
		rows, err := csv.NewReader(strings.NewReader(export(t, true, entry(gist)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if got := rows[1][10]; got != want {
			t.Errorf("%q: got %q, want %q", gist, got, want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	e := entry("a\x1b[2J\u202e")
	lines := strings.Split(export(t, false, e, e), "\n")
	if len(lines) != 3 || lines[0] != lines[1] || lines[2] != "" {
		t.Fatalf("got %q", lines)
	}
	if strings.ContainsFunc(lines[0], invisible.Hidden) {
		t.Errorf("something is hidden in %q", lines[0])
	}
	var got struct {
		Seq    int64
		Gist   string
		Hash   string
		Record struct {
			Request struct {
				Kind string
				Body struct{ Tool, Input string }
			}
			Answer struct{ Reason string }
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Seq != 7 || got.Gist != e.Gist || got.Hash != "abc" || got.Record.Request.Kind != "approve" ||
		got.Record.Answer.Reason != "two\nlines" {
		t.Errorf("got %+v", got)
	}
	if body := got.Record.Request.Body; body.Tool != "Bash" || body.Input != `{"command":  "make <all>"}` {
		t.Errorf("the input is not its exact text: %+v", body)
	}
	if _, err := (history.Entry{}).JSON(); err == nil {
		t.Error("an entry without a request was encoded")
	}
}

// FuzzCSV: a row stays a row, and no cell of it is a formula or moves a cursor.
func FuzzCSV(f *testing.F) {
	for _, gist := range []string{
		"=1", "a;=1", `"`, "\r\n", "\xff", "a\n=1", "＋", "\t@", ";;=", "\u200b=1", " \n =", `";="`,
	} {
		f.Add(gist)
	}
	f.Fuzz(func(t *testing.T, gist string) {
		text := export(t, true, entry(gist), entry("second"))
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) != 3 || rows[2][10] != "second" {
			t.Fatalf("%q: %d rows: %v", gist, len(rows), err)
		}
		if strings.ContainsFunc(rows[1][10], invisible.Hidden) {
			t.Errorf("%q: %q hides something", gist, rows[1][10])
		}
		for _, cell := range strings.FieldsFunc(rows[1][10], func(r rune) bool { return strings.ContainsRune("\n\t;", r) }) {
			if strings.IndexAny(strings.TrimLeft(cell, " \u3000"), "=+-@＝＋－＠") == 0 {
				t.Errorf("%q: %q is a formula", gist, cell)
			}
		}
	})
}
