package client

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"unicode/utf8"

	"nod/interact"
)

// object is a JSON object whose names were read exactly. encoding/json on its own would also take
// "Decision" for decision, and of two decisions the last. The first thing that is wrong stays in err, and
// nothing is read after it.
type object struct {
	members map[string]json.RawMessage
	err     error
}

// parseObject reads the one object that text must be.
func parseObject(text []byte) *object {
	if !utf8.Valid(text) {
		return &object{err: badReply("not UTF-8")}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return &object{err: badReply("not a JSON object")}
	}
	o := &object{members: map[string]json.RawMessage{}}
	for d.More() && o.err == nil {
		o.err = o.member(d)
	}
	if o.err != nil {
		return o
	}
	if t, err := d.Token(); err != nil || t != json.Delim('}') {
		o.err = badReply("broken JSON")
	} else if _, err := d.Token(); err != io.EOF {
		o.err = badReply("something follows the JSON object")
	}
	return o
}

// member reads one name and its value.
func (o *object) member(d *json.Decoder) error {
	t, err := d.Token()
	name, ok := t.(string)
	if err != nil || !ok {
		return badReply("broken JSON")
	}
	if _, twice := o.members[name]; twice {
		return badReply("%q is there twice", name)
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return badReply("broken JSON")
	}
	o.members[name] = value
	return nil
}

// want decodes the named member, which must be there and not null.
func (o *object) want(name string, into any) {
	if o.err == nil && !o.has(name) {
		o.err = badReply("%q is missing", name)
	}
	o.may(name, into)
}

// may decodes the named member when it is there.
func (o *object) may(name string, into any) {
	if o.err != nil || !o.has(name) {
		return
	}
	if json.Unmarshal(o.members[name], into) != nil {
		o.err = badReply("%q is of the wrong type", name)
	}
}

func (o *object) has(name string) bool {
	text, ok := o.members[name]
	return ok && string(text) != "null"
}

// outcome notes an error when o states an outcome that is none of these.
func (o *object) outcome(fit ...interact.Outcome) {
	var got interact.Outcome
	o.may("outcome", &got)
	if o.err == nil && got != "" && !slices.Contains(fit, got) {
		o.err = badReply("an answer to what was %q", got)
	}
}

// must notes an error unless ok.
func (o *object) must(ok bool, format string, args ...any) {
	if o.err == nil && !ok {
		o.err = badReply(format, args...)
	}
}

// read returns r when all of o was as it should be. Half a reply is never returned.
func read[T any](r T, o *object) (T, error) {
	if o.err != nil {
		var none T
		return none, o.err
	}
	return r, nil
}
