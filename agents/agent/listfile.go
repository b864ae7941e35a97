package agent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// ListFile describes a settings file with a list that has one entry of nod's, after those of the person.
type ListFile struct {
	List   string                             // the name of the list in the file
	Entry  any                                // what nod adds
	IsOurs func(entry map[string]string) bool // whether an entry of texts alone is nod's
}

// At is the settings file in its place.
func (l ListFile) At(path string) File {
	return File{Path: path, Install: l.install, Uninstall: l.uninstall, Look: l.look}
}

func (l ListFile) install(before []byte, _ string) ([]byte, error) {
	found, err := l.look(before)
	if err != nil || found.Some {
		return before, err
	}
	text := before
	if isBlank(text) {
		text = slices.Concat(text, []byte("{}\n"))
	}
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	list, ok := d.member(d.root, l.List, 1, &hujson.Array{}).Value.(*hujson.Array)
	if !ok {
		return nil, l.noList()
	}
	made, err := d.laidOut(2, l.Entry)
	if err != nil {
		return nil, err
	}
	made.BeforeExtra = d.atEnd(&list.AfterExtra, 2)
	list.Elements = append(list.Elements, made)
	return d.pack(), nil
}

// uninstall takes nod's entry out, and the list that is empty without it, unless it was there before nod came.
func (l ListFile) uninstall(now, kept []byte) ([]byte, error) {
	d, list, err := l.find(now)
	if err != nil || list == nil {
		return now, err
	}
	i := slices.IndexFunc(list.Elements, l.isOurs)
	if i < 0 {
		return now, nil
	}
	cutElement(list, i)
	was, err := parse(kept)
	if err != nil {
		was = nil
	}
	if len(list.Elements) == 0 && !was.has(l.List) {
		cutMember(d.root, indexOf(d.root, l.List))
	}
	if kept == nil && len(d.root.Members) == 0 && len(comments(&d.value)) == 0 {
		return nil, nil
	}
	return d.pack(), nil
}

func (l ListFile) look(text []byte) (Found, error) {
	_, list, err := l.find(text)
	if err != nil || list == nil {
		return Found{}, err
	}
	is := slices.ContainsFunc(list.Elements, l.isOurs)
	return Found{All: is, Some: is}, nil
}

// find returns the file and the list in it, which may be missing.
func (l ListFile) find(text []byte) (*document, *hujson.Array, error) {
	if isBlank(text) {
		return nil, nil, nil
	}
	d, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	i := indexOf(d.root, l.List)
	if i < 0 {
		return d, nil, nil
	}
	isList := func(m hujson.ObjectMember) bool { return nameOf(m) == l.List }
	if slices.ContainsFunc(d.root.Members[i+1:], isList) {
		return nil, nil, fmt.Errorf("%q is in the file twice: make it one", l.List)
	}
	list, ok := d.root.Members[i].Value.Value.(*hujson.Array)
	if !ok {
		return nil, nil, l.noList()
	}
	return d, list, nil
}

func (l ListFile) noList() error {
	return errors.New(l.List + " is not a JSON list: make it one, or remove it")
}

func (l ListFile) isOurs(v hujson.Value) bool {
	var entry map[string]string
	return decode(v, &entry) == nil && l.IsOurs(entry)
}
