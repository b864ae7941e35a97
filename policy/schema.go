package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A schema says what one place of the file may hold: a mapping with known keys, a list, or a scalar.
type schema struct {
	keys  []field                                // of a mapping, in the order in which a fresh file has them
	item  *schema                                // of a list
	check func(node *yaml.Node) (problem string) // of a scalar
}

type field struct {
	name   string
	schema *schema
	env    string // environment variable that overrides it; policy has none: it must be readable in one place
}

var (
	text     = &schema{check: checkText}
	boolean  = &schema{check: checkBool}
	duration = &schema{check: checkDuration}
	texts    = &schema{item: text}

	ruleSchema = &schema{keys: []field{
		{name: "id", schema: text}, {name: "effect", schema: text}, {name: "agent", schema: text},
		{name: "program", schema: text}, {name: "tool", schema: text}, {name: "class", schema: text},
		{name: "path", schema: text}, {name: "command", schema: text}, {name: "run", schema: texts}, {name: "cwd", schema: text},
		{name: "session", schema: text}, {name: "mcp_server", schema: text}, {name: "host", schema: text},
		{name: "args", schema: &schema{item: &schema{keys: []field{{name: "field", schema: text}, {name: "value", schema: text}}}}},
		{name: "expires", schema: &schema{check: checkDay}},
		{name: "disabled", schema: boolean}, {name: "note", schema: text},
		{name: "examples", schema: &schema{keys: []field{{name: "match", schema: texts}, {name: "no_match", schema: texts}}}},
	}}

	fileSchema = &schema{keys: []field{
		{name: "ipc", schema: &schema{keys: []field{{"address", text, "NOD_IPC_ADDRESS"}}}},
		{name: "prompt", schema: &schema{keys: []field{
			{"timeout", duration, "NOD_PROMPT_TIMEOUT"},
			{"arm_after", duration, "NOD_PROMPT_ARM_AFTER"},
			{"on_top", boolean, "NOD_PROMPT_ON_TOP"},
		}}},
		{name: "notifications", schema: &schema{keys: []field{
			{"prompts", boolean, "NOD_NOTIFICATIONS_PROMPTS"},
			{"notices", boolean, "NOD_NOTIFICATIONS_NOTICES"},
		}}},
		{name: "look", schema: &schema{keys: []field{
			{"theme", text, "NOD_LOOK_THEME"},
			{"language", text, "NOD_LOOK_LANGUAGE"},
		}}},
		{name: "agents", schema: &schema{keys: []field{{name: "strict", schema: texts}}}},
		{name: "policy", schema: &schema{keys: []field{
			{name: "auto_allow", schema: texts}, {name: "ask_everything", schema: boolean},
			{name: "trusted_agents", schema: texts}, {name: "trusted_roots", schema: texts}, {name: "rules", schema: &schema{item: ruleSchema}},
		}}},
	}}
)

func (s *schema) find(key string) (field, bool) {
	i := slices.IndexFunc(s.keys, func(f field) bool { return f.name == key })
	if i < 0 {
		return field{}, false
	}
	return s.keys[i], true
}

func (s *schema) names() []string {
	names := make([]string, len(s.keys))
	for i, f := range s.keys {
		names[i] = f.name
	}
	return names
}

// overrides lists the keys that an environment variable may set, with their variables.
func (s *schema) overrides(under string, yield func(key string, f field)) {
	for _, f := range s.keys {
		key := strings.TrimPrefix(under+"."+f.name, ".")
		if f.env != "" {
			yield(key, f)
		}
		f.schema.overrides(key, yield)
	}
}

func checkText(n *yaml.Node) string {
	if n.Tag != "!!str" {
		return fmt.Sprintf("%s is %s: want a text; put it in quotes", n.Value, kindOf(n))
	}
	return ""
}

// checkDay takes a day or a time, which YAML knows without quotes, as the text that it is.
func checkDay(n *yaml.Node) string {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	return checkText(n)
}

func checkBool(n *yaml.Node) string {
	if n.Tag != "!!bool" || (n.Value != "true" && n.Value != "false") {
		return fmt.Sprintf("%q: want true or false", n.Value)
	}
	return ""
}

func checkDuration(n *yaml.Node) string {
	if _, err := time.ParseDuration(n.Value); err != nil || n.Tag != "!!str" {
		return fmt.Sprintf("%q: want a number with its unit, as in 5m or 700ms", n.Value)
	}
	return ""
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "a number"
	case n.Tag == "!!bool":
		return "true or false"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!timestamp":
		return "a date"
	}
	return "a text"
}

// An outline is a file that has been found to have the right shape: known keys, once each, with values of
// the right kind. What the values mean is still to be checked.
type outline struct {
	root     *yaml.Node     // the mapping at the top; nil when the file says nothing
	lines    map[string]int // by key, as in "policy.rules[2].effect"
	problems []problem
}

type problem struct {
	line int
	FieldError
}

func (o *outline) refuse(line int, key, format string, args ...any) {
	o.problems = append(o.problems, problem{line, FieldError{key, fmt.Sprintf(format, args...)}})
}

// check compares a node with what may stand there. It mends one thing: a key that is followed by nothing
// but comments holds an empty mapping or an empty list, so that a person can comment out all of it.
func (o *outline) check(n *yaml.Node, s *schema, key string) {
	o.lines[key] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		o.refuse(n.Line, key, "anchors and aliases are not supported: write the value out")
		return
	}
	empty := n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == ""
	switch {
	case s.check != nil && n.Kind != yaml.ScalarNode:
		o.refuse(n.Line, key, "this is %s: want a single value", kindOf(n))
	case s.check != nil && empty:
		o.refuse(n.Line, key, "the value is missing: write one, or remove the key")
	case s.check != nil:
		if p := s.check(n); p != "" {
			o.refuse(n.Line, key, "%s", p)
		}
	case s.item != nil:
		o.checkList(n, s, key, empty)
	default:
		o.checkMapping(n, s, key, empty)
	}
}

func (o *outline) checkList(n *yaml.Node, s *schema, key string, empty bool) {
	if empty {
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	}
	if n.Kind != yaml.SequenceNode || n.Tag != "!!seq" {
		o.refuse(n.Line, key, "this is %s: want a list", kindOf(n))
		return
	}
	for i, item := range n.Content {
		o.check(item, s.item, key+"["+strconv.Itoa(i)+"]")
	}
}

func (o *outline) checkMapping(n *yaml.Node, s *schema, key string, empty bool) {
	if empty {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	if n.Kind != yaml.MappingNode || n.Tag != "!!map" {
		o.refuse(n.Line, key, "this is %s: want a mapping with the keys %s", kindOf(n), orList(s.names()))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		full := strings.TrimPrefix(key+"."+name.Value, ".")
		f, known := s.find(name.Value)
		switch {
		case name.Kind != yaml.ScalarNode || name.Tag != "!!str" || !known:
			o.refuse(name.Line, full, "unknown key: want %s", orList(s.names()))
			continue
		case first[name.Value] != 0:
			o.refuse(name.Line, full, "the key is already on line %d: remove one of them", first[name.Value])
			continue
		}
		first[name.Value] = name.Line
		o.check(value, f.schema, full)
		o.lines[full] = name.Line
	}
}
