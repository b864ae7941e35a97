package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// HookFile describes what nod adds to a settings file of the shape that Claude Code introduced and others took
// over: {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}.
type HookFile struct {
	Agent   string // its name
	Events  []Event
	Timeout int  // in the unit of the agent
	Named   bool // handlers carry a name
}

// entry is what nod reads of one entry in an event's list: others may write the rest in ways of their own.
type entry struct {
	Hooks []handler `json:"hooks"`
}

type handler struct {
	Command string `json:"command"`
}

// Event is one Event that nod listens to.
type Event struct {
	Name  string
	Async bool // nothing nod says changes what happens, so the agent need not wait
}

// At is the settings file in its place.
func (h HookFile) At(path string) File {
	return File{Path: path, Install: h.install, Uninstall: h.uninstall, Installed: h.installed}
}

// install adds a handler of nod's for every event, after all that is there. Handlers that nod added earlier
// go first, so that it may be done again.
func (h HookFile) install(before []byte, nod string) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}\n")
	}
	v, _, err := h.strip(before)
	if err != nil {
		return nil, err
	}
	root := v.Value.(*hujson.Object) // strip has made sure
	ed := editor{unit: indentOf(root)}
	table, err := object(ed.member(root, "hooks", 1, &hujson.Object{}), "hooks")
	if err != nil {
		return nil, err
	}
	for _, e := range h.Events {
		handlers, ok := ed.member(table, e.Name, 2, &hujson.Array{}).Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("hooks.%s is not a list", e.Name)
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

// entry is nod's handler for one Event.
func (h HookFile) entry(e Event, nod string) any {
	type handler struct {
		Name    string `json:"name,omitempty"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Async   bool   `json:"async,omitempty"`
	}
	run := handler{Type: "command", Command: command(nod, h.Agent), Timeout: h.Timeout, Async: e.Async}
	if h.Named {
		run.Name = "nod"
	}
	return struct {
		Hooks []handler `json:"hooks"`
	}{[]handler{run}}
}

// uninstall takes out every handler of nod's, and what is empty without them: in the end the file itself.
func (h HookFile) uninstall(before []byte) ([]byte, error) {
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
func (h HookFile) strip(text []byte) (v hujson.Value, changed bool, err error) {
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
				table.Members = slices.Delete(table.Members, n, n+1) // the white space before the end stays
			}
		}
	}
	if changed && len(table.Members) == 0 {
		root.Members = slices.Delete(root.Members, i, i+1)
	}
	return v, changed, nil
}

// takeOut removes nod's entries from one Event's list and reports whether there were any.
func (h HookFile) takeOut(list *hujson.Array) bool {
	before := len(list.Elements)
	list.Elements = slices.DeleteFunc(list.Elements, h.isOurs)
	return len(list.Elements) < before
}

// isOurs reports whether all handlers of an entry are nod's. An entry that somebody has added to is left.
func (h HookFile) isOurs(v hujson.Value) bool {
	var e entry
	return decode(v, &e) == nil && len(e.Hooks) > 0 &&
		!slices.ContainsFunc(e.Hooks, func(r handler) bool { return !ours(r.Command, h.Agent) })
}

// installed reports whether every event has a handler of nod's: with this nod command, or any when it is "".
func (h HookFile) installed(text []byte, nod string) bool {
	v, err := hujson.Parse(text)
	if err != nil {
		return false
	}
	var s struct {
		Hooks map[string][]entry `json:"hooks"`
	}
	if decode(v, &s) != nil {
		return false
	}
	isThis := func(r handler) bool {
		return ours(r.Command, h.Agent) && (nod == "" || r.Command == command(nod, h.Agent))
	}
	listens := func(e Event) bool {
		return slices.ContainsFunc(s.Hooks[e.Name], func(e entry) bool { return slices.ContainsFunc(e.Hooks, isThis) })
	}
	if nod == "" {
		return slices.ContainsFunc(h.Events, listens)
	}
	return !slices.ContainsFunc(h.Events, func(e Event) bool { return !listens(e) })
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
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		l, ok := m.Name.Value.(hujson.Literal)
		return ok && l.String() == name
	})
}

// editor adds to a JSON text in the text's own indentation.
type editor struct{ unit string }

// indentOf is what a member of the outermost object is indented by.
func indentOf(root *hujson.Object) string {
	if len(root.Members) == 0 {
		return "  "
	}
	before := string(root.Members[0].Name.BeforeExtra)
	i := strings.LastIndexByte(before, '\n')
	if indent := before[i+1:]; i >= 0 && indent != "" && strings.TrimLeft(indent, " \t") == "" {
		return indent
	}
	return "  "
}

func (ed editor) line(depth int) hujson.Extra {
	return hujson.Extra("\n" + strings.Repeat(ed.unit, depth))
}

// member returns the named member of o, added with this value if it is missing.
func (ed editor) member(o *hujson.Object, name string, depth int, value hujson.ValueTrimmed) *hujson.Value {
	if i := indexOf(o, name); i >= 0 {
		return &o.Members[i].Value
	}
	if len(o.Members) == 0 && o.AfterExtra == nil {
		o.AfterExtra = ed.line(depth - 1)
	}
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: ed.line(depth), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
	return &o.Members[len(o.Members)-1].Value
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
