package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"
	"github.com/tailscale/hujson"

	"nod/policy"
)

type document struct {
	mark  []byte // a byte order mark, or nothing
	value hujson.Value
	root  *hujson.Object // of value
	unit  string         // indentation of one level
	end   string         // of a line
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func isBlank(text []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))) == 0
}

// parse reads a settings file. It refuses one in which two readers could see different hooks.
func parse(text []byte) (*document, error) {
	if isBlank(text) {
		text = slices.Concat(bytes.TrimSpace(text), []byte("{}\n"))
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("is not UTF-8 (perhaps UTF-16): save it as UTF-8")
	}
	d := &document{end: "\n"}
	plain, marked := bytes.CutPrefix(text, byteOrderMark)
	if marked {
		d.mark = byteOrderMark
	}
	var err error
	if d.value, err = policy.ParseSettings(plain); err != nil {
		return nil, fmt.Errorf("is not JSON that nod can edit: %w", err)
	}
	if d.root, err = object(&d.value, "the file"); err != nil {
		return nil, err
	}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.end = "\r\n"
	}
	d.unit = indentOf(d.root)
	return d, d.namedOnce()
}

// namedOnce requires a single "hooks", and no name twice in any object in it.
func (d *document) namedOnce() error {
	i, err := d.only("hooks")
	if err != nil || i < 0 {
		return err
	}
	for v := range d.root.Members[i].Value.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range o.Members {
			if seen[nameOf(m)] {
				return fmt.Errorf("%q appears twice in one object of the hooks: merge them", nameOf(m))
			}
			seen[nameOf(m)] = true
		}
	}
	return nil
}

// only returns the index of a member of the file, or -1 if there is none. It fails if there are two.
func (d *document) only(name string) (int, error) {
	i := indexOf(d.root, name)
	is := func(m hujson.ObjectMember) bool { return nameOf(m) == name }
	if i >= 0 && slices.ContainsFunc(d.root.Members[i+1:], is) {
		return i, fmt.Errorf("%q appears twice in the file: merge them", name)
	}
	return i, nil
}

func earlier(kept []byte) *document {
	d, err := parse(kept)
	if err != nil {
		return nil
	}
	return d
}

// left returns the file without what was nod's: nil if there was no file before and nothing else is in it.
func (d *document) left(kept []byte) []byte {
	switch {
	case len(d.root.Members) > 0 || len(comments(&d.value)) > 0:
		return d.pack()
	case kept == nil:
		return nil
	case isBlank(kept):
		return kept
	}
	return d.pack()
}

func (d *document) pack() []byte { return slices.Concat(d.mark, d.value.Pack()) }

func (d *document) has(path ...string) bool {
	if d == nil {
		return false
	}
	v := &d.value
	for _, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return false
		}
		i := indexOf(o, name)
		if i < 0 {
			return false
		}
		v = &o.Members[i].Value
	}
	return true
}

// holdsMore reports whether an entry has more than handlers and nod's matcher.
func holdsMore(entry *hujson.Object) bool {
	return slices.ContainsFunc(entry.Members, func(m hujson.ObjectMember) bool {
		if nameOf(m) != "matcher" {
			return nameOf(m) != "hooks"
		}
		l, isText := m.Value.Value.(hujson.Literal)
		return !isText || l.Kind() != '"' || l.String() != matchesAll
	})
}

func isOurs(v hujson.Value, agent string) bool {
	var h struct {
		Command string `json:"command"`
	}
	return decode(v, &h) == nil && IsOurs(h.Command, agent)
}

func decode(v hujson.Value, into any) error {
	plain := v.Clone()
	plain.Standardize()
	return strict.Unmarshal(plain.Pack(), into)
}

// cutMember removes a member. Comments in it stay, before the next one.
func cutMember(o *hujson.Object, i int) {
	m := o.Members[i]
	gone := slices.Concat(comments(&m.Name), comments(&m.Value))
	hasComma := o.Members[len(o.Members)-1].Value.AfterExtra != nil
	o.Members = slices.Delete(o.Members, i, i+1)
	next := &o.AfterExtra
	if i < len(o.Members) {
		next = &o.Members[i].Name.BeforeExtra
	}
	*next = slices.Concat(gone, *next)
	if len(o.Members) > 0 && !hasComma {
		dropComma(&o.Members[len(o.Members)-1].Value, &o.AfterExtra)
	}
}

func cutElement(list *hujson.Array, i int) {
	gone := comments(&list.Elements[i])
	hasComma := list.Elements[len(list.Elements)-1].AfterExtra != nil
	list.Elements = slices.Delete(list.Elements, i, i+1)
	next := &list.AfterExtra
	if i < len(list.Elements) {
		next = &list.Elements[i].BeforeExtra
	}
	*next = slices.Concat(gone, *next)
	if len(list.Elements) > 0 && !hasComma {
		dropComma(&list.Elements[len(list.Elements)-1], &list.AfterExtra)
	}
}

// dropComma removes the comma after the last value of a list or object: not all programs accept it.
func dropComma(last *hujson.Value, end *hujson.Extra) {
	*end = slices.Concat(last.AfterExtra, *end)
	last.AfterExtra = nil
}

// comments returns the comments in and around a value, with the white space between them.
func comments(v *hujson.Value) (all hujson.Extra) {
	for v := range v.All() {
		extras := []hujson.Extra{v.BeforeExtra, v.AfterExtra}
		switch c := v.Value.(type) {
		case *hujson.Object:
			extras = append(extras, c.AfterExtra)
		case *hujson.Array:
			extras = append(extras, c.AfterExtra)
		}
		for _, e := range extras {
			if !e.IsStandard() {
				all = append(all, e...)
			}
		}
	}
	return all
}

func object(v *hujson.Value, what string) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New(what + " is not a JSON object: make it one, or remove it")
	}
	return o, nil
}

func array(v *hujson.Value, what string) (*hujson.Array, error) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, errors.New(what + " is not a JSON list: make it one, or remove it")
	}
	return list, nil
}

func nameOf(m hujson.ObjectMember) string {
	l, _ := m.Name.Value.(hujson.Literal) // by the grammar
	return l.String()
}

func indexOf(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == name })
}

// child returns the object or the list that is a member of o, and its index there; nil if there is none.
func child[T *hujson.Object | *hujson.Array](o *hujson.Object, name string) (value T, i int) {
	if i = indexOf(o, name); i >= 0 {
		value, _ = o.Members[i].Value.Value.(T)
	}
	return value, i
}

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

func (d *document) line(depth int) hujson.Extra {
	return hujson.Extra(d.end + strings.Repeat(d.unit, depth))
}

// atEnd returns what precedes a new last value: among other things the comments at the end, which are about the old
// values.
func (d *document) atEnd(end *hujson.Extra, depth int) hujson.Extra {
	lead := *end
	if lead.IsStandard() {
		if lead == nil {
			*end = d.line(depth - 1)
		}
		return d.line(depth)
	}
	if i := bytes.LastIndexByte(lead, '\n'); i >= 0 && len(bytes.TrimSpace(lead[i:])) == 0 {
		lead = bytes.TrimSuffix(lead[:i], []byte("\r"))
	}
	*end = d.line(depth - 1)
	return slices.Concat(lead, d.line(depth))
}

func (d *document) member(o *hujson.Object, name string, depth int, value hujson.ValueTrimmed) *hujson.Value {
	if i := indexOf(o, name); i >= 0 {
		return &o.Members[i].Value
	}
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: d.atEnd(&o.AfterExtra, depth), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	})
	return &o.Members[len(o.Members)-1].Value
}

func (d *document) laidOut(depth int, v any) (hujson.Value, error) {
	text, err := json.MarshalIndent(v, strings.Repeat(d.unit, depth), d.unit)
	if err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.ReplaceAll(text, []byte("\n"), []byte(d.end)))
}

// append adds a last element to a list.
func (d *document) append(list *hujson.Array, depth int, v any) error {
	made, err := d.laidOut(depth, v)
	if err != nil {
		return err
	}
	made.BeforeExtra = d.atEnd(&list.AfterExtra, depth)
	list.Elements = append(list.Elements, made)
	return nil
}

// replace replaces an object by a new one. Members that nod does not know stay, and so do comments.
func (d *document) replace(v *hujson.Value, depth int, with any) error {
	fresh, err := d.laidOut(depth, with)
	if err != nil {
		return err
	}
	old, isOld := v.Value.(*hujson.Object)
	made, isMade := fresh.Value.(*hujson.Object)
	if !isOld || !isMade {
		return errors.New("a hook is not a JSON object")
	}
	var gone hujson.Extra
	for _, m := range old.Members {
		if slices.Contains(handlerNames, nameOf(m)) {
			gone = slices.Concat(gone, comments(&m.Name), comments(&m.Value))
			continue
		}
		made.Members = append(made.Members, m)
	}
	if !old.AfterExtra.IsStandard() {
		gone = slices.Concat(gone, old.AfterExtra)
	}
	dropComma(&made.Members[len(made.Members)-1].Value, &made.AfterExtra)
	v.BeforeExtra, v.Value = slices.Concat(gone, v.BeforeExtra), made
	return nil
}
