package prompt

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

type argument struct {
	key    string
	raw    json.RawMessage
	text   string // the value, if isText
	isText bool   // the value is a JSON string
}

// parseArguments parses a tool's input strictly: one JSON object in UTF-8, without duplicate keys at any depth or
// unpaired surrogates. Anything that two parsers could understand differently is an error; the input is then shown
// unchanged.
func parseArguments(raw []byte) (args arguments, ok bool) {
	if value := jsontext.Value(raw); !value.IsValid() || value.Kind() != '{' {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() != '}' {
		key, _ := dec.ReadToken()
		a := argument{key: key.String()}
		var value jsontext.Value
		if value, err = dec.ReadValue(); err != nil {
			break
		}
		a.raw, a.isText = json.RawMessage(value.Clone()), value.Kind() == '"'
		if a.isText {
			_ = json.Unmarshal(value, &a.text)
		}
		args = append(args, a)
	}
	return args, err == nil
}

type arguments []argument

func (as arguments) text(keys ...string) (key, value string, ok bool) {
	for _, k := range keys {
		if a, ok := as.find(k); ok && a.isText {
			return k, a.text, true
		}
	}
	return "", "", false
}

func (as arguments) find(key string) (argument, bool) {
	i := slices.IndexFunc(as, func(a argument) bool { return a.key == key })
	if i < 0 {
		return argument{}, false
	}
	return as[i], true
}

func (as arguments) list(key string) ([]string, bool) {
	var items []*string
	a, ok := as.find(key)
	if !ok || !bytes.HasPrefix(a.raw, []byte("[")) || json.Unmarshal(a.raw, &items) != nil || len(items) == 0 {
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

func (as arguments) isTrue(key string) bool {
	a, ok := as.find(key)
	return ok && string(a.raw) == "true"
}

func (as arguments) without(keys ...string) arguments {
	return slices.DeleteFunc(slices.Clone(as), func(a argument) bool { return slices.Contains(keys, a.key) })
}
