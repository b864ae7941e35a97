package interact

import (
	"strings"
	"testing"
)

// What a person writes has a limit, whoever brings the answer.
func TestAnswersHaveALimit(t *testing.T) {
	full, lines := strings.Repeat("中", MaxAnswer), strings.Repeat("a\n", MaxAnswerLines-1)+"a"
	requests := map[string]struct {
		body   Body
		answer func(text string) Answer
	}{
		"ask": {Ask{Question: "q"}, func(text string) Answer { return Answer{Outcome: Answered, Text: text} }},
		"other": {Ask{Question: "q", Options: []string{"a"}},
			func(text string) Answer { return Answer{Outcome: Answered, Text: text} }},
		"form": {Form{Questions: []Question{{ID: "q", InputType: Text}}},
			func(text string) Answer {
				return Answer{Outcome: Answered, Values: map[string]Value{"q": TextValue(text)}}
			}},
		"pick": {Form{Questions: []Question{{ID: "q", InputType: Choice, Options: []Option{{Value: "a"}}}}},
			func(text string) Answer {
				return Answer{Outcome: Answered, Values: map[string]Value{"q": ListValue(text)}}
			}},
		"reason": {Approve{Tool: "t"}, func(text string) Answer { return Answer{Outcome: Denied, Reason: text} }},
	}
	for name, r := range requests {
		for text, fits := range map[string]bool{full: true, full + "x": false, lines: true, lines + "\n": false} {
			if err := (Request{Body: r.body}).Check(r.answer(text)); (err == nil) != fits {
				t.Errorf("%s, %d bytes: %v", name, len(text), err)
			}
		}
	}
}
