package ipc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"nod/interact"
)

// maxDepth is how deep arrays and objects may nest in a body.
const maxDepth = 64

// decode reads the JSON object that text must be into the struct that into points to. It takes less than
// encoding/json does: names count byte for byte and appear once, nothing is unknown, null or of another
// type, and nothing follows the object. What two readers could understand in two ways would let a person
// approve one thing and a tool do another. Errors are [*interact.ParamError].
func decode(text []byte, into any) error {
	if !utf8.Valid(text) {
		return &interact.ParamError{Param: "body", Problem: "not valid UTF-8"}
	}
	if !json.Valid(text) {
		return &interact.ParamError{Param: "body", Problem: syntaxProblem(text)}
	}
	d := &decoder{text: text, json: json.NewDecoder(bytes.NewReader(text))}
	d.json.UseNumber()
	err := d.value(reflect.ValueOf(into).Elem(), 0)
	if p, ok := errors.AsType[*interact.ParamError](err); ok && p.Param == "" {
		p.Param = "body"
	}
	return err
}

// syntaxProblem says where the grammar of text breaks.
func syntaxProblem(text []byte) string {
	var into json.RawMessage
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, &into)); ok {
		return fmt.Sprintf("not JSON: %v at byte %d", syntax, syntax.Offset)
	}
	return "not JSON"
}

// decoder walks through a text whose grammar is known to be right.
type decoder struct {
	text []byte
	json *json.Decoder
}

// token returns the next token. It cannot fail: the grammar is known to be right.
func (d *decoder) token() json.Token {
	t, err := d.json.Token()
	if err != nil {
		panic(fmt.Sprintf("ipc: valid JSON that does not tokenize: %v", err))
	}
	return t
}

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// value decodes the next value into v. Parameters in its errors are relative to v.
func (d *decoder) value(v reflect.Value, depth int) error {
	if v.Type() == rawType {
		raw, err := d.raw(depth)
		v.SetBytes(raw)
		return err
	}
	if v.Addr().Type().Implements(unmarshalerType) {
		return d.custom(v, depth)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), depth)
	case reflect.Struct:
		return d.object(v, depth)
	case reflect.Slice:
		return d.array(v, depth)
	}
	return d.scalar(v)
}

// raw returns the next value as it stands in the text, after a look at every name in it.
func (d *decoder) raw(depth int) (json.RawMessage, error) {
	start := d.json.InputOffset()
	if err := d.skip(d.token(), depth); err != nil {
		return nil, err
	}
	return bytes.TrimLeft(d.text[start:d.json.InputOffset()], " \t\r\n:,"), nil
}

// custom decodes a type that reads its own JSON.
func (d *decoder) custom(v reflect.Value, depth int) error {
	raw, err := d.raw(depth)
	if err != nil {
		return err
	}
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw); err != nil {
		return &interact.ParamError{Problem: err.Error()}
	}
	return nil
}

// object decodes a JSON object into a struct.
func (d *decoder) object(v reflect.Value, depth int) error {
	if t := d.token(); t != json.Delim('{') {
		return wrongType("an object", t)
	}
	if depth++; depth > maxDepth {
		return tooDeep()
	}
	fields := fieldsOf(v.Type())
	seen := make([]bool, len(fields.list))
	for d.json.More() {
		name := d.token().(string)
		i, known := fields.byName[name]
		switch {
		case !known:
			return &interact.ParamError{Param: shorten(name), Problem: "unknown field"}
		case seen[i]:
			return &interact.ParamError{Param: name, Problem: "stands there twice"}
		}
		seen[i] = true
		f := fields.list[i]
		if err := d.value(v.FieldByIndex(f.index), depth); err != nil {
			return within(name, f.missing(err))
		}
	}
	d.token() // the closing brace
	for i, f := range fields.list {
		if f.required && !seen[i] {
			return &interact.ParamError{Param: f.name, Problem: "is missing", Missing: f.text}
		}
	}
	return nil
}

// array decodes a JSON array into a slice.
func (d *decoder) array(v reflect.Value, depth int) error {
	if t := d.token(); t != json.Delim('[') {
		return wrongType("an array", t)
	}
	if depth++; depth > maxDepth {
		return tooDeep()
	}
	for i := 0; d.json.More(); i++ {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(item, depth); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
		v.Set(reflect.Append(v, item))
	}
	d.token() // the closing bracket
	return nil
}

// scalar decodes a string, a boolean or a number.
func (d *decoder) scalar(v reflect.Value) error {
	t := d.token()
	switch v.Kind() {
	case reflect.String:
		s, ok := t.(string)
		if !ok {
			return wrongType("a string", t)
		}
		v.SetString(s)
	case reflect.Bool:
		b, ok := t.(bool)
		if !ok {
			return wrongType("true or false", t)
		}
		v.SetBool(b)
	case reflect.Float64:
		n, ok := t.(json.Number)
		if !ok {
			return wrongType("a number", t)
		}
		f, err := n.Float64()
		if err != nil {
			return &interact.ParamError{Problem: "out of range"}
		}
		v.SetFloat(f)
	default:
		panic(fmt.Sprintf("ipc: no JSON for a %s", v.Type()))
	}
	return nil
}

// skip goes past the value that begins with t, and refuses names that stand twice in an object, and depth.
func (d *decoder) skip(t json.Token, depth int) error {
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth++; depth > maxDepth {
		return tooDeep()
	}
	names := map[string]bool{}
	for i := 0; d.json.More(); i++ {
		at := ""
		if open == '{' {
			at = d.token().(string)
			if names[at] {
				return &interact.ParamError{Param: shorten(at), Problem: "stands there twice"}
			}
			names[at] = true
		}
		if err := d.skip(d.token(), depth); err != nil {
			if open == '[' {
				at = "[" + strconv.Itoa(i) + "]"
			}
			return within(shorten(at), err)
		}
	}
	d.token() // the closing one
	return nil
}

func tooDeep() error {
	return &interact.ParamError{Problem: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
}

// wrongType says what stands in the place of what was wanted.
func wrongType(want string, got json.Token) error {
	kind := "a string"
	switch got.(type) {
	case nil:
		kind = "null (leave the field out instead)"
	case bool:
		kind = "a boolean"
	case json.Number:
		kind = "a number"
	case json.Delim:
		kind = "an object"
		if got == json.Delim('[') {
			kind = "an array"
		}
	}
	return &interact.ParamError{Problem: "want " + want + ", got " + kind}
}

// within puts the name of what contains it before the parameter of an error.
func within(name string, err error) error {
	p, ok := errors.AsType[*interact.ParamError](err)
	if !ok {
		return err
	}
	switch {
	case len(p.Param) > maxParam: // a path into something nested on purpose
	case p.Param == "":
		p.Param = name
	case p.Param[0] == '[':
		p.Param = name + p.Param
	default:
		p.Param = name + "." + p.Param
	}
	return p
}

// maxParam is how long a path in an error gets, in bytes: it repeats what a caller sent.
const maxParam = 200

// shorten cuts a name that a caller made up.
func shorten(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// field is a member of a JSON object that a struct knows.
type field struct {
	name     string
	index    []int
	required bool
	text     bool // a string
}

// missing marks an error about the field itself: a required text that is not a string counts as missing.
func (f field) missing(err error) error {
	if p, ok := errors.AsType[*interact.ParamError](err); ok && p.Param == "" {
		p.Missing = f.required && f.text
	}
	return err
}

type fieldSet struct {
	list   []field
	byName map[string]int
}

var fieldSets sync.Map // reflect.Type to *fieldSet

// fieldsOf lists the fields of a struct, and of those embedded in it, by their JSON names.
func fieldsOf(t reflect.Type) *fieldSet {
	if set, ok := fieldSets.Load(t); ok {
		return set.(*fieldSet)
	}
	set := &fieldSet{byName: map[string]int{}}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		set.byName[name] = len(set.list)
		set.list = append(set.list, field{
			name: name, index: f.Index, required: f.Tag.Get("required") == "true", text: f.Type.Kind() == reflect.String,
		})
	}
	kept, _ := fieldSets.LoadOrStore(t, set)
	return kept.(*fieldSet)
}
