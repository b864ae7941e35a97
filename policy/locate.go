package policy

import (
	"slices"
	"time"
)

// Location says where a path of a tool's input leads and what is special there, for the eyes of a human.
type Location struct {
	Path    string // absolute, symbolic links followed; empty when nobody can tell
	Inside  bool   // in the project's folder, by its text and with links followed
	Linked  bool   // symbolic links lead elsewhere than the text says
	Guarded string // the name of a guarded file or folder that it is or lies in, or empty
	Secret  bool   // keeps keys or tokens
	Own     bool   // one of nod's own files
}

// Locate looks at path as a tool that works in the folder cwd would. The path need not exist.
func Locate(path, cwd string) Location {
	places := DefaultPlaces()
	p := locate(path, cwd, places.Home)
	if p.lost {
		return Location{Guarded: guardedBy(p.clean), Secret: holdsSecrets(p.clean)}
	}
	l := Location{Path: p.real, Linked: fold(p.clean) != fold(p.real), Own: newGuard(places).isOwn(p.real)}
	if root := locate(cwd, "", places.Home); !root.lost {
		l.Inside = isWithin(fold(p.clean), fold(root.clean)) && isWithin(fold(p.real), fold(root.real))
	}
	for _, path := range []string{p.clean, p.real} {
		if l.Guarded == "" {
			l.Guarded = guardedBy(path)
		}
		l.Secret = l.Secret || holdsSecrets(path)
	}
	return l
}

// A NamedFile is a file or folder in the input of a call.
type NamedFile struct {
	Path    string // as the input spells it
	Changes bool   // the call may make or change it
}

// maxNamedFiles is how many files of a call anybody would look at.
const maxNamedFiles = 64

// NamedFiles lists what fields of a call's input name, in the order of the input: not what a command line does.
func NamedFiles(call Call) []NamedFile {
	t, _ := lookup(call.Agent, call.Tool)
	class := classify(call.Agent, call.Tool, call.Declared, false)
	var files []NamedFile
	for _, field := range call.Input.fields {
		n := NamedFile{Path: field.value}
		switch t.fields[field.name] {
		case lookField, readField, treeField, folderField:
		case writeField, deleteField:
			n.Changes = true
		case unlisted:
			if !isPathKey(field.name) {
				continue
			}
			n.Changes = class != ReadOnly
		default:
			continue
		}
		i := slices.IndexFunc(files, func(f NamedFile) bool { return f.Path == n.Path })
		switch {
		case !field.isText || n.Path == "":
		case i >= 0:
			files[i].Changes = files[i].Changes || n.Changes
		case len(files) < maxNamedFiles:
			files = append(files, n)
		}
	}
	return files
}

// Changes lists the places that a call makes, changes or deletes, as far as nod can tell: absolute paths with forward
// slashes, as they are spelled and with links followed.
func Changes(call Call) (paths []string) {
	places := DefaultPlaces()
	reached := newFacts(&call, &Compiled{guard: newGuard(places), places: places}, time.Time{}).reach()
	for i := range reached {
		if a := &reached[i]; a.changes() {
			paths = append(paths, a.paths()...)
		}
	}
	return paths
}
