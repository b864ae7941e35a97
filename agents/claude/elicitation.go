package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
	"nod/interact"
	"nod/ipc/hooks"
)

// elicitation answers the questions of any MCP server that Claude Code is connected to. They arrive as a flat JSON
// schema (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
func (p Payload) elicitation(s hooks.Step) (hooks.Step, error) {
	if p.Mode == "url" {
		return p.visit(s)
	}
	return Elicit(s, p.MCPServer+" asks: "+p.Message, p.Schema, func(content map[string]any) any {
		return elicited("accept", content)
	})
}

// Elicit makes the step ask for the fields of a flat JSON schema. The agent reads the result of reply.
func Elicit(
	s hooks.Step, title string, schema json.RawMessage, reply func(content map[string]any) any,
) (hooks.Step, error) {
	fields, err := parseSchema(schema)
	if err != nil {
		return hooks.Step{}, err
	}
	s.Ask = api.Form{Title: hooks.Cut(title, interact.MaxName), Questions: questionsOf(fields)}
	s.Reply = hooks.Answered(func(a interact.Answer) (any, error) {
		content, err := contentOf(fields, a)
		if err != nil {
			return nil, err
		}
		return reply(content), nil
	})
	return s, nil
}

// visit asks whether to open an address. nod opens nothing before the user has seen the whole address and agreed.
func (p Payload) visit(s hooks.Step) (hooks.Step, error) {
	if u, err := url.Parse(p.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return hooks.Step{}, errors.New("url mode without a web address")
	}
	input, err := json.Marshal(map[string]string{"url": p.URL})
	if err != nil {
		return hooks.Step{}, err
	}
	s.Ask = interact.Approve{
		Tool: interact.OpenURL, Input: input, Description: hooks.Cut(p.MCPServer+": "+p.Message, interact.MaxText),
	}
	s.Opens = p.URL
	s.Reply = func(a interact.Answer) (any, error) {
		switch {
		case a.Outcome == api.Allowed && a.By == api.ByHuman:
			return elicited("accept", nil), nil
		case a.Outcome == api.Denied:
			return elicited("decline", nil), nil
		}
		return nil, nil
	}
	return s, nil
}

func elicited(action string, content map[string]any) any {
	return output{struct {
		Event   string         `json:"hookEventName"`
		Action  string         `json:"action"`
		Content map[string]any `json:"content,omitempty"`
	}{"Elicitation", action, content}}
}

type field struct {
	name     string
	required bool

	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"` // older spelling of titles
	OneOf       []constant      `json:"oneOf"`
	Items       struct {
		Enum  []string   `json:"enum"`
		AnyOf []constant `json:"anyOf"`
	} `json:"items"`
	Format    string   `json:"format"`
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinItems  *float64 `json:"minItems"`
	MaxItems  *float64 `json:"maxItems"`
}

type constant struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

func parseSchema(raw json.RawMessage) ([]field, error) {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(schema.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("schema: no properties")
	}
	var fields []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		f := field{name: name.(string)}
		if err := d.Decode(&f); err != nil {
			return nil, fmt.Errorf("schema: %s: %w", f.name, err)
		}
		f.required = slices.Contains(schema.Required, f.name)
		if err := f.check(); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, errors.New("schema: no properties")
	}
	return fields, nil
}

func (f field) check() error {
	switch f.Type {
	case "string", "number", "integer", "boolean":
		return nil
	case "array":
		if len(f.options()) > 0 {
			return nil
		}
		return fmt.Errorf("schema: %s: an array of anything but choices", f.name)
	}
	return fmt.Errorf("schema: %s: type %q", f.name, f.Type)
}

func (f field) options() []api.Option {
	var all []api.Option
	constants, plain := f.OneOf, f.Enum
	if f.Type == "array" {
		constants, plain = f.Items.AnyOf, f.Items.Enum
	}
	for _, c := range constants {
		all = append(all, api.Option{Label: cmp.Or(c.Title, c.Const), Value: c.Const})
	}
	for i, value := range plain {
		label := value
		if i < len(f.EnumNames) {
			label = cmp.Or(f.EnumNames[i], value)
		}
		all = append(all, api.Option{Label: label, Value: value})
	}
	if f.Type == "boolean" {
		all = []api.Option{{Label: "Yes", Value: "true"}, {Label: "No", Value: "false"}}
	}
	return all
}

// questionsOf makes the form. A schema's choices are closed: the user cannot type anything else.
func questionsOf(fields []field) []api.Question {
	var qs []api.Question
	for i, f := range fields {
		header, text := cmp.Or(f.Title, f.name), f.Description
		if text == "" {
			header, text = "", header
		}
		q := api.Question{
			ID: strconv.Itoa(i), Header: header, Question: text,
			InputType: interact.Text, Required: &f.required, Default: f.preset(),
		}
		switch options := f.options(); {
		case len(options) > 0:
			q.InputType, q.Options, q.AllowOther = interact.Choice, options, new(bool)
			q.MultiSelect = f.Type == "array"
			q.Min, q.Max = f.MinItems, f.MaxItems
		case f.Type == "integer":
			q.Format, q.Min, q.Max = interact.Integer, f.Minimum, f.Maximum
		case f.Type == "number":
			q.Format, q.Min, q.Max = interact.Number, f.Minimum, f.Maximum
		default:
			q.Format, q.Min, q.Max = f.Format, f.MinLength, f.MaxLength
		}
		qs = append(qs, q)
	}
	return qs
}

// preset returns the field's default as an answer; a default of the wrong type counts as none.
func (f field) preset() api.Value {
	var preset api.Value
	switch jsontext.Value(f.Default).Kind() {
	case jsontext.KindString, jsontext.KindBeginArray:
		if json.Unmarshal(f.Default, &preset) != nil {
			return api.Value{}
		}
	case jsontext.KindTrue, jsontext.KindFalse, jsontext.KindNumber:
		preset = interact.TextValue(string(bytes.TrimSpace(f.Default)))
	}
	options := f.options()
	preset.Items = slices.DeleteFunc(preset.Items, func(item string) bool {
		return len(options) > 0 && !slices.ContainsFunc(options, func(o api.Option) bool { return o.Value == item })
	})
	switch n := len(preset.Items); {
	case n > 0 && len(options) > 0:
		return interact.ListValue(preset.Items...)
	case n == 1:
		return interact.TextValue(preset.Items[0])
	}
	return api.Value{}
}

// contentOf turns the answers back into what the schema requires. It omits empty fields.
func contentOf(fields []field, a interact.Answer) (map[string]any, error) {
	content := map[string]any{}
	for i, f := range fields {
		v := a.Values[strconv.Itoa(i)]
		if f.Type == "array" {
			if len(v.Items) > 0 || f.required {
				content[f.name] = append([]string{}, v.Items...)
			}
			continue
		}
		text := v.String()
		if text == "" {
			continue
		}
		value, err := f.value(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		content[f.name] = value
	}
	return content, nil
}

// integer reads a whole number, which may be written as 1e3 or 5.0. JSON has no limit for one, but its readers do.
func integer(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && (n != math.Trunc(n) || math.Abs(n) > 1<<53) {
		err = fmt.Errorf("%s is not a valid whole number", text)
	}
	return int64(n), err
}

func (f field) value(text string) (any, error) {
	switch f.Type {
	case "boolean":
		return strconv.ParseBool(text)
	case "integer":
		return integer(text)
	case "number":
		return strconv.ParseFloat(text, 64)
	}
	return text, nil
}
