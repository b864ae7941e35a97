package dialogs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

// maxBody is the size of the largest request that the servers take.
const maxBody = 1 << 20

// large are the largest requests that the servers take, each with much of something.
func large(tb testing.TB) map[string]interact.Body {
	dir := tb.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(strings.Repeat("a line of the file\n", 40_000)), 0o600); err != nil {
		tb.Fatal(err)
	}
	approve := func(tool string, input any) interact.Body {
		raw, err := json.Marshal(input)
		if err != nil {
			tb.Fatal(err)
		}
		if len(raw) > maxBody {
			tb.Fatalf("%s: %d bytes", tool, len(raw))
		}
		return interact.Approve{Tool: tool, Input: raw}
	}
	repeat := func(s string, bytes int) string { return strings.Repeat(s, bytes/len(s)) }
	edits := func(n int) (list []object) {
		for i := range n {
			list = append(list, object{
				"old_string": fmt.Sprintf("line %d\nof the old file\n", i),
				"new_string": fmt.Sprintf("line %d\nof the new file\n", i),
			})
		}
		return list
	}
	keys := object{}
	for i := range 60_000 {
		keys[fmt.Sprintf("key%d", i)] = i
	}
	long := strings.Repeat("one two three four five six seven ", 300)[:interact.MaxText]
	return map[string]interact.Body{
		"form-options": api.Form{Questions: questions(50, func(int) []api.Option {
			return options(200, "Option %d", "What it means", "")
		})},
		"form-texts": api.Form{Questions: questions(50, nil, strings.Repeat("five thousand characters ", 200))},
		"form-previews": api.Form{Questions: questions(1, func(int) []api.Option {
			return options(100, "Option %d", "", long)
		})},
		"ask-options":    api.Ask{Question: "Which?", Options: labels(100, long)},
		"ask-long":       api.Ask{Question: long},
		"confirm-words":  api.Confirm{Message: long},
		"confirm-word":   api.Confirm{Message: strings.Repeat("x", interact.MaxText)},
		"confirm-emoji":  api.Confirm{Message: strings.Repeat("🦊", interact.MaxText)},
		"confirm-hidden": api.Confirm{Message: "x" + strings.Repeat("\u202e\u200b", interact.MaxText/2-1)},
		"confirm-lines":  api.Confirm{Message: strings.Repeat("- a\n", interact.MaxText/4)},
		"confirm-quotes": api.Confirm{Message: strings.Repeat(">", interact.MaxText)},
		"confirm-stars":  api.Confirm{Message: strings.Repeat("*a_", interact.MaxText/3)},
		"confirm-links":  api.Confirm{Message: strings.Repeat("[a](", interact.MaxText/4)},
		"confirm-table":  api.Confirm{Message: "|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", interact.MaxText/6-4)},
		"confirm-spans":  api.Confirm{Message: strings.Repeat("`a` ", interact.MaxText/4)},

		"command-line":   approve("Bash", object{"command": repeat("echo word; ", 1_000_000)}),
		"command-word":   approve("Bash", object{"command": repeat("x", 1_000_000)}),
		"command-lines":  approve("Bash", object{"command": repeat("echo a\n", 900_000)}),
		"command-blanks": approve("Bash", object{"command": repeat(" a", 1_000_000)}),
		"command-pipes":  approve("Bash", object{"command": repeat("a|", 1_000_000)}),
		"command-nested": approve("Bash", object{"command": repeat("$(", 1_000_000)}),
		"command-hidden": approve("Bash", object{"command": repeat("\u200b\u202e", 1_000_000)}),
		"command-alike":  approve("Bash", object{"command": repeat("а", 1_000_000)}),
		"command-shown":  approve("Bash", object{"command": repeat("echo word; ", maxShownBytes-100)}),
		"command-rows":   approve("Bash", object{"command": repeat("a\n", 2*maxShownLines-100)}),
		"command-marks":  approve("Bash", object{"command": repeat("\u200b\u202e", maxShownBytes/4)}),
		"argv":           approve("shell", object{"command": strings.Split(repeat("a ", 500_000), " ")}),

		"edits-none":   approve("MultiEdit", object{"file_path": filepath.Join(dir, "none"), "edits": edits(3000)}),
		"edits-apply":  approve("MultiEdit", object{"file_path": file, "edits": edits(3000)}),
		"edits-delete": approve("MultiEdit", object{"file_path": file, "edits": deletions(10_000)}),
		"write-other":  approve("Write", object{"file_path": file, "content": repeat("another line of it\n", 900_000)}),
		"write-blank":  approve("Write", object{"file_path": file, "content": repeat("\n", 500_000)}),
		"patch-lines":  approve("apply_patch", object{"patch": "*** Begin Patch\n" + repeat("+a\n", 700_000)}),
		"patch-files": approve("apply_patch", object{
			"patch": "*** Begin Patch\n" + repeat("*** Add File: a/b/c\n", 900_000)}),
		"url":  approve("WebFetch", object{"url": "https://example.com/" + repeat("a/", 1_000_000)}),
		"path": approve("Read", object{"file_path": repeat("/a", 1_000_000)}),
		"plan": approve("ExitPlanMode", object{"plan": repeat("- a **plan**\n", prompt.MaxMarkdownBytes-100)}),
		"plan-table": approve("ExitPlanMode", object{
			"plan": "|a|b|\n|-|-|\n" + repeat("|1|2|\n", prompt.MaxMarkdownBytes-100),
		}),
		"code": approve("Write", object{
			"file_path": "x.go", "content": repeat("x := f(1) // y\n", maxShownBytes/2),
		}),
		"array":      approve("Custom", object{"numbers": make([]int, 100_000)}),
		"array-long": approve("Custom", object{"numbers": make([]int, 520_000)}),
		"keys":       approve("Custom", keys),
		"nested": interact.Approve{Tool: "Custom", Input: []byte(
			`{"a":` + repeat("[", 9_000) + repeat("]", 9_000) + "}")},
		"description": interact.Approve{Tool: "Bash", Input: []byte(`{"command":"ls"}`), Description: long},
	}
}

func questions(n int, options func(int) []api.Option, text ...string) (list []api.Question) {
	for i := range n {
		q := api.Question{ID: fmt.Sprint("q", i), Question: strings.Join(append(text, fmt.Sprint("Question ", i)), "")}
		if options != nil {
			q.Options = options(i)
		}
		list = append(list, q)
	}
	return list
}

func options(n int, label, description, preview string) (list []api.Option) {
	for i := range n {
		list = append(list, api.Option{Label: fmt.Sprintf(label, i), Description: description, Preview: preview})
	}
	return list
}

func labels(n int, end string) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(i, end[:len(end)-5]))
	}
	return list
}

func deletions(n int) (list []object) {
	for range n {
		list = append(list, object{"old_string": "a line of the file\n", "new_string": "", "replace_all": true})
	}
	return list
}

// BenchmarkLarge is how long the UI goroutine takes to show the largest requests that the servers take.
func BenchmarkLarge(b *testing.B) {
	for name, body := range large(b) {
		b.Run(name, func(b *testing.B) {
			s := newScreen(b)
			s.p.Prepare()
			for b.Loop() {
				s.open(request("1", body))
				b.StopTimer()
				s.p.post(func() { s.p.withdraw("1") })
				b.StartTimer()
			}
		})
	}
}
