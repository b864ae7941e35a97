package policy

import (
	"cmp"
	_ "embed"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"nod/policy/shell/language"
)

// A nameList knows places by their names, whatever folder they are in. It is read from a text of one entry a line:
//
//	name       a file of that name; * is any text, ? a character
//	name/      a file or folder of that name, and everything in it
//	a/b        the end of a path
//	**/a/b     the same, and a folder a may contain it anywhere, not only in a home folder
//	~/a/b      the same in a user's home folder only
//	/a/b       the same from the root
//	!name      an exception: not in the list
//	=a/b       only if its content should not be read
//	[text]     what changing the entries below it does, for a user
//
// Of several entries that begin at the same part of a path the last one counts, so an exception comes after
// what it is an exception to. Names are compared as the most forgiving file system does.
type nameList struct {
	entries []nameEntry
	byName  map[string][]int // entries by their first part
	byFirst [256][]int       // patterns, by their first byte
	byLast  [256][]int       // those that begin with a wildcard, by their last byte, which may be a wildcard too
	ends    map[string]bool  // extensions, as in *.end, that select an entry
	names   map[string]bool  // all parts of entries
	wild    []string         // the parts that are patterns
	copies  bool             // it also lists copies, such as server.key.bak
}

type nameEntry struct {
	text   string
	about  string   // what changing it does
	parts  []string // folded
	root   nameRoot
	below  bool // everything in it as well
	wide   bool // a folder on the way to it counts anywhere
	except bool
	doubt  bool // it depends on the content
}

type nameRoot uint8

const (
	anywhere nameRoot = iota
	inHome
	fromRoot
)

var (
	//go:embed names/guarded.txt
	guardedNames string
	//go:embed names/secrets.txt
	secretNames string
	//go:embed names/foreign.txt
	foreignNames string
	//go:embed names/notable.txt
	notableNames string
)

// The lists are read when they are first needed.
var (
	guarded = sync.OnceValue(func() *nameList { return newNameList(guardedNames) }) // settings, hooks, keys
	secrets = sync.OnceValue(func() *nameList {
		l := newNameList(secretNames)
		l.copies = true
		return l
	})
	foreign = sync.OnceValue(func() *nameList { return newNameList(foreignNames) })
	notable = sync.OnceValue(func() *nameList { return newNameList(notableNames) })
)

func newNameList(text string) *nameList {
	l := &nameList{byName: map[string][]int{}, ends: map[string]bool{}, names: map[string]bool{}}
	about := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			about = strings.Trim(line, "[]")
		default:
			e := newNameEntry(line)
			e.about = about
			l.add(e)
		}
	}
	return l
}

func newNameEntry(line string) nameEntry {
	e := nameEntry{}
	line, e.except = strings.CutPrefix(line, "!")
	line, e.doubt = strings.CutPrefix(line, "=")
	line, e.wide = strings.CutPrefix(line, "**/")
	e.text = strings.TrimSuffix(line, "/")
	line, e.below = strings.CutSuffix(line, "/")
	switch {
	case strings.HasPrefix(line, "~/"):
		e.root, line = inHome, line[2:]
	case strings.HasPrefix(line, "/"):
		e.root, line = fromRoot, line[1:]
	}
	e.parts = strings.Split(foldName(line), "/")
	return e
}

func (l *nameList) add(e nameEntry) {
	i := len(l.entries)
	l.entries = append(l.entries, e)
	first, last := e.parts[0], e.parts[len(e.parts)-1]
	switch a, z := first[0], first[len(first)-1]; {
	case !isWild(first):
		l.byName[first] = append(l.byName[first], i)
	case !isWild(first[:1]):
		l.byFirst[a] = append(l.byFirst[a], i)
	default:
		l.byLast[z] = append(l.byLast[z], i)
	}
	if e.except {
		return
	}
	for _, part := range e.parts {
		if l.names[part] = true; isWild(part) {
			l.wild = append(l.wild, part)
		}
	}
	if end := endOf(last); end != "" && !isWild(end) && !ordinaryEnds.Has(end) {
		l.ends[end] = true
	}
	if rest, ok := wantedEnd(last); ok {
		l.ends[rest] = true
	}
}

// ordinaryEnds are extensions that hardly any entry has: a pattern for all such files is not meant for an entry.
const ordinaryEnds language.Words = "json yaml yml toml xml ini conf config txt csv md db sqlite sqlite3 php " +
	"properties rb js ts py log sql plist el lua cjs"

// find returns the entry that a path is, or lies in. home is a folded home folder that may not look like one.
func (l *nameList) find(p, home string) *nameEntry {
	p = foldName(p)
	e := l.findIn(p, home)
	for _, original := range l.originals(p) {
		e = cmp.Or(e, l.findIn(original, home))
	}
	return e
}

// copyEnds are the suffixes that editors and people give to copies of a file.
var copyEnds = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".swp"}

// originals returns the paths that a path, or a pattern, may name copies of, if the list knows copies.
func (l *nameList) originals(p string) []string {
	if !l.copies {
		return nil
	}
	for _, end := range copyEnds {
		if original, is := strings.CutSuffix(p, end); is {
			name := strings.LastIndexByte(original, '/') + 1
			return []string{original, original[:name] + strings.TrimPrefix(original[name:], ".")} // .id_rsa.swp
		}
	}
	return nil
}

func (l *nameList) findIn(p, home string) *nameEntry {
	for start := 0; start < len(p); {
		end := strings.IndexByte(p[start:], '/')
		if end < 0 {
			end = len(p) - start
		}
		if end > 0 {
			if e := l.findAt(p, p[start:start+end], start, home); e != nil {
				return e
			}
		}
		start += end + 1
	}
	return nil
}

func (l *nameList) findAt(p, name string, start int, home string) *nameEntry {
	best := -1
	try := func(entries []int) {
		for i := len(entries) - 1; i >= 0 && entries[i] > best; i-- {
			if l.entries[entries[i]].isAt(p, start, home) {
				best = entries[i]
			}
		}
	}
	try(l.byName[name])
	try(l.byFirst[name[0]])
	for _, z := range []byte{name[len(name)-1], '*', '?'} {
		try(l.byLast[z])
	}
	if best < 0 || l.entries[best].except {
		return nil
	}
	return &l.entries[best]
}

func (e *nameEntry) isAt(p string, start int, home string) bool {
	if !e.startsAt(p[:start], home) {
		return false
	}
	rest, more := p[start:], true
	for _, part := range e.parts {
		var name string
		if !more {
			return false
		}
		if name, rest, more = strings.Cut(rest, "/"); !language.Wildcard(part, name) {
			return false
		}
	}
	return e.below || rest == ""
}

func (e *nameEntry) startsAt(before, home string) bool {
	switch e.root {
	case inHome:
		return isHome(strings.TrimSuffix(before, "/"), home)
	case fromRoot:
		return before == "/" || before == "/private/" || (len(before) == 3 && before[1:] == ":/")
	}
	return true
}

func isHome(folder, home string) bool {
	if folder == "~" || folder == "/root" || folder == "/var/root" || (home != "" && folder == home) {
		return true
	}
	above := folder[:max(strings.LastIndexByte(folder, '/'), 0)]
	return above == "/home" || above == "/users" || (len(above) == 8 && above[1:] == ":/users")
}

// holds returns an entry that may be below a folder, going by the entry's own folders: .docker may contain
// .docker/config.json. For folders outside a home it does so only if everywhere is set, or for wide entries.
func (l *nameList) holds(folder, home string, everywhere bool) *nameEntry {
	folder = strings.TrimSuffix(foldName(folder), "/")
	name := folder[strings.LastIndexByte(folder, '/')+1:]
	for i := range l.entries {
		e := &l.entries[i]
		for part, inside := range e.parts[:len(e.parts)-1] {
			if e.except || inside != name {
				continue
			}
			above, ok := e.isOnTheWay(folder, part+1, home)
			if ok && (everywhere || e.wide || above == "" || isHome(above, home)) {
				return e
			}
		}
	}
	for i := range l.entries {
		if e := &l.entries[i]; !e.except && e.root != anywhere && e.startsAt(folder+"/", home) {
			return e
		}
	}
	return nil
}

func (e *nameEntry) isOnTheWay(folder string, parts int, home string) (above string, ok bool) {
	for i := parts - 1; i >= 0; i-- {
		cut := strings.LastIndexByte(folder, '/')
		if !language.Wildcard(e.parts[i], folder[cut+1:]) || (cut < 0 && i > 0) {
			return "", false
		}
		folder = folder[:max(cut, 0)]
	}
	return folder, e.startsAt(folder+"/", home)
}

const (
	maxBraces    = 64 // patterns that one with braces may expand to
	maxGlobParts = 12 // names in a pattern that is looked at closely
)

// mayMatch reports whether a pattern that narrows a search selects an entry. A pattern for all files, or for all of an
// ordinary kind, such as *.json, does not, unless all is true. A pattern it cannot read counts as one for all files.
func (l *nameList) mayMatch(glob string, all bool) bool {
	globs, ok := expandBraces(strings.TrimPrefix(glob, "./"))
	if !ok {
		return true
	}
	for _, g := range globs {
		globs = append(globs, l.originals(foldName(g))...)
	}
	return slices.ContainsFunc(globs, func(g string) bool {
		parts := globParts(g)
		if len(parts) > maxGlobParts {
			return true
		}
		return l.mayName(parts, all) && // false for the usual one: to hold that against each entry takes half a millisecond
			slices.ContainsFunc(l.entries, func(e nameEntry) bool { return !e.except && l.meetsAnywhere(parts, &e, all) })
	})
}

// mayName reports whether some part of a pattern may be more than a wildcard to an entry.
func (l *nameList) mayName(glob []string, all bool) bool {
	for i, part := range glob {
		kind, isKind := wantedEnd(part)
		switch {
		case strings.Trim(part, "*") == "":
			if all && i == len(glob)-1 {
				return true
			}
		case isKind:
			if l.hasKind(kind) {
				return true
			}
		case isWild(part), l.names[part],
			slices.ContainsFunc(l.wild, func(w string) bool { return language.Wildcard(w, part) }):
			return true
		}
	}
	return false
}

func (l *nameList) meetsAnywhere(glob []string, e *nameEntry, all bool) bool {
	for start := range glob {
		if l.meets(glob[start:], e, 0, all, false) {
			return true
		}
	}
	return false
}

// meets reports whether a pattern selects the entry from one of its parts on. named says that an earlier part of the
// pattern was more than a wildcard.
func (l *nameList) meets(glob []string, e *nameEntry, part int, all, named bool) bool {
	if part == len(e.parts) {
		return named && (e.below || strings.Trim(strings.Join(glob, ""), "*") == "")
	}
	if len(glob) == 0 {
		return false
	}
	name := glob[0]
	kind, isKind := wantedEnd(name)
	switch {
	case name == "**": // never twice in a row
		return l.meets(glob[1:], e, part, all, named) || l.meets(glob, e, part+1, all, named || (all && len(glob) == 1))
	case strings.Trim(name, "*") == "":
		named = named || (all && len(glob) == 1)
	case !namesMeet(name, e.parts[part]):
		return false
	case isKind:
		named = named || l.hasKind(kind)
	default:
		named = named || all || isAbout(name, e.parts[part])
	}
	return l.meets(glob[1:], e, part+1, all, named)
}

// isAbout reports whether two patterns that match a common name fix the same part of it: *_test.go and .env_* do not.
func isAbout(a, b string) bool {
	if !isWild(a) || !isWild(b) {
		return true
	}
	return strings.Contains(b, longestText(a)) || strings.Contains(a, longestText(b))
}

func longestText(pattern string) string {
	longest := ""
	for text := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

func wantedEnd(glob string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(glob, "*.")
	return kind, ok && !isWild(kind)
}

func (l *nameList) hasKind(kind string) bool { return l.ends[kind] || l.ends[endOf(kind)] }

// globParts splits a pattern into parts that matchName and namesMeet understand. A part that means more than they know
// counts as any name.
func globParts(glob string) []string {
	parts := strings.Split(foldName(glob), "/")
	for i, part := range parts {
		if strings.ContainsAny(part, `[]\|^#(`) {
			parts[i] = plainGlob(part)
		}
		if strings.HasPrefix(part, "***") {
			parts[i] = "**"
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })
}

// plainSet matches a set of characters that all programs read alike.
var plainSet = language.Compiled(`^\[[!^]?[^\[\]\\!^][^\[\]\\]*\]`)

// extended matches the marks of patterns that only some programs know.
var extended = language.Compiled(`[?*+@!]\(|[|^#]`)

// plainGlob replaces a set by any character, and a pattern with more than sets, * and ? by any name.
func plainGlob(part string) string {
	if extended().MatchString(part) {
		return language.AnyName
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		set := plainSet().FindString(part[i:])
		switch {
		case part[i] == '\\' && i+1 < len(part) && !isLetter(part[i+1]) && part[i+1] < '0':
			i++
			b.WriteByte(part[i])
		case set != "":
			b.WriteByte('?')
			i += len(set) - 1
		case part[i] == '[' || part[i] == ']' || part[i] == '\\':
			return language.AnyName
		default:
			b.WriteByte(part[i])
		}
	}
	return b.String()
}

func expandBraces(glob string) (globs []string, ok bool) {
	globs = []string{glob}
	for i := 0; i < len(globs); {
		g := globs[i]
		close := strings.IndexByte(g, '}')
		open := strings.LastIndexByte(g[:max(close, 0)], '{') // the innermost pair
		if open < 0 {
			i++
			continue
		}
		var choices []string
		for choice := range strings.SplitSeq(g[open+1:close], ",") {
			choices = append(choices, g[:open]+choice+g[close+1:])
		}
		if globs = slices.Replace(globs, i, i+1, choices...); len(globs) > maxBraces {
			return nil, false
		}
	}
	return globs, true
}

func isWild(s string) bool { return strings.ContainsAny(s, "*?") }

func endOf(name string) string { return strings.TrimPrefix(path.Ext(name), ".") }

// namesMeet reports whether some name matches both patterns, in at most len(a) × len(b) steps.
func namesMeet(a, b string) bool {
	if !isWild(a) {
		return language.Wildcard(b, a)
	}
	if !isWild(b) {
		return language.Wildcard(a, b)
	}
	width := len(b) + 2
	meet := make([]bool, (len(a)+2)*width) // whether what is left of a and of b do
	for i := len(a); i >= 0; i-- {
		for j := len(b); j >= 0; j-- {
			at := i*width + j
			shorter := meet[at+width] || meet[at+1]
			switch {
			case i == len(a) && j == len(b):
				meet[at] = true
			case i < len(a) && a[i] == '*', j < len(b) && b[j] == '*':
				meet[at] = shorter
			case i < len(a) && j < len(b) && (a[i] == b[j] || a[i] == '?' || b[j] == '?'):
				meet[at] = meet[at+width+1]
			}
		}
	}
	return meet[0]
}

// foldName returns a path in the form in which names are compared: without letter case and other differences that macOS
// and Windows ignore. It costs nothing for lower-case ASCII.
func foldName(s string) string {
	if runtime.GOOS == "windows" {
		s = asWindowsOpens(s)
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(norm.NFKC.String(s))
		}
	}
	return strings.ToLower(s)
}

// asWindowsOpens drops what Windows drops: dots and spaces at the end of a name, and the name of a stream.
func asWindowsOpens(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if i > 0 {
			part, _, _ = strings.Cut(part, ":")
		}
		if trimmed := strings.TrimRight(part, ". "); trimmed != "" {
			parts[i] = trimmed
		}
	}
	return strings.Join(parts, "/")
}
