package acp

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
)

// The methods that the protocol's library has no names for.
const (
	cancelRequest   = "$/cancel_request" // takes a request back, in either direction
	toolCallStarted = "tool_call"        // these two are updates of a session
	toolCallUpdated = "tool_call_update"
)

type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"` // empty in a reply
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
}

// read parses a message. It fails if two parsers could understand it differently.
func read(line []byte) (m message, err error) {
	err = api.Decode(line, &m)
	return m, err
}

// idOf returns the same text for all spellings of an id, and "" for one that is neither a string nor an integer.
func idOf(v jsontext.Value) string {
	id := v.Clone()
	if id.Canonicalize() != nil || id.Kind() != '"' && (id.Kind() != '0' || strings.ContainsAny(string(id), ".e")) {
		return ""
	}
	return string(id)
}

type params struct {
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
}

func isThere(v jsontext.Value) bool {
	return len(v) > 0 && !slices.Contains([]string{"null", "{}", "[]"}, string(v))
}

func textIn(object jsontext.Value, field string) (text string, ok bool) {
	var fields map[string]jsontext.Value
	if api.Decode(object, &fields) != nil || fields[field].Kind() != '"' {
		return "", false
	}
	return text, api.Decode(fields[field], &text) == nil
}
