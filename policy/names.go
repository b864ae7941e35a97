package policy

import (
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A nameList knows places by their names, whatever folder they are in. It is read from a text of one entry a line:
//
//	name       a file of that name; * is any text, ? a character
//	name/      a file or folder of that name, and everything in it
//	a/b        the end of a path
//	**/a/b     the same, and a folder a is on the way to it wherever it is, not only in a home folder
//	~/a/b      the same in somebody's home folder only
//	/a/b       the same from the root
//	!name      none after all
//	=a/b       only what has something in it that should not be read
//
// Of several entries that begin at the same part of a path the last one counts, so an exception stands below
// what it is an exception from. Names are compared as the most forgiving file system does.
type nameList struct {
	entries []nameEntry
	byName  map[string][]int // entries by their first part
	byEnd   map[string][]int // those that begin with *.end
	byFirst [256][]int       // other patterns, by their first byte
	byLast  [256][]int       // those that begin with *, by their last byte
	anyhow  []int            // those that begin and end with a wildcard

	insides map[string][]inside // by the last part of a folder on the way to an entry
	rooted  []int               // entries in the home folder or from the root, of which some folders have no name
	ends    map[string]bool     // kinds of files, as in *.end, that are meant for an entry
	names   map[string]bool     // all parts of entries
	wild    []string            // those of them that are patterns
}

type nameEntry struct {
	text   string
	parts  []string // folded
	root   nameRoot
	below  bool // everything in it as well
	wide   bool // a folder on the way to it counts anywhere
	except bool
	doubt  bool // it depends on what it holds
}

type nameRoot uint8

const (
	anywhere nameRoot = iota
	inHome
	fromRoot
)

// An inside says that a folder with the name of one part of an entry is on the way to it.
type inside struct{ entry, part int }

func newNameList(text string) *nameList {
	l := &nameList{byName: map[string][]int{}, byEnd: map[string][]int{}, insides: map[string][]inside{}, ends: map[string]bool{}, names: map[string]bool{}}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			l.add(newNameEntry(line))
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
	switch end, isEnd := strings.CutPrefix(first, "*."); {
	case !isWild(first):
		l.byName[first] = append(l.byName[first], i)
	case isEnd && !isWild(end) && !strings.Contains(end, "."):
		l.byEnd[end] = append(l.byEnd[end], i)
	case !isWild(first[:1]):
		l.byFirst[first[0]] = append(l.byFirst[first[0]], i)
	case !isWild(first[len(first)-1:]):
		l.byLast[first[len(first)-1]] = append(l.byLast[first[len(first)-1]], i)
	default:
		l.anyhow = append(l.anyhow, i)
	}
	if e.except {
		return
	}
	for _, part := range e.parts {
		if l.names[part] = true; isWild(part) {
			l.wild = append(l.wild, part)
		}
	}
	for part, name := range e.parts[:len(e.parts)-1] {
		l.insides[name] = append(l.insides[name], inside{i, part})
	}
	if e.root != anywhere {
		l.rooted = append(l.rooted, i)
	}
	if end := endOf(last); !isWild(end) && !ordinaryEnds[end] {
		l.ends[end] = true
	}
	if rest, ok := wantedEnd(last); ok {
		l.ends[rest] = true
	}
}

// ordinaryEnds are kinds of files of which next to none is an entry: a pattern for all of them is not meant for it.
var ordinaryEnds = map[string]bool{
	"json": true, "yaml": true, "yml": true, "toml": true, "xml": true, "ini": true, "conf": true, "config": true,
	"txt": true, "csv": true, "": true, "md": true, "db": true, "sqlite": true, "sqlite3": true, "php": true, "properties": true, "rb": true,
	"js": true, "ts": true, "py": true, "log": true, "sql": true, "plist": true, "el": true, "lua": true, "cjs": true,
}

// find returns the entry that a path is, or lies in. Home is a folded home folder that may not look like one.
func (l *nameList) find(p, home string) *nameEntry {
	p = foldName(p)
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

// findAt returns the last entry that begins at one part of a path.
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
	if end := endOf(name); end != "" {
		try(l.byEnd[end])
	}
	try(l.byFirst[name[0]])
	try(l.byLast[name[len(name)-1]])
	try(l.anyhow)
	if best < 0 || l.entries[best].except {
		return nil
	}
	return &l.entries[best]
}

// isAt reports whether a folded path is the entry, or lies in it, from one of its parts on.
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
		if name, rest, more = strings.Cut(rest, "/"); !matchName(part, name) {
			return false
		}
	}
	return e.below || rest == ""
}

// startsAt reports whether the entry can begin behind a folder, which is written with a slash at its end.
func (e *nameEntry) startsAt(before, home string) bool {
	switch e.root {
	case inHome:
		return isHome(strings.TrimSuffix(before, "/"), home)
	case fromRoot:
		return before == "/" || before == "/private/" || (len(before) == 3 && before[1:] == ":/")
	}
	return true
}

// isHome reports whether a folder is somebody's home.
func isHome(folder, home string) bool {
	if folder == "~" || folder == "/root" || folder == "/var/root" || (home != "" && folder == home) {
		return true
	}
	above := folder[:max(strings.LastIndexByte(folder, '/'), 0)]
	return above == "/home" || above == "/users" || (len(above) == 8 && above[1:] == ":/users")
}

// holds returns an entry that a folder has below it, going by the entry's own folders: .docker is on the way to
// .docker/config.json. It says nothing of folders by any other name. Of folders that are not in a home it says
// so everywhere, or only for entries that are wide.
func (l *nameList) holds(folder, home string, everywhere bool) *nameEntry {
	folder = strings.TrimSuffix(foldName(folder), "/")
	name := folder[strings.LastIndexByte(folder, '/')+1:]
	for _, in := range l.insides[name] {
		e := &l.entries[in.entry]
		if above, ok := e.isOnTheWay(folder, in.part+1, home); ok && (everywhere || e.wide || above == "" || isHome(above, home)) {
			return e
		}
	}
	for _, i := range l.rooted {
		if e := &l.entries[i]; e.startsAt(folder+"/", home) {
			return e
		}
	}
	return nil
}

// isOnTheWay reports whether a folder ends in the first parts of the entry, and what is above them.
func (e *nameEntry) isOnTheWay(folder string, parts int, home string) (above string, ok bool) {
	for i := parts - 1; i >= 0; i-- {
		cut := strings.LastIndexByte(folder, '/')
		if !matchName(e.parts[i], folder[cut+1:]) || (cut < 0 && i > 0) {
			return "", false
		}
		folder = folder[:max(cut, 0)]
	}
	return folder, e.startsAt(folder+"/", home)
}

const (
	maxBraces    = 64 // patterns that one with braces may stand for
	maxGlobParts = 12 // names in a pattern that is looked at closely
)

// mayMatch reports whether a pattern of paths selects an entry, at whatever depth. To narrow a search is to
// leave most of it out, so a pattern for all files, or for all of an ordinary kind, such as *.json, selects none
// unless all is true: then one for all files does. Patterns that mean more than this knows are taken for all files.
func (l *nameList) mayMatch(glob string, all bool) bool {
	globs, ok := expandBraces(strings.TrimPrefix(glob, "./"))
	if !ok {
		return true
	}
	return slices.ContainsFunc(globs, func(g string) bool {
		parts := globParts(g)
		if len(parts) > maxGlobParts {
			return true
		}
		if !l.mayName(parts, all) {
			return false // the usual one, such as src/**/*.go
		}
		for i := range l.entries {
			if e := &l.entries[i]; !e.except && l.meetsAnywhere(parts, e, all) {
				return true
			}
		}
		return false
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
		case isWild(part), l.names[part], slices.ContainsFunc(l.wild, func(w string) bool { return matchName(w, part) }):
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

// meets reports whether a pattern selects what the entry is from one of its parts on. Named says that it did so
// by more than a wildcard before.
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

// isAbout reports whether two patterns that meet fix the same part of a name: *_test.go and .env_* do not.
func isAbout(a, b string) bool {
	if !isWild(a) || !isWild(b) {
		return true
	}
	return strings.Contains(b, longestText(a)) || strings.Contains(a, longestText(b))
}

// longestText returns the longest text in a pattern that holds no wildcard.
func longestText(pattern string) string {
	longest := ""
	for text := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// wantedEnd returns the end that a pattern for all files of one kind asks for: "go" for *.go.
func wantedEnd(glob string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(glob, "*.")
	return kind, ok && !isWild(kind)
}

// hasKind reports whether a pattern for all files of a kind is meant for an entry.
func (l *nameList) hasKind(kind string) bool { return l.ends[kind] || l.ends[endOf(kind)] }

// globParts cuts a pattern into what matchName and namesMeet understand.
func globParts(glob string) []string {
	parts := strings.Split(foldName(glob), "/")
	for i, part := range parts {
		if strings.ContainsAny(part, `[\(|^#`) {
			parts[i] = plainGlob(part)
		}
		if strings.HasPrefix(part, "***") {
			parts[i] = "**"
		}
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })
}

// plainGlob takes a set for any character, and whatever else is more than * and ? for any text.
func plainGlob(part string) string {
	if strings.ContainsAny(part, "(|^#") {
		return "*"
	}
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch close := strings.IndexByte(part[i+1:], ']'); {
		case part[i] == '\\' && i+1 < len(part):
			i++
			b.WriteByte(part[i])
		case part[i] == '[' && close > 0:
			b.WriteByte('?')
			i += close + 1
		default:
			b.WriteByte(part[i])
		}
	}
	return b.String()
}

// expandBraces writes out {a,b}. It is not ok when that is more than anybody would mean.
func expandBraces(glob string) (globs []string, ok bool) {
	globs = []string{glob}
	for i := 0; i < len(globs); {
		g := globs[i]
		open, close := innerBraces(g)
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

// innerBraces finds braces with none inside; -1 when there are none.
func innerBraces(glob string) (open, close int) {
	close = strings.IndexByte(glob, '}')
	if close < 0 {
		return -1, -1
	}
	return strings.LastIndexByte(glob[:close], '{'), close
}

func isWild(s string) bool { return strings.ContainsAny(s, "*?") }

// endOf returns what follows the last dot of a name, or nothing.
func endOf(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		return name[dot+1:]
	}
	return ""
}

// matchName reports whether a name matches a pattern of * and ?. It goes back to the last star only.
func matchName(pattern, name string) bool {
	if !isWild(pattern) {
		return pattern == name
	}
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark, p = p, n, p+1
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// namesMeet reports whether some name matches both patterns, in at most len(a) × len(b) steps.
func namesMeet(a, b string) bool {
	if !isWild(a) {
		return matchName(b, a)
	}
	if !isWild(b) {
		return matchName(a, b)
	}
	var short [64]bool
	meet := short[:] // of what is left of a with each end of b
	if len(b) >= len(short) {
		meet = make([]bool, len(b)+1)
	}
	for i := len(a); i >= 0; i-- {
		below := meet[len(b)]
		for j := len(b); j >= 0; j-- {
			next := false // meet[j+1] of this row
			if j < len(b) {
				next = meet[j+1]
			}
			was := meet[j]
			switch {
			case i == len(a) && j == len(b):
				meet[j] = true
			case i < len(a) && a[i] == '*':
				meet[j] = was || (j < len(b) && next)
			case j < len(b) && b[j] == '*':
				meet[j] = next || (i < len(a) && was)
			case i < len(a) && j < len(b) && (a[i] == b[j] || a[i] == '?' || b[j] == '?'):
				meet[j] = below
			default:
				meet[j] = false
			}
			below = was
		}
	}
	return meet[0]
}

// foldName returns a path in the form in which names are compared: without letter case, and without what else
// macOS and Windows find the same in two names. It costs nothing on small ASCII letters.
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
