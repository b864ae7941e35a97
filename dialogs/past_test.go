package dialogs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

// drawnLines are lines as they are drawn.
func drawnLines(lines []prompt.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Lead+l.Text())
	}
	return strings.Join(all, "\n")
}

// A past request is shown as it was shown then, whatever is on the disk now.
func TestPastReadsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cart.go")
	if err := os.WriteFile(path, []byte("one\nTWO\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"file_path": path, "old_string": "two", "new_string": "2", "note": "x"})
	if err != nil {
		t.Fatal(err)
	}
	header := "--- " + path + "\n+++ " + path + "\n"
	for _, tt := range []struct{ name, diff, want string }{
		{"as it was shown", header + "@@ -9,3 +9,3 @@\n one\n-two\n+2\n \n",
			" 9  9   one\n10    - two\n   10 + 2\n11 11   "},
		{"where nobody knew the lines", header + "@@\n-two\n+2\n\\ and 7 more lines\n", "- two\n+ 2\nand 7 more lines"},
		{"two places", header + "@@ -1,1 +1,1 @@\n-a\n+b\n@@ -5,1 +5,1 @@\n-c\n+d\n", "1   - a\n  1 + b\n\n5   - c\n  5 + d"},
		{"never shown", "", "- two\n+ 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := interact.Record{Request: interact.Request{Body: interact.Approve{Tool: "Edit", Input: input}}}
			r.Answer.Shown.Diff = tt.diff
			got := drawnLines(prompt.PastContent(r).Lines)
			if want := path + "\nwith\nnote  x\n\n" + tt.want; strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
				t.Errorf("%q\nwant\n%q", got, want)
			}
		})
	}
}

func TestPastQuestions(t *testing.T) {
	answered := interact.Answer{Outcome: api.Answered, Text: "blue", Confirmed: true,
		Values: map[string]api.Value{"q": interact.ListValue("a", "b")}}
	for _, tt := range []struct {
		body   interact.Body
		answer interact.Answer
		want   string
	}{
		{api.Ask{Question: "Which?", Options: []string{"red", "blue"}}, answered,
			"Which?\n- red\n- blue\nAnswer\nblue"},
		{api.Ask{Question: "Which?"}, interact.Answer{Outcome: api.TimedOut}, "Which?"},
		{api.Confirm{Message: "Sure?"}, answered, "Sure?\nAnswer\nYes"},
		{api.Form{Title: "T", Questions: []api.Question{{ID: "q", Question: "Q?"}}}, answered,
			"T\n\nQ?\nAnswer\na\nb"},
		{api.Form{Questions: []api.Question{{ID: "q", Question: "Q?"}, {ID: "r", Question: "R?"}}}, interact.Answer{},
			"Q?\n\nR?"},
		{api.Notify{Title: "T", Message: "Done."}, answered, "T\nDone."},
	} {
		r := interact.Record{Request: interact.Request{Body: tt.body}, Answer: tt.answer}
		if got := drawnLines(prompt.PastContent(r).Lines); got != tt.want {
			t.Errorf("%T: %q, want %q", tt.body, got, tt.want)
		}
	}
}

// The wheel scrolls a long text of the past and, at its end, the page around it.
func TestPastLeavesTheWheelToThePage(t *testing.T) {
	test.NewTempApp(t)
	input, err := json.Marshal(map[string]string{"command": strings.Repeat("make\n", 100)})
	if err != nil {
		t.Fatal(err)
	}
	page := container.NewVScroll(nil)
	r := interact.Record{Request: interact.Request{Body: interact.Approve{Tool: "Bash", Input: input}}}
	aside := func(work func() func()) { work()() }
	past := Past(r, page, aside)
	page.Content = container.NewVBox(past, PastLines(prompt.RawLines(input), string(input), page, aside))
	test.NewTempWindow(t, page).Resize(fyne.NewSize(400, 300))
	text, wheel := past.(*fyne.Container).Objects[0].(*sheet), past.(*fyne.Container).Objects[1].(*wheel)
	turn := func(by float32) { wheel.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, by)}) }
	turn(-40)
	if text.scroll.Offset.Y != 40 || page.Offset.Y != 0 {
		t.Errorf("the text is at %v, the page at %v", text.scroll.Offset.Y, page.Offset.Y)
	}
	turn(-100_000)
	turn(-50)
	if page.Offset.Y != 50 {
		t.Errorf("the page is at %v", page.Offset.Y)
	}
}
