package interact

import (
	"strings"
	"testing"

	"nod/api"
)

// What a user writes has a limit, whoever brings the answer.
func TestAnswersHaveALimit(t *testing.T) {
	full, lines := strings.Repeat("中", MaxAnswer), strings.Repeat("a\n", MaxAnswerLines-1)+"a"
	requests := map[string]struct {
		body   Body
		answer func(text string) Answer
	}{
		"ask": {api.Ask{Question: "q"}, func(text string) Answer { return Answer{Outcome: api.Answered, Text: text} }},
		"other": {api.Ask{Question: "q", Options: []string{"a"}},
			func(text string) Answer { return Answer{Outcome: api.Answered, Text: text} }},
		"form": {api.Form{Questions: []api.Question{{ID: "q", InputType: Text}}},
			func(text string) Answer {
				return Answer{Outcome: api.Answered, Values: map[string]api.Value{"q": TextValue(text)}}
			}},
		"pick": {api.Form{Questions: []api.Question{{ID: "q", InputType: Choice, Options: []api.Option{{Value: "a"}}}}},
			func(text string) Answer {
				return Answer{Outcome: api.Answered, Values: map[string]api.Value{"q": ListValue(text)}}
			}},
		"reason": {Approve{Tool: "t"}, func(text string) Answer { return Answer{Outcome: api.Denied, Reason: text} }},
	}
	for name, r := range requests {
		for text, fits := range map[string]bool{full: true, full + "x": false, lines: true, lines + "\n": false} {
			if err := (Request{Body: r.body}).Check(r.answer(text)); (err == nil) != fits {
				t.Errorf("%s, %d bytes: %v", name, len(text), err)
			}
		}
	}
}
