package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/ownfile"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

// An access is one thing that a call does, or may do, to the file system. The guard, the secrets and the path rules
// know nothing else of a call.
type access struct {
	place
	kind   shell.Kind
	only   []string // of a Tree or a Look: patterns of what is read, below the place; empty: all
	whole  bool     // each file that only matches is read, even if that is all of them
	past   bool     // of a Tree: its state at any time in the repository
	bare   bool     // its word could mean something else
	vague  bool     // a field names the place, but nod can't tell where it is: it may be any
	source evidence
}

// An evidence says how certain it is that a call makes an access.
type evidence uint8

const (
	fromField evidence = iota // a field is meant for it
	fromText                  // a field that nod does not know holds a path
	fromWords                 // such a field holds a path among other words
)

func (a *access) paths() []string {
	clean := a.clean
	if a.relative { // at best somewhere below the root
		clean = "/" + clean
	}
	if a.real == "" || a.real == clean {
		return []string{clean}
	}
	return []string{clean, a.real}
}

func (a *access) changes() bool { return a.kind == shell.Write || a.kind == shell.Delete }

// reach returns what the call may reach: everything in the file system that it looks at, reads or changes, as far as
// nod can tell. What needs a look at the disk is worked out when it is first needed.
func (f *facts) reach() []access {
	if f.reached != nil {
		return f.reached
	}
	f.reached = f.buf[:0]
	for i := range f.input.named {
		n := &f.input.named[i]
		a := access{place: f.locate(n.path), kind: f.kindOf(n), source: n.source}
		a.vague = a.lost && n.source == fromField
		f.reached = append(f.reached, a)
	}
	if f.tool.here != nil && len(f.reached) == 0 {
		f.reached = append(f.reached, access{place: f.cwd(), kind: *f.tool.here})
	}
	f.narrow()
	if f.line != nil {
		for _, p := range f.line.parts {
			f.reached = append(append(f.reached, p.reach...), p.output...)
		}
	}
	return f.reached
}

// kindOf returns what is done to a path in the input. In a field that nod does not know, a tool that only reads can
// only read it; any other tool might change it.
func (f *facts) kindOf(n *namedPath) shell.Kind {
	if n.source == fromField && n.field != unlisted {
		return n.field.kind()
	}
	if f.class == ReadOnly {
		return shell.Tree
	}
	return shell.Write
}

func (f *facts) locate(path string) place { return locate(path, f.call.CWD, f.policy.places.Home) }

// narrow adds what the patterns of the input lead to, and lets them narrow what the call reads anyway.
func (f *facts) narrow() {
	bases := len(f.reached)
	if len(f.input.globs)*bases > maxPaths { // to look at each from each takes minutes: as if nothing narrowed it
		f.reached = append(f.reached, access{place: place{lost: true}, kind: shell.Tree, vague: true})
		return
	}
	for _, g := range f.input.globs {
		if base, _, lost := cutGlob(g.text); !lost && g.field != filesField && (base == "" || isRooted(base)) {
			for i := range f.reached[:bases] {
				f.reached[i].only = append(f.reached[i].only, g.text)
				if pathspec().MatchString(g.text) {
					f.reached[i].only = append(f.reached[i].only, pathspec().ReplaceAllString(g.text, ""))
				}
			}
		}
		all := []string{g.text}
		if wild := strings.IndexAny(g.text, wildcards); wild >= 0 && g.text[wild] == '{' && !mayClimb(g.text) {
			all, _ = expandBraces(g.text) // it may lead to several folders
		}
		for _, text := range all {
			f.follow(text, g.field, bases)
		}
	}
}

// pathspec matches what git reads before a pattern, as in :(icase).NETRC.
var pathspec = language.Compiled(`^:\([^)]*\)`)

// follow adds what a pattern leads to from the first of the places that the call reaches.
func (f *facts) follow(glob string, field meaning, bases int) {
	base, rest, lost := cutGlob(glob)
	if base == "" && field == globField {
		base, rest = cutFolder(glob)
	}
	switch {
	case lost, len(f.reached) > 2*maxPaths:
		vague := !lost || mayClimb(strings.ReplaceAll(glob, "...", "")) // [...all] is a name
		f.reached = append(f.reached, access{place: place{clean: glob, lost: true}, kind: field.kind(), vague: vague})
	case field == filesField: // in any letter case; a file of that very name may be a link
		f.add(access{place: f.locate(base), kind: shell.Tree, whole: true}, rest)
		if !strings.ContainsAny(glob, wildcards) {
			f.add(access{place: f.locate(glob), kind: shell.Tree}, glob)
		}
	case base == "":
	case isRooted(base):
		f.add(access{place: f.locate(base), kind: field.kind()}, rest)
	default:
		for i := range f.reached[:bases] {
			p := locate(base, filepath.FromSlash(f.reached[i].clean), f.policy.places.Home)
			f.add(access{place: p, kind: field.kind()}, rest)
		}
	}
}

func (f *facts) add(a access, only string) {
	if only != "" {
		a.only = []string{only}
	}
	a.vague = a.lost
	f.reached = append(f.reached, a)
}

// cutGlob splits a pattern into the folder that it leads to before its first wildcard, empty if it stays in the folder
// it starts in, and the rest. A pattern that climbs after a wildcard is lost.
func cutGlob(glob string) (base, rest string, lost bool) {
	wild, climbs := strings.IndexAny(glob, wildcards), strings.Contains(glob, "..")
	switch {
	case !climbs && mayClimb(glob), wild >= 0 && strings.Contains(glob[wild:], ".."):
		return "", "", true
	case !climbs && !isRooted(glob):
		return "", glob, false
	}
	base, rest = cutFolder(glob)
	return base, rest, false
}

// wildcards begin what is not fixed in a pattern.
const wildcards = "*?[{("

// cutFolder splits a pattern into the path that is fixed, and the rest.
func cutFolder(glob string) (base, rest string) {
	wild := strings.IndexAny(glob, wildcards)
	if wild < 0 {
		return glob, ""
	}
	cut := strings.LastIndexAny(glob[:wild], `/\`) + 1
	return glob[:cut], glob[cut:]
}

// mayClimb reports whether a pattern leads up, perhaps by a choice such as {.,a}. or after a backslash.
func mayClimb(glob string) bool {
	all, ok := expandBraces(strings.ReplaceAll(glob, `\`, ""))
	return !ok || slices.ContainsFunc(all, func(g string) bool { return strings.Contains(g, "..") })
}

func (f *facts) mustAskToChange() Decision {
	reached, worst := f.reach(), Decision{}
	for i := range reached {
		a := &reached[i]
		if !a.changes() {
			continue
		}
		switch d := f.policy.guard.judge(a); {
		case d == askOwn:
			return d
		case d.Effect == Ask && (worst.Effect != Ask || worst == askLost):
			worst = d
		}
	}
	if f.input.isRun && f.policy.guard.mentionsOwn(f.input.command) {
		return askOwn
	}
	return worst
}

// mayLeak finds accesses that no class may allow without a prompt: what is read may be sent away.
func (f *facts) mayLeak() Decision {
	reached, worst := f.reach(), Decision{}
	leaks := func(a access) bool { return a.bare && f.policy.leaks(&a) }
	if f.line != nil && slices.ContainsFunc(f.line.mayReach, leaks) {
		return askSecrets
	}
	for i := range reached {
		a := &reached[i]
		words := a.source == fromWords
		switch {
		case f.policy.leaks(a), slices.ContainsFunc(a.only, func(glob string) bool { return f.isMeant(glob, a.whole) }):
			return askSecrets
		case !words && (a.lost || a.relative && strings.HasPrefix(a.clean, "..")):
			worst = askLost
		case words:
		case shell.Special(a.clean), shell.Special(a.real), a.kind == shell.Read && isOdd(a.real):
			worst = askLost
		case worst != askLost && len(f.policy.roots) > 0 && !f.policy.isInRoots(a.place):
			worst = askOutside // the user may have allowed that, so any other reason matters more
		}
	}
	return worst
}

// isOdd reports whether a path exists and is neither a file nor a folder: reading a FIFO may never end. What nod cannot
// look at may be one.
func isOdd(path string) bool {
	info, err := os.Lstat(filepath.FromSlash(path))
	return err == nil && !info.Mode().IsRegular() && !info.IsDir() || ownfile.SaysNothing(err)
}

func (c *Compiled) leaks(a *access) bool {
	g := &c.guard
	return slices.ContainsFunc(a.paths(), func(path string) bool {
		if g.isOwn(path) || (a.kind == shell.Tree && (g.holdsOwn(path) || g.holdsHome(path))) {
			return true
		}
		e := leaksByName(path, g.named, a.kind)
		return e != nil && !(e.doubt && a.kind == shell.Read && !IsConfidential(a.real))
	})
}

func (f *facts) isMeant(glob string, all bool) bool {
	key := meaningKey{glob, all}
	is, isKnown := f.meant[key]
	if !isKnown {
		is = secrets().mayMatch(glob, all)
		if f.meant == nil {
			f.meant = map[meaningKey]bool{}
		}
		f.meant[key] = is
	}
	return is
}

type meaningKey struct {
	glob string
	all  bool
}

func (p place) isInside(pat *pattern) bool {
	return !p.lost && !p.relative && pat.match(p.clean) && (p.real == p.clean || pat.match(p.real))
}

func (p place) touches(pat *pattern) bool {
	return pat.match(p.clean) || (p.real != p.clean && p.real != "" && pat.match(p.real))
}

// touches reports whether something that the access reaches matches a pattern: the place, what is known to be below a
// folder that is read or changed as a whole, or what the access selects by a pattern of its own.
func (a *access) touches(pat *pattern) bool {
	isDeep := a.source != fromWords && (a.kind == shell.Tree || a.kind == shell.Delete)
	holdsStart := func(path string) bool {
		return slices.ContainsFunc(pat.starts, func(start string) bool { return isWithin(start, fold(path)) })
	}
	return a.vague || a.place.touches(pat) || isDeep && slices.ContainsFunc(a.paths(), holdsStart) ||
		slices.ContainsFunc(a.only, pat.meets)
}

// Location says where a path of a tool's input leads, to show it to a user.
type Location struct {
	Path   string // absolute, symbolic links followed; empty if unknown
	Inside bool   // in the project's folder, by its text and with links followed
	Linked bool   // symbolic links lead elsewhere than the text says
}

// Locate looks at path as a tool that works in the folder cwd would. The path need not exist.
func Locate(path, cwd string) Location {
	home := homeFolder()
	p := locate(path, cwd, home)
	if p.lost {
		return Location{}
	}
	l := Location{Path: p.real, Linked: fold(p.clean) != fold(p.real)}
	if root := locate(cwd, "", home); !root.lost {
		l.Inside = isWithin(fold(p.clean), fold(root.clean)) && isWithin(fold(p.real), fold(root.real))
	}
	return l
}

type namedFile struct {
	Path    string // as the input spells it
	Changes bool   // the call may make or change it
}

const maxNamedFiles = 64

// NamedFiles lists the files that fields of a call's input name, in the order of the input, but not those of a command
// line.
func NamedFiles(call Call) []namedFile {
	t, _ := lookup(call.Agent, call.Tool)
	class := classify(call.Agent, call.Tool, call.Declared, false)
	var files []namedFile
	for _, field := range call.Input.fields {
		n := namedFile{Path: field.value}
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
		i := slices.IndexFunc(files, func(f namedFile) bool { return f.Path == n.Path })
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
// slashes, as spelled and with links followed.
func Changes(call Call) (paths []string) {
	places := DefaultPlaces()
	reached := newFacts(&call, &Compiled{guard: newGuard(places), places: places}, time.Time{}).reach()
	for _, a := range reached {
		if a.changes() {
			paths = append(paths, a.paths()...)
		}
	}
	return paths
}
