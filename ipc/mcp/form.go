package mcp

import (
	"encoding/json"
	"strings"

	"nod/api"
	"nod/interact"
)

// questions are those of a form, in the many spellings that models use: other names for a field or an input type, an
// option that is just its label, a choice without options (which becomes a text), JSON in a string.
type questions []question

type question struct {
	ID          string    `json:"id" jsonschema:"key of the answer"`
	Question    string    `json:"question"`
	Header      string    `json:"header,omitzero"`
	InputType   string    `json:"input_type,omitzero" jsonschema:"choice or text"`
	Options     []option  `json:"options,omitempty"`
	MultiSelect bool      `json:"multi_select,omitzero" jsonschema:"default false"`
	Required    *bool     `json:"required,omitzero" jsonschema:"default true"`
	Default     api.Value `json:"default,omitzero" jsonschema:"a string or an array of strings"`
	Placeholder string    `json:"placeholder,omitzero"`
}

type option struct {
	Label       string `json:"label"`
	Value       string `json:"value,omitzero"`
	Description string `json:"description,omitzero"`
	Recommended bool   `json:"recommended,omitzero"`
}

// The other names under which the members of questions and options come, the likeliest first.
var (
	questionNames = map[string][]string{
		"question":     {"title", "prompt", "label", "text"},
		"input_type":   {"inputType", "question_type"},
		"multi_select": {"multiSelect", "multiple", "multi"},
	}
	optionNames = map[string][]string{"label": {"name", "text", "title"}}
)

func (list *questions) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		var encoded string
		if err := api.Decode(text, &encoded); err != nil {
			return err
		}
		text = []byte(encoded)
	}
	return api.Decode(text, (*[]question)(list))
}

func (q *question) UnmarshalJSON(text []byte) error {
	type plain question
	return decodeAs(text, (*plain)(q), questionNames)
}

func (o *option) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return api.Decode(text, &o.Label)
	}
	type plain option
	return decodeAs(text, (*plain)(o), optionNames)
}

// decodeAs decodes an object in which a member may have one of several names.
func decodeAs(text []byte, into any, names map[string][]string) error {
	var members map[string]json.RawMessage
	if err := api.Decode(text, &members); err != nil {
		return err
	}
	for name, others := range names {
		for _, other := range others {
			if value := members[name]; value == nil || string(value) == "null" {
				members[name] = members[other]
			}
		}
	}
	text, err := api.Encode(members)
	if err != nil {
		return err
	}
	return api.Decode(text, into)
}

func (list questions) form() []api.Question {
	var form []api.Question
	for _, q := range list {
		out := api.Question{
			ID: strings.TrimSpace(q.ID), Question: strings.TrimSpace(q.Question), Header: q.Header, MultiSelect: q.MultiSelect,
			Required: q.Required, Default: q.Default, Placeholder: q.Placeholder,
		}
		for _, o := range q.Options {
			out.Options = append(out.Options, api.Option{
				Label: strings.TrimSpace(o.Label), Value: strings.TrimSpace(o.Value),
				Description: o.Description, Recommended: o.Recommended,
			})
		}
		form = append(form, ofKind(out, q.InputType))
	}
	return form
}

// ofKind settles what sort of question it is. A kind that nobody knows is guessed from the options.
func ofKind(q api.Question, kind string) api.Question {
	kind = " " + strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(kind))) + " "
	if len(q.Options) > 0 && !strings.Contains(texts, kind) {
		q.InputType = interact.Choice
		q.MultiSelect = q.MultiSelect || strings.Contains(multiple, kind)
		return q
	}
	q.InputType, q.Options, q.MultiSelect = interact.Text, nil, false
	if q.Default.List && len(q.Default.Items) == 1 {
		q.Default = interact.TextValue(q.Default.Items[0])
	}
	return q
}

// The names of input types, each between blanks.
const (
	texts    = " text text_input textarea long_text short_text string input free_text "
	multiple = " multi_select multiple_select multiselect multi_choice multiple_choice checkbox checkboxes checkbox_group "
)
