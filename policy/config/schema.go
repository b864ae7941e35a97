package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"nod/policy"
)

type schema struct {
	keys  []field                                // of a mapping, in the order of a fresh file
	item  *schema                                // of a list
	check func(node *yaml.Node) (problem string) // of a scalar
}

type field struct {
	name   string
	schema *schema
}

var fileSchema = sync.OnceValue(func() *schema { return schemaOf(reflect.TypeFor[Config]()) })

func schemaOf(t reflect.Type) *schema {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return &schema{check: checkDuration}
	case t.Kind() == reflect.Bool:
		return &schema{check: checkBool}
	case t.Kind() == reflect.Int:
		return &schema{check: checkWhole}
	case t.Kind() == reflect.Slice:
		return &schema{item: schemaOf(t.Elem())}
	case t.Kind() != reflect.Struct:
		return &schema{check: checkText}
	}
	s := &schema{}
	for f := range t.Fields() {
		key := field{name: yamlKey(f), schema: schemaOf(f.Type)}
		if key.name == "expires" {
			key.schema.check = checkDay
		}
		s.keys = append(s.keys, key)
	}
	return s
}

func yamlKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}

func (s *schema) names() []string {
	names := make([]string, len(s.keys))
	for i, f := range s.keys {
		names[i] = f.name
	}
	return names
}

func checkText(n *yaml.Node) string {
	if n.Tag != "!!str" {
		return fmt.Sprintf("%s is %s: want a text; put it in quotes", n.Value, kindOf(n))
	}
	return ""
}

// checkDay accepts dates and times as text: unquoted, YAML parses them.
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

// checkWhole accepts decimal digits only: 0x10, 1_000 and 010 are ambiguous.
func checkWhole(n *yaml.Node) string {
	if i, err := strconv.Atoi(n.Value); err != nil || strconv.Itoa(i) != n.Value || n.Tag != "!!int" {
		return fmt.Sprintf("%q: want a whole number", n.Value)
	}
	return ""
}

func checkDuration(n *yaml.Node) string {
	if _, err := ParseDuration(n.Value); err != nil || n.Tag != "!!str" {
		return fmt.Sprintf("%q: want a number with its unit, as in 700ms, 5m or 90d", n.Value)
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

// An outline is a file of the right shape: known keys, once each, with values of the right kind. The values are
// unchecked.
type outline struct {
	path     string
	root     *yaml.Node        // the top mapping; nil if the file is empty
	lines    map[string]int    // by key, as in "policy.rules[2].effect"
	env      map[string]string // variables that override keys
	problems []*fileError
}

func (o *outline) refuse(line int, key, format string, args ...any) {
	file := cmp.Or(o.env[key], o.path)
	o.problems = append(o.problems, &fileError{file, line, key, fmt.Sprintf(format, args...)})
}

// check compares a node with its schema. It turns a key without a value into an empty mapping or list, so that the user
// can comment out all of it.
func (o *outline) check(n *yaml.Node, s *schema, key string) {
	o.lines[key] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		o.refuse(n.Line, key, "anchors and aliases are not supported: write the value out")
		return
	}
	empty := isEmpty(n)
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

// retired are keys that earlier versions wrote into every file: they have no effect.
var retired = []string{"history.forward", "prompt.locked", "prompt.shortcut"}

func (o *outline) checkMapping(n *yaml.Node, s *schema, key string, empty bool) {
	if empty {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	if n.Kind != yaml.MappingNode || n.Tag != "!!map" {
		o.refuse(n.Line, key, "this is %s: want a mapping with the keys %s", kindOf(n), policy.OrList(s.names()))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		full := strings.TrimPrefix(key+"."+name.Value, ".")
		at := slices.IndexFunc(s.keys, func(f field) bool { return f.name == name.Value })
		switch {
		case slices.Contains(retired, full):
			n.Content = slices.Delete(n.Content, i, i+2)
			i -= 2
			continue
		case name.Kind != yaml.ScalarNode || name.Tag != "!!str" || at < 0:
			o.refuse(name.Line, full, "unknown key: want %s", policy.OrList(s.names()))
			continue
		case first[name.Value] != 0:
			o.refuse(name.Line, full, "the key is already on line %d: remove one of them", first[name.Value])
			continue
		}
		first[name.Value] = name.Line
		o.check(value, s.keys[at].schema, full)
		o.lines[full] = name.Line
	}
}
