package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nod/interact"
)

// arguments reads a tool's arguments by name. The first thing wrong stays in err. Arguments that nobody
// reads are ignored: models add some.
type arguments struct {
	members map[string]json.RawMessage
	err     error
}

func parseArguments(raw json.RawMessage) *arguments {
	a := &arguments{members: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return a
	}
	if err := json.Unmarshal(raw, &a.members); err != nil {
		a.err = &Error{codeParam, "the arguments are not a JSON object"}
	}
	return a
}

func (a *arguments) set(name, raw string) { a.members[name] = json.RawMessage(raw) }

func (a *arguments) has(name string) bool {
	raw, ok := a.members[name]
	return ok && string(raw) != "null"
}

// fail notes what is wrong with an argument: of two problems the first.
func (a *arguments) fail(code, name, problem string) {
	if a.err == nil {
		a.err = &Error{code, name + ": " + problem}
	}
}

// text reads a string. A missing one is empty, unless it is required.
func (a *arguments) text(name string, required bool) string {
	if !a.has(name) {
		if required {
			a.fail(codeArgument, name, "want a string")
		}
		return ""
	}
	var s string
	if json.Unmarshal(a.members[name], &s) != nil {
		a.fail(codeArgument, name, "want a string")
	}
	return s
}

func (a *arguments) texts(name string) []string {
	if !a.has(name) {
		return nil
	}
	var list []*string
	if json.Unmarshal(a.members[name], &list) != nil {
		a.fail(codeArgument, name, "want an array of strings")
		return nil
	}
	var texts []string
	for _, s := range list {
		if s == nil {
			a.fail(codeArgument, name, "want an array of strings")
			return nil
		}
		texts = append(texts, *s)
	}
	return texts
}

func (a *arguments) flag(name string, otherwise bool) bool {
	if !a.has(name) {
		return otherwise
	}
	var b bool
	if json.Unmarshal(a.members[name], &b) != nil {
		a.fail(codeParam, name, "want true or false")
	}
	return b
}

// seconds reads a duration in seconds, from 0 to a day.
func (a *arguments) seconds(name string, otherwise time.Duration) time.Duration {
	if !a.has(name) {
		return otherwise
	}
	var n float64
	if json.Unmarshal(a.members[name], &n) != nil || n < 0 || n > interact.MaxTimeout.Seconds() {
		a.fail(codeParam, name, fmt.Sprintf("want 0 to %d seconds", int(interact.MaxTimeout.Seconds())))
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

func (a *arguments) object(name string) json.RawMessage {
	raw := bytes.TrimSpace(a.members[name])
	if len(raw) == 0 || raw[0] != '{' {
		a.fail(codeParam, name, "want a JSON object")
		return nil
	}
	return raw
}

// questions reads the questions of a form in the many spellings that models use: other names for a field
// or an input type, an option that is just its label, a choice without options (which becomes a text).
func (a *arguments) questions() []interact.Question {
	var list []map[string]json.RawMessage
	raw := a.members["questions"]
	var encoded string
	if json.Unmarshal(raw, &encoded) == nil { // some models pass JSON in a string
		raw = json.RawMessage(encoded)
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		a.fail(codeParam, "questions", "want a non-empty array of questions")
		return nil
	}
	var questions []interact.Question
	for i, members := range list {
		q := loose{members: members}
		questions = append(questions, q.question())
		if q.wrong != "" {
			code := codeParam
			if q.wrong == "id" || q.wrong == "question" {
				code = codeArgument
			}
			a.fail(code, fmt.Sprintf("questions[%d].%s", i, q.wrong), "is of the wrong type")
		}
	}
	return questions
}

// loose reads a JSON object that may spell the names of its members in several ways.
type loose struct {
	members map[string]json.RawMessage
	wrong   string // the first member that is of the wrong type
}

// get decodes the first of names that is there.
func (l *loose) get(into any, names ...string) {
	for _, name := range names {
		raw, ok := l.members[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if json.Unmarshal(raw, into) != nil && l.wrong == "" {
			l.wrong = names[0]
		}
		return
	}
}

func (l *loose) question() interact.Question {
	var q interact.Question
	var kind string
	var options []json.RawMessage
	l.get(&q.ID, "id")
	l.get(&q.Question, "question", "title", "prompt", "label", "text")
	l.get(&q.Header, "header")
	l.get(&kind, "input_type", "inputType", "question_type")
	l.get(&q.MultiSelect, "multi_select", "multiSelect", "multiple", "multi")
	l.get(&q.Required, "required")
	l.get(&q.Default, "default")
	l.get(&q.Placeholder, "placeholder")
	l.get(&options, "options")
	q.ID, q.Question = strings.TrimSpace(q.ID), strings.TrimSpace(q.Question)
	for _, raw := range options {
		q.Options = append(q.Options, l.option(raw))
	}
	return ofKind(q, kind)
}

func (l *loose) option(raw json.RawMessage) interact.Option {
	var label string
	if json.Unmarshal(raw, &label) == nil {
		return interact.Option{Label: strings.TrimSpace(label)}
	}
	o := loose{}
	if json.Unmarshal(raw, &o.members) != nil {
		o.wrong = "options"
	}
	var out interact.Option
	o.get(&out.Label, "label", "name", "text", "title")
	o.get(&out.Value, "value")
	o.get(&out.Description, "description")
	o.get(&out.Recommended, "recommended")
	if o.wrong != "" && l.wrong == "" {
		l.wrong = "options"
	}
	out.Label, out.Value = strings.TrimSpace(out.Label), strings.TrimSpace(out.Value)
	return out
}

// ofKind settles what sort of question it is. A kind that nobody knows is guessed from the options.
func ofKind(q interact.Question, kind string) interact.Question {
	kind = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(kind)))
	switch {
	case len(q.Options) == 0 || texts[kind]:
		q.InputType, q.Options, q.MultiSelect = interact.Text, nil, false
	default:
		q.InputType = interact.Choice
		q.MultiSelect = q.MultiSelect || multiple[kind]
	}
	if q.InputType == interact.Text && q.Default.List && len(q.Default.Items) == 1 {
		q.Default = interact.TextValue(q.Default.Items[0])
	}
	return q
}

var (
	texts    = set("text text_input textarea long_text short_text string input free_text")
	multiple = set("multi_select multiple_select multiselect multi_choice multiple_choice checkbox checkboxes checkbox_group")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
