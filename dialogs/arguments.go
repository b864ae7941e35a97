package dialogs

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"
)

// argument is one field of a tool's input.
type argument struct {
	key  string
	raw  json.RawMessage
	text string // the value, when isText
	// isText is whether the value is a JSON string.
	isText bool
}

// parseArguments reads a tool's input strictly: one JSON object in UTF-8, no key twice at any depth, no half
// characters. Whatever two readers could understand differently is an error, and then shown as it is.
func parseArguments(raw []byte) ([]argument, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	if hasLoneSurrogate(raw) {
		return nil, errors.New("half a character")
	}
	if err := checkKeys(raw); err != nil {
		return nil, err
	}

	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var args []argument
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		a := argument{key: key.(string)}
		if err := dec.Decode(&a.raw); err != nil {
			return nil, err
		}
		a.isText = json.Unmarshal(a.raw, &a.text) == nil && len(a.raw) > 0 && a.raw[0] == '"'
		args = append(args, a)
	}
	return args, nil
}

// checkKeys returns an error unless raw is one JSON value without a key that an object has twice.
func checkKeys(raw []byte) error {
	if !json.Valid(raw) { // also refuses what follows the value, and nesting without end
		return errors.New("not valid JSON")
	}
	var open []map[string]bool // for every object or array around: the keys so far, nil for an array
	var isKey bool
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if err != nil {
			return nil // the end; anything else was refused above
		}
		switch t {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
			isKey = true
			continue
		case json.Delim('['):
			open = append(open, nil)
			isKey = false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if isKey {
				keys := open[len(open)-1]
				if keys[t.(string)] {
					return errors.New("a key is there twice")
				}
				keys[t.(string)] = true
				isKey = false
				continue
			}
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

// hasLoneSurrogate reports whether a \u escape in raw names half a character, which readers replace by
// something else.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped character; for \u its digits follow
		c, ok := surrogate(raw, i)
		if !ok {
			continue
		}
		low, ok := surrogate(raw, i+6)
		if c >= 0xDC00 || !ok || raw[i+5] != '\\' || low < 0xDC00 {
			return true
		}
		i += 10
	}
	return false
}

// surrogate returns the surrogate that is written as uXXXX at i.
func surrogate(raw []byte, i int) (uint64, bool) {
	if i+5 > len(raw) || raw[i] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
	return c, err == nil && c >= 0xD800 && c <= 0xDFFF
}

// arguments are the fields of an input, in order.
type arguments []argument

// text returns the value of the first of keys that is there and a string.
func (as arguments) text(keys ...string) (key, value string, ok bool) {
	for _, k := range keys {
		for _, a := range as {
			if a.key == k && a.isText {
				return k, a.text, true
			}
		}
	}
	return "", "", false
}

// list returns the value of key when it is a non-empty array of strings.
func (as arguments) list(key string) ([]string, bool) {
	for _, a := range as {
		if a.key != key || len(a.raw) == 0 || a.raw[0] != '[' {
			continue
		}
		var items []*string
		if json.Unmarshal(a.raw, &items) != nil || len(items) == 0 {
			return nil, false
		}
		list := make([]string, len(items))
		for i, s := range items {
			if s == nil {
				return nil, false
			}
			list[i] = *s
		}
		return list, true
	}
	return nil, false
}

// isTrue reports whether key is there and true.
func (as arguments) isTrue(key string) bool {
	for _, a := range as {
		if a.key == key {
			return string(a.raw) == "true"
		}
	}
	return false
}

// without returns the fields whose keys are not among keys.
func (as arguments) without(keys ...string) arguments {
	var rest arguments
	for _, a := range as {
		if !slices.Contains(keys, a.key) {
			rest = append(rest, a)
		}
	}
	return rest
}
