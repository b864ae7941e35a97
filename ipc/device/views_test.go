package device_test

import (
	"fmt"

	"nod/api"
	"nod/interact"
	"nod/ipc/device"
)

func lines(style string, texts ...string) []device.Line {
	var all []device.Line
	for i, text := range texts {
		all = append(all, device.Line{Style: style, Lead: fmt.Sprint(i+1, " "), Spans: []device.Span{{Text: text}}})
	}
	return all
}

func prose(text string) []device.Line {
	return []device.Line{{Style: "text", Spans: []device.Span{{Text: text}}}}
}

func head(wish, object string) device.Head {
	return device.Head{
		Agent: "Claude Code", Project: "shop", Wish: wish, Object: object,
		Origin: []device.Origin{
			{Label: "verified", Level: device.Note, Text: "~/src/shop · /usr/bin/claude (pid 4711)"},
			{Label: "says", Level: device.Note, Text: "it works in ~/src/shop/web"},
		},
	}
}

var (
	allow = []device.Affirmation{{Label: "Allow"}}
	deny  = &device.Refusal{
		Label: "Deny", Why: "Deny with reason…", Send: "Deny with this reason", Placeholder: "Reason (the agent reads it)",
	}
)

// Command wants to run a command with a hidden character.
func Command() device.View {
	v := device.View{
		ID: "command", Revision: "1", Kind: api.KindApprove, Head: head("wants to run", "rm, npm"),
		Level: device.Danger,
		Facts: []device.Fact{
			{Text: "Deletes or destroys", Level: device.Danger}, {Text: "Deletes build", Level: device.Danger},
			{Text: "Runs rm, npm", Level: device.Note},
			{Text: "2 lines, 31 characters", Level: device.Note},
		},
		Dangers:  []string{"Line 1: rm -rf build"},
		Warnings: []string{"Contains characters that would not show; they are spelled out in red (right-to-left override)."},
		Lines:    lines("text", "rm -rf build", "npm test "),
		Parts: []device.Part{
			{Text: "rm -rf build", State: "new", Note: "\"rm\" removes files."}, {Text: "npm test", State: "covered"},
		},
		Says: "Builds afresh", WhyLabel: "Why you're asked:", Why: "nod doesn't know that this is harmless.",
		Silence: "Denied in {time} unless you decide", Affirm: allow, Refuse: deny,
	}
	hidden := device.Span{Text: "‹U+202E›", Kind: "hidden", Why: "right-to-left override"}
	v.Lines[1].Spans = append(v.Lines[1].Spans, hidden)
	return v
}

// Edit wants to change a file.
func Edit() device.View {
	span := func(text string) []device.Span { return []device.Span{{Text: text}} }
	return device.View{
		ID: "edit", Revision: "1", Kind: api.KindApprove, Head: head("wants to edit", "main.go"),
		Level: device.Caution,
		Facts: []device.Fact{{Text: "Writes", Level: device.Caution}, {Text: "+1 −1 lines", Level: device.Note}},
		Lines: []device.Line{
			{Style: "rule", Spans: span("41 unchanged lines")},
			{Style: "text", Lead: "42 42   ", Spans: span("func main() {")},
			{Style: "removed", Lead: "43    - ", Spans: span("\tfmt.Println(1)")},
			{Style: "added", Lead: "   43 + ", Spans: span("\tfmt.Println(2)")},
			{Style: "text", Lead: "44 44   ", Spans: span("}")},
			{Style: "note", Spans: span("no line break at the end")},
		},
		Raw:      lines("text", "{", `  "file_path": "main.go"`, "}"),
		WhyLabel: "Why you're asked:", Why: "It writes.", Affirm: allow, Refuse: deny,
	}
}

// Long has more lines than fit on any phone.
func Long() device.View {
	v := Command()
	v.ID, v.Warnings, v.Dangers = "long", nil, nil
	var texts []string
	for i := range 400 {
		texts = append(texts, fmt.Sprintf("echo %d", i))
	}
	v.Lines = lines("text", texts...)
	return v
}

// Plan wants to carry out a plan, in either of two ways.
func Plan() device.View {
	return device.View{
		ID: "plan", Revision: "1", Kind: api.KindApprove, Head: head("wants to carry out this plan", ""), Prose: true,
		Level: device.Caution, Facts: []device.Fact{{Text: "Writes", Level: device.Caution}},
		Lines:    lines("text", "# Plan", "", "1. Write the test", "2. Make it pass"),
		WhyLabel: "Why you're asked:", Why: "A plan is for you to judge.",
		Affirm: []device.Affirmation{
			{Label: "Approve, ask for each edit", Suggestion: 1}, {Label: "Approve, allow edits", Suggestion: 2},
		},
		Refuse: &device.Refusal{
			Label: "Keep planning", Why: "Keep planning with feedback…", Send: "Keep planning with this feedback",
			Placeholder: "What to change (the agent reads it)",
		},
	}
}

// Ask is a question with options, of which another text will do, too.
func Ask() device.View {
	return device.View{
		ID: "ask", Revision: "1", Kind: api.KindAsk, Head: head("has a question", ""),
		Fields: []device.Field{{
			Question: prose("Which database?"), Input: interact.Choice, Required: true, Other: true,
			Options: []device.Option{
				{Value: "sqlite", Label: "SQLite", Recommended: true, Description: "One file, no server"},
				{Value: "postgres", Label: "PostgreSQL", Preview: lines("text", "services:", "  db:")},
			},
		}},
		Affirm: []device.Affirmation{{Label: "Submit"}}, Refuse: &device.Refusal{Label: "Decline"},
	}
}

// Confirm wants a yes or a no.
func Confirm() device.View {
	return device.View{
		ID: "confirm", Revision: "1", Kind: api.KindConfirm, Head: head("asks you to confirm", ""),
		Lines: prose("Deploy to production now?"), Silence: "Answers “Not now” in {time}",
		Affirm: []device.Affirmation{{Label: "Deploy"}}, Refuse: &device.Refusal{Label: "Not now"},
	}
}

// Form has a question of each kind.
func Form() device.View {
	low, high := 1.0, 5.0
	return device.View{
		ID: "form", Revision: "1", Kind: api.KindForm, Head: head("has 4 questions", ""), Title: "Release",
		Fields: []device.Field{
			{ID: "level", Header: "Level", Question: prose("Which part rises?"), Input: interact.Choice, Required: true,
				Options: []device.Option{{Value: "patch", Label: "Patch"}, {Value: "minor", Label: "Minor"}},
				Default: []string{"patch"}},
			{ID: "checks", Question: prose("Which checks?"), Input: interact.Choice, Required: true, Multi: true, Other: true,
				Hint: "Pick 1 to 5", Min: &low, Max: &high,
				Options: []device.Option{{Value: "unit", Label: "Unit tests"}, {Value: "e2e", Label: "End to end"}}},
			{ID: "mail", Question: prose("Who is told?"), Input: interact.Text, Required: true, Format: interact.Email,
				Hint: "An e-mail address", Placeholder: "me@example.com"},
			{ID: "note", Question: prose("Anything else?"), Input: interact.Text, Multiline: true},
		},
		Affirm: []device.Affirmation{{Label: "Submit"}}, Refuse: &device.Refusal{Label: "Decline"},
	}
}

// Views is one of each.
func Views() []device.View {
	return []device.View{Command(), Edit(), Plan(), Ask(), Confirm(), Form(), Long()}
}
