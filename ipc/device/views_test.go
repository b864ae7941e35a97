package device_test

import (
	"fmt"

	"nod/api"
	"nod/e2e/devicetest"
	"nod/interact"
)

func lines(style string, texts ...string) []devicetest.Line {
	var all []devicetest.Line
	for i, text := range texts {
		all = append(all, devicetest.Line{Style: style, Lead: fmt.Sprint(i+1, " "), Spans: []devicetest.Span{{Text: text}}})
	}
	return all
}

func prose(text string) []devicetest.Line {
	return []devicetest.Line{{Style: "text", Spans: []devicetest.Span{{Text: text}}}}
}

func head(wish, object string) devicetest.Head {
	return devicetest.Head{
		Agent: "Claude Code", Project: "shop", Wish: wish, Object: object,
		Origin: []devicetest.Origin{
			{Label: "verified", Level: devicetest.Note, Text: "~/src/shop · /usr/bin/claude (pid 4711)"},
			{Label: "says", Level: devicetest.Note, Text: "it works in ~/src/shop/web"},
		},
	}
}

var (
	allow = []devicetest.Affirmation{{Label: "Allow"}}
	deny  = &devicetest.Refusal{
		Label: "Deny", Why: "Deny with reason…", Send: "Deny with this reason", Placeholder: "Reason (the agent reads it)",
	}
)

// Command wants to run a command with a hidden character.
func Command() devicetest.View {
	v := devicetest.View{
		ID: "command", Revision: "1", Kind: api.KindApprove, Head: head("wants to run", "rm, npm"),
		Level: devicetest.Danger,
		Facts: []devicetest.Fact{
			{Text: "Deletes or destroys", Level: devicetest.Danger}, {Text: "Deletes build", Level: devicetest.Danger},
			{Text: "Runs rm, npm", Level: devicetest.Note},
			{Text: "2 lines, 31 characters", Level: devicetest.Note},
		},
		Dangers:  []string{"Line 1: rm -rf build"},
		Warnings: []string{"Contains characters that would not show; they are spelled out in red (right-to-left override)."},
		Lines:    lines("text", "rm -rf build", "npm test "),
		Parts: []devicetest.Part{
			{Text: "rm -rf build", State: "new", Note: "\"rm\" removes files."}, {Text: "npm test", State: "covered"},
		},
		Says: "Builds afresh", WhyLabel: "Why you're asked:", Why: "nod doesn't know that this is harmless.",
		Silence: "Denied in {time} unless you decide", Affirm: allow, Refuse: deny,
	}
	hidden := devicetest.Span{Text: "‹U+202E›", Kind: "hidden", Why: "right-to-left override"}
	v.Lines[1].Spans = append(v.Lines[1].Spans, hidden)
	return v
}

// Edit wants to change a file.
func Edit() devicetest.View {
	span := func(text string) []devicetest.Span { return []devicetest.Span{{Text: text}} }
	return devicetest.View{
		ID: "edit", Revision: "1", Kind: api.KindApprove, Head: head("wants to edit", "main.go"),
		Level: devicetest.Caution,
		Facts: []devicetest.Fact{{Text: "Writes", Level: devicetest.Caution}, {Text: "+1 −1 lines", Level: devicetest.Note}},
		Lines: []devicetest.Line{
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
func Long() devicetest.View {
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
func Plan() devicetest.View {
	return devicetest.View{
		ID: "plan", Revision: "1", Kind: api.KindApprove, Head: head("wants to carry out this plan", ""), Prose: true,
		Level: devicetest.Caution, Facts: []devicetest.Fact{{Text: "Writes", Level: devicetest.Caution}},
		Lines:    lines("text", "# Plan", "", "1. Write the test", "2. Make it pass"),
		WhyLabel: "Why you're asked:", Why: "A plan is for you to judge.",
		Affirm: []devicetest.Affirmation{
			{Label: "Approve, ask for each edit", Suggestion: 1}, {Label: "Approve, allow edits", Suggestion: 2},
		},
		Refuse: &devicetest.Refusal{
			Label: "Keep planning", Why: "Keep planning with feedback…", Send: "Keep planning with this feedback",
			Placeholder: "What to change (the agent reads it)",
		},
	}
}

// Ask is a question with options, of which another text will do, too.
func Ask() devicetest.View {
	return devicetest.View{
		ID: "ask", Revision: "1", Kind: api.KindAsk, Head: head("has a question", ""),
		Fields: []devicetest.Field{{
			Question: prose("Which database?"), Input: interact.Choice, Required: true, Other: true,
			Options: []devicetest.Option{
				{Value: "sqlite", Label: "SQLite", Recommended: true, Description: "One file, no server"},
				{Value: "postgres", Label: "PostgreSQL", Preview: lines("text", "services:", "  db:")},
			},
		}},
		Affirm: []devicetest.Affirmation{{Label: "Submit"}}, Refuse: &devicetest.Refusal{Label: "Decline"},
	}
}

// Confirm wants a yes or a no.
func Confirm() devicetest.View {
	return devicetest.View{
		ID: "confirm", Revision: "1", Kind: api.KindConfirm, Head: head("asks you to confirm", ""),
		Lines: prose("Deploy to production now?"), Silence: "Answers “Not now” in {time}",
		Affirm: []devicetest.Affirmation{{Label: "Deploy"}}, Refuse: &devicetest.Refusal{Label: "Not now"},
	}
}

// Form has a question of each kind.
func Form() devicetest.View {
	low, high := 1.0, 5.0
	return devicetest.View{
		ID: "form", Revision: "1", Kind: api.KindForm, Head: head("has 4 questions", ""), Title: "Release",
		Fields: []devicetest.Field{
			{ID: "level", Header: "Level", Question: prose("Which part rises?"), Input: interact.Choice, Required: true,
				Options: []devicetest.Option{{Value: "patch", Label: "Patch"}, {Value: "minor", Label: "Minor"}},
				Default: []string{"patch"}},
			{ID: "checks", Question: prose("Which checks?"), Input: interact.Choice, Required: true, Multi: true, Other: true,
				Hint: "Pick 1 to 5", Min: &low, Max: &high,
				Options: []devicetest.Option{{Value: "unit", Label: "Unit tests"}, {Value: "e2e", Label: "End to end"}}},
			{ID: "mail", Question: prose("Who is told?"), Input: interact.Text, Required: true, Format: interact.Email,
				Hint: "An e-mail address", Placeholder: "me@example.com"},
			{ID: "note", Question: prose("Anything else?"), Input: interact.Text, Multiline: true},
		},
		Affirm: []devicetest.Affirmation{{Label: "Submit"}}, Refuse: &devicetest.Refusal{Label: "Decline"},
	}
}

// Views is one of each.
func Views() []devicetest.View {
	return []devicetest.View{Command(), Edit(), Plan(), Ask(), Confirm(), Form(), Long()}
}
