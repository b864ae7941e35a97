package dialogs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"nod/api"
	"nod/dialogs/prompt"
	"nod/interact"
)

// shapes are texts that are hard to draw, each n characters long.
func shapes(n int) map[string]string {
	of := func(unit string) string { return strings.Repeat(unit, 1+n/utf8.RuneCountInString(unit)) }
	all := map[string]string{
		"letters": of("a"), "emoji": of("🦊👩‍👩‍👧‍👦❤️"), "chinese": of("中文字"), "arabic": of("سلام "), "marks": of("\u0301"),
		"lines": of("\n"), "hidden": of("\ta\u200b\u202e\U00010A80"),
	}
	for name, s := range all {
		all[name] = string([]rune("x" + s)[:n])
	}
	return all
}

// places are where such a text can be in a prompt: the body that shows it, and what to do with the prompt.
var places = map[string]struct {
	limit int
	body  func(text string) interact.Body
	then  func(s *screen, text string)
}{
	"command": {2_000, func(text string) interact.Body { return approval("Bash", object{"command": text}) }, nil},
	"content": {2_000, func(text string) interact.Body {
		return approval("Write", object{"file_path": "/nowhere/a.go", "content": text})
	}, nil},
	"change": {2_000, func(text string) interact.Body {
		return approval("Edit", object{"file_path": "/nowhere/a.go", "old_string": "a\n", "new_string": text})
	}, nil},
	"field": {2_000, func(text string) interact.Body { return approval("mcp__x__y", object{text: text}) }, nil},
	"plan":  {2_000, func(text string) interact.Body { return approval("ExitPlanMode", object{"plan": text}) }, nil},
	"description": {interact.MaxText, func(text string) interact.Body {
		return interact.Approve{Tool: "Bash", Input: []byte(`{"command":"ls"}`), Description: text}
	}, nil},
	"tool":    {interact.MaxName, func(text string) interact.Body { return approval(text, object{}) }, nil},
	"message": {interact.MaxText, func(text string) interact.Body { return api.Confirm{Message: text} }, nil},
	"labels": {interact.MaxName, func(text string) interact.Body {
		return api.Confirm{Message: "Yes?", YesLabel: text, NoLabel: text[1:]}
	}, nil},
	"question": {interact.MaxText, func(text string) interact.Body { return api.Ask{Question: text} }, nil},
	"table": {interact.MaxText - 12, func(text string) interact.Body {
		return api.Ask{Question: "|a|\n|-|\n|" + text + "|"}
	}, nil},
	"code": {interact.MaxText - 8, func(text string) interact.Body {
		return api.Ask{Question: "```\n" + text + "\n```"}
	}, nil},
	"option": {interact.MaxText, func(text string) interact.Body {
		return api.Ask{Question: "Which?", Options: []string{text, "b"}}
	}, nil},
	"placeholder": {interact.MaxName, func(text string) interact.Body {
		return api.Ask{Question: "Why?", Placeholder: text}
	}, nil},
	"preview": {interact.MaxText, func(text string) interact.Body {
		return api.Form{Questions: []api.Question{{ID: "q", Question: "Which?", InputType: interact.Choice,
			Header:  string([]rune(text)[:interact.MaxName]),
			Options: []api.Option{{Label: "a", Value: "a", Preview: text, Description: text}}}}}
	}, nil},
	"default": {interact.MaxText, func(text string) interact.Body {
		return api.Form{Questions: []api.Question{{ID: "q", Question: "Why?", InputType: interact.Text,
			Default: interact.TextValue(text)}}}
	}, nil},
	"pasted": {2_000, func(string) interact.Body { return api.Ask{Question: "Why?"} },
		func(s *screen, text string) { s.paste(s.page().inputs[""].(*field), text) }},
	"pasted into lines": {2_000, func(string) interact.Body { return api.Ask{Question: "Why?", Multiline: true} },
		func(s *screen, text string) { s.paste(s.page().inputs[""].(*field), text) }},
	"reason": {2_000, func(string) interact.Body { return approval("Bash", object{"command": "ls"}) },
		func(s *screen, text string) {
			s.tapText(prompt.LabelsOf(s.page().entry.request.Body.(interact.Approve)).Why)
			s.paste(s.page().inputs[""].(*field), text)
		}},
}

func approval(tool string, input any) interact.Body {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return interact.Approve{Tool: tool, Input: raw}
}

// paste puts text on the clipboard and pastes it into f.
func (s *screen) paste(f *field, text string) {
	s.p.window.win.Canvas().Focus(f)
	fyne.CurrentApp().Clipboard().SetContent(text)
	f.TypedShortcut(&fyne.ShortcutPaste{Clipboard: fyne.CurrentApp().Clipboard()})
}

// No piece of text is much wider than the window, whatever an agent or a user writes: Fyne redraws a whole piece when
// one of its characters changes or comes into view.
func TestTextIsDrawnInPieces(t *testing.T) {
	const widest, most = 4096, 12_000 // all drivers support textures of that width
	for place, p := range places {
		s := newScreen(t)
		for shape, text := range shapes(p.limit) {
			t.Run(place+"/"+shape, func(t *testing.T) {
				defer func() { s.p.post(func() { s.p.withdraw("1") }) }()
				s.open(interact.Request{ID: "1", Body: p.body(text), Deadline: time.Now().Add(time.Hour)})
				if p.then != nil {
					p.then(s, text)
				}
				pieces := 0
				for _, o := range test.LaidOutObjects(s.p.window.win.Content()) {
					piece, isText := o.(*canvas.Text)
					if !isText {
						continue
					}
					pieces++
					if width := piece.MinSize().Width; width > widest {
						t.Errorf("a piece of %g pixels: %.40q", width, piece.Text)
					}
				}
				if pieces > most {
					t.Errorf("%d pieces", pieces)
				}
			})
		}
	}
}

// Fyne draws a tab after a change of font wrong, so a field has a space in its place.
func TestTabsOfADefault(t *testing.T) {
	s := newScreen(t)
	s.open(request("1", api.Form{Questions: []api.Question{{ID: "q", Question: "Why?", InputType: interact.Text,
		Default: interact.TextValue("a\tb\n价\tc")}}}))
	if f := s.page().inputs["q"].(*field); f.Text != "a\tb\n价 c" {
		t.Errorf("the field holds %q", f.Text)
	}
}

func TestSegmentsAreShort(t *testing.T) {
	newScreen(t)
	for _, unit := range []string{"word ", "中文。", "«a»"} {
		text := strings.Repeat(unit, 2000)
		var all strings.Builder
		for _, segment := range textSegments(text, widget.RichTextStyle{}) {
			all.WriteString(segment.Textual())
			if n := len(segment.Textual()); n > maxSegment+len(unit) {
				t.Errorf("%q: a segment has %d bytes", unit, n)
			}
		}
		if all.String() != text {
			t.Errorf("%q: the segments say another text", unit)
		}
	}
}
