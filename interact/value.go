package interact

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// Value is the answer to one question of a form, or its default: a text, or a list of picks. On the wire a
// text is a JSON string and a list is an array of strings, also when one was picked.
type Value struct {
	List  bool
	Items []string // one element when List is false; any number when it is true
}

// TextValue is a Value that is a text.
func TextValue(s string) Value { return Value{Items: []string{s}} }

// ListValue is a Value that is a list of picks.
func ListValue(items ...string) Value { return Value{List: true, Items: items} }

// IsZero reports whether v was never set.
func (v Value) IsZero() bool { return !v.List && len(v.Items) == 0 }

// String returns the text, or the only pick of a list; "" otherwise.
func (v Value) String() string {
	if len(v.Items) == 1 {
		return v.Items[0]
	}
	return ""
}

// Equal reports whether v and w are the same answer.
func (v Value) Equal(w Value) bool { return v.List == w.List && slices.Equal(v.Items, w.Items) }

// MarshalJSON implements [json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) {
	if v.List {
		if v.Items == nil {
			return []byte("[]"), nil
		}
		return json.Marshal(v.Items)
	}
	return json.Marshal(v.String())
}

// UnmarshalJSON implements [json.Unmarshaler]. Anything but a string or an array of strings is an error.
func (v *Value) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) > 0 && b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*v = TextValue(s)
		return nil
	case len(b) > 0 && b[0] == '[':
		var items []*string
		if err := json.Unmarshal(b, &items); err != nil {
			return errors.New("want a string or an array of strings")
		}
		*v = Value{List: true, Items: []string{}}
		for _, s := range items {
			if s == nil {
				return errors.New("want a string or an array of strings, got null in the array")
			}
			v.Items = append(v.Items, *s)
		}
		return nil
	}
	return errors.New("want a string or an array of strings")
}
