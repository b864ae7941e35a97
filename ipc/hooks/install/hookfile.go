package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// hooks describes what nod adds to a settings file of the shape that Claude Code introduced and others took
// over: {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}.
type hooks struct {
	agent   string
	events  []event
	timeout int  // in the unit of the agent
	named   bool // handlers carry a name
}

// event is one event that nod listens to.
type event struct {
	name  string
	async bool // nothing nod says changes what happens, so the agent need not wait
}

func (h hooks) file(path string) file {
	return file{path: path, install: h.install, uninstall: h.uninstall, installed: h.installed}
}

// install adds a handler of nod's for every event, after all that is there. Handlers that nod added earlier
// go first, so that it may be done again.
func (h hooks) install(before []byte, nod string) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}\n")
	}
	v, _, err := h.strip(before)
	if err != nil {
		return nil, err
	}
	root := v.Value.(*hujson.Object) // strip has made sure
	ed := editor{unit: indentOf(root)}
	all, err := ed.member(root, "hooks", 1, &hujson.Object{})
	if err != nil {
		return nil, err
	}
	table, err := object(all, "hooks")
	if err != nil {
		return nil, err
	}
	for _, e := range h.events {
		list, err := ed.member(table, e.name, 2, &hujson.Array{})
		if err != nil {
			return nil, err
		}
		handlers, ok := list.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("hooks.%s is not a list", e.name)
		}
		if err := ed.add(handlers, 3, h.entry(e, nod)); err != nil {
			return nil, err
		}
	}
	if after := v.Pack(); !same(before, after) {
		return after, nil
	}
	return before, nil // it differs in white space at most
}

// same reports whether two texts are the same JSON value.
func same(a, b []byte) bool {
	x, errX := hujson.Parse(a)
	y, errY := hujson.Parse(b)
	var v, w any
	return errX == nil && errY == nil && decode(x, &v) == nil && decode(y, &w) == nil && reflect.DeepEqual(v, w)
}

// entry is nod's handler for one event.
func (h hooks) entry(e event, nod string) any {
	type handler struct {
		Name    string `json:"name,omitempty"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Async   bool   `json:"async,omitempty"`
	}
	run := handler{Type: "command", Command: command(nod, h.agent), Timeout: h.timeout, Async: e.async}
	if h.named {
		run.Name = "nod"
	}
	return struct {
		Hooks []handler `json:"hooks"`
	}{[]handler{run}}
}

// uninstall takes out every handler of nod's, and what is empty without them: in the end the file itself.
func (h hooks) uninstall(before []byte) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		return before, nil
	}
	v, changed, err := h.strip(before)
	switch {
	case err != nil:
		return nil, err
	case !changed:
		return before, nil
	case len(v.Value.(*hujson.Object).Members) == 0:
		return nil, nil
	}
	return v.Pack(), nil
}

// strip reads a settings file, an object, and takes nod's handlers out of it.
func (h hooks) strip(text []byte) (v hujson.Value, changed bool, err error) {
	v, err = hujson.Parse(text)
	if err != nil {
		return v, false, fmt.Errorf("is not JSON that nod can edit: %w", err)
	}
	root, err := object(&v, "the file")
	if err != nil {
		return v, false, err
	}
	i := indexOf(root, "hooks")
	if i < 0 {
		return v, false, nil
	}
	table, err := object(&root.Members[i].Value, "hooks")
	if err != nil {
		return v, false, err
	}
	for n := len(table.Members) - 1; n >= 0; n-- {
		list, ok := table.Members[n].Value.Value.(*hujson.Array)
		if ok && h.takeOut(list) {
			changed = true
			if len(list.Elements) == 0 {
				dropMember(table, n)
			}
		}
	}
	if changed && len(table.Members) == 0 {
		dropMember(root, i)
	}
	return v, changed, nil
}

// takeOut removes nod's entries from one event's list and reports whether there were any.
func (h hooks) takeOut(list *hujson.Array) bool {
	kept := list.Elements[:0]
	for _, e := range list.Elements {
		if !h.isOurs(e) {
			kept = append(kept, e)
		}
	}
	changed := len(kept) != len(list.Elements)
	list.Elements = kept
	return changed
}

// isOurs reports whether all handlers of an entry are nod's. An entry that somebody has added to is left.
func (h hooks) isOurs(v hujson.Value) bool {
	var e struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if decode(v, &e) != nil || len(e.Hooks) == 0 {
		return false
	}
	for _, handler := range e.Hooks {
		if !ours(handler.Command, h.agent) {
			return false
		}
	}
	return true
}

// installed reports whether every event has a handler of nod's: with this nod command, or any when it is "".
func (h hooks) installed(text []byte, nod string) bool {
	v, err := hujson.Parse(text)
	if err != nil {
		return false
	}
	var s struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if decode(v, &s) != nil {
		return false
	}
	listening := 0
	for _, e := range h.events {
		found := false
		for _, entry := range s.Hooks[e.name] {
			for _, handler := range entry.Hooks {
				found = found || ours(handler.Command, h.agent) && (nod == "" || handler.Command == command(nod, h.agent))
			}
		}
		if found {
			listening++
		}
	}
	return listening == len(h.events) || nod == "" && listening > 0
}

// decode reads a value as plain JSON, comments left out.
func decode(v hujson.Value, into any) error {
	plain := v.Clone()
	plain.Standardize()
	return json.Unmarshal(plain.Pack(), into)
}

func object(v *hujson.Value, what string) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New(what + " is not a JSON object")
	}
	return o, nil
}

func indexOf(o *hujson.Object, name string) int {
	for i, m := range o.Members {
		if l, ok := m.Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// dropMember removes a member. The white space before the end belongs to the object, so it stays.
func dropMember(o *hujson.Object, i int) {
	o.Members = append(o.Members[:i], o.Members[i+1:]...)
}

// editor adds to a JSON text in the text's own indentation.
type editor struct{ unit string }

// indentOf is what a member of the outermost object is indented by.
func indentOf(root *hujson.Object) string {
	if len(root.Members) == 0 {
		return "  "
	}
	before := string(root.Members[0].Name.BeforeExtra)
	if i := strings.LastIndexByte(before, '\n'); i >= 0 && strings.TrimLeft(before[i+1:], " \t") == "" && before[i+1:] != "" {
		return before[i+1:]
	}
	return "  "
}

func (ed editor) line(depth int) hujson.Extra {
	return hujson.Extra("\n" + strings.Repeat(ed.unit, depth))
}

// member returns the named member of o, added with this value if it is missing.
func (ed editor) member(o *hujson.Object, name string, depth int, value hujson.ValueTrimmed) (*hujson.Value, error) {
	if i := indexOf(o, name); i >= 0 {
		return &o.Members[i].Value, nil
	}
	if len(o.Members) == 0 && o.AfterExtra == nil {
		o.AfterExtra = ed.line(depth - 1)
	}
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: ed.line(depth), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
	return &o.Members[len(o.Members)-1].Value, nil
}

// add appends an element to a list.
func (ed editor) add(list *hujson.Array, depth int, element any) error {
	indent := strings.Repeat(ed.unit, depth)
	text, err := json.MarshalIndent(element, indent, ed.unit)
	if err != nil {
		return err
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return err
	}
	if len(list.Elements) == 0 && list.AfterExtra == nil {
		list.AfterExtra = ed.line(depth - 1)
	}
	v.BeforeExtra = ed.line(depth)
	list.Elements = append(list.Elements, v)
	return nil
}
