package mcp

import (
	"strings"

	"nod/api"
	"nod/interact"
)

// questions are the questions of a form as models write them: an option may be just its label, a choice without options
// is a text, and everything may be JSON in a string.
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

func (o *option) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return api.Decode(text, &o.Label)
	}
	type plain option
	return api.Decode(text, (*plain)(o))
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
		if out.InputType = interact.Choice; len(out.Options) == 0 || q.InputType == interact.Text {
			out = asText(out)
		}
		form = append(form, out)
	}
	return form
}

func asText(q api.Question) api.Question {
	q.InputType, q.Options, q.MultiSelect = interact.Text, nil, false
	if q.Default.List && len(q.Default.Items) == 1 {
		q.Default = interact.TextValue(q.Default.Items[0])
	}
	return q
}
