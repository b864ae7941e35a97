package api

import (
	"bytes"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deeply arrays and objects may nest.
const maxDepth = 64

// Encode writes v as JSON. It does not escape < > &, and keeps a tool's input byte for byte except for the space
// between tokens, so that the user sees what was sent. Bytes that are not UTF-8 become U+FFFD.
func Encode(v any) ([]byte, error) { return json.Marshal(v, encoding) }

var encoding = json.JoinOptions(
	jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true),
	jsontext.AllowDuplicateNames(true), // in a tool's input, whose readers refuse them
	json.Deterministic(true),
)

// Decode reads text, which must be a single JSON value, into what into points to. Names are compared byte for byte and
// must be unique at any depth, and nothing may follow the value: with a text that two readers could understand
// differently, a user could approve one thing and a tool do another. Decode ignores members that into does not know.
// Errors are [*DecodeError].
func Decode(text []byte, into any) error { return decode(text, into) }

// DecodeStrict is Decode for what callers send: members that into does not know are errors, and so are nulls.
func DecodeStrict(text []byte, into any) error {
	if bytes.Contains(text, []byte("null")) { // to look for them at every value takes longer than all the rest
		return decode(text, into, strict, noNulls)
	}
	return decode(text, into, strict)
}

var (
	strict  = json.RejectUnknownMembers(true)
	noNulls = json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull))
)

var errNull = errors.New("got null (leave the field out instead)")

// refuseNull refuses a null before any value is decoded to its Go type.
func refuseNull(d *jsontext.Decoder, into any) error {
	if d.PeekKind() != 'n' {
		return errors.ErrUnsupported // decode it as usual
	}
	if err := d.SkipValue(); err != nil { // so that the error tells the right place
		return err
	}
	return &json.SemanticError{JSONPointer: d.StackPointer(), GoType: reflect.TypeOf(into), Err: errNull}
}

func decode(text []byte, into any, options ...json.Options) error {
	if isDeep(text) {
		return &DecodeError{Problem: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	return explain(json.Unmarshal(text, into, options...))
}

// isDeep reports whether text nests deeper than maxDepth. Its result is arbitrary if text is not JSON.
func isDeep(text []byte) bool {
	for _, depth := range Structure(text) {
		if depth > maxDepth {
			return true
		}
	}
	return false
}

// Structure yields the brackets, braces and commas of JSON, each with its depth. What it yields is arbitrary if text is
// not JSON.
func Structure(text []byte) iter.Seq2[byte, int] {
	return func(yield func(c byte, depth int) bool) {
		depth, quoted := 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quoted && c == '\\':
				i++
				continue
			case c == '"':
				quoted = !quoted
				continue
			case quoted:
				continue
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			case c != ',':
				continue
			}
			if !yield(text[i], depth) {
				return
			}
		}
	}
}

// DecodeError says what is wrong with a text that should be JSON, in words for its author.
type DecodeError struct {
	Param   string // path of what is wrong, like questions[0].id; empty: the whole
	Problem string
	Text    bool  // a string or a list of strings was wanted
	Offset  int64 // of the place in bytes, roughly
}

// Error implements error.
func (e *DecodeError) Error() string {
	if e.Param == "" {
		return e.Problem
	}
	return e.Param + ": " + e.Problem
}

// explain converts an error of the JSON library to a [DecodeError].
func explain(err error) error {
	if err == nil {
		return nil
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(syntax, jsontext.ErrDuplicateName) {
			return &DecodeError{Param: path(syntax.JSONPointer), Problem: "appears twice", Offset: syntax.ByteOffset}
		}
		problem := fmt.Sprintf("not JSON: %v at byte %d", syntax.Err, syntax.ByteOffset)
		return &DecodeError{Problem: problem, Offset: syntax.ByteOffset}
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return &DecodeError{Problem: "not JSON: " + err.Error()}
	}
	e := &DecodeError{Param: path(wrong.JSONPointer), Offset: wrong.ByteOffset}
	if inner, ok := errors.AsType[*DecodeError](wrong.Err); ok { // of a type that reads its own JSON
		e.Param, e.Problem, e.Text = join(e.Param, inner.Param), inner.Problem, inner.Text
		return e
	}
	want, isText := wanted(wrong.GoType)
	e.Text = isText
	switch {
	case errors.Is(wrong, json.ErrUnknownName):
		e.Problem = "unknown field"
	case wrong.Err == errNull:
		e.Problem = "want " + want + ", " + errNull.Error()
	case wrong.Err != nil:
		e.Problem = wrong.Err.Error()
	default:
		e.Problem = "want " + want + ", got " + kinds[wrong.JSONKind]
	}
	return e
}

var kinds = map[jsontext.Kind]string{
	'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// wanted names the JSON that a Go type is read from, and reports whether that is a string or a list of strings.
func wanted(t reflect.Type) (want string, isText bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Value]():
		return "a string or an array of strings", true
	case t == reflect.TypeFor[jsonv1.RawMessage]():
		return "a JSON object", false
	}
	switch t.Kind() {
	case reflect.String:
		return "a string", true
	case reflect.Bool:
		return "true or false", false
	case reflect.Struct, reflect.Map:
		return "an object", false
	case reflect.Slice:
		return "an array", t.Elem().Kind() == reflect.String
	}
	return "a number", false
}

// maxPath limits a path in an error, in bytes, because it repeats what a caller sent.
const maxPath = 200

// path formats a JSON pointer for people: questions[0].id.
func path(pointer jsontext.Pointer) string {
	var b strings.Builder
	for token := range pointer.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case b.Len() > maxPath: // into something nested on purpose
			return b.String() + "…"
		case err == nil:
			b.WriteString("[" + token + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(shorten(token))
	}
	return b.String()
}

func join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// shorten cuts a name that a caller made up.
func shorten(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// Value is the answer to one question of a form, or its default: a JSON string, or an array of strings, even if only
// one was picked.
type Value struct {
	List  bool
	Items []string // one element when List is false; any number when it is true
}

// IsZero reports whether v was never set.
func (v Value) IsZero() bool { return !v.List && len(v.Items) == 0 }

// String returns the text, or the only pick of a list, or "".
func (v Value) String() string {
	if len(v.Items) == 1 {
		return v.Items[0]
	}
	return ""
}

// MarshalJSON implements [encoding/json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) {
	if v.List {
		return json.Marshal(v.Items)
	}
	return json.Marshal(v.String())
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (v *Value) UnmarshalJSON(text []byte) error {
	var err error
	if v.List = text[0] == '['; v.List {
		err = json.Unmarshal(text, &v.Items, noNulls)
	} else {
		v.Items = make([]string, 1)
		err = json.Unmarshal(text, &v.Items[0], noNulls)
	}
	if err != nil {
		return errors.New("want a string or an array of strings")
	}
	return nil
}
