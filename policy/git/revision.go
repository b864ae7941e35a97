package git

import (
	"slices"
	"strings"
)

// Path is a path in a word for git.
type Path struct {
	Name    string // empty: all there is
	FromTop bool   // it starts at the repository's top, not in the folder that git runs in
}

// Revision splits a word that git may read as a revision (gitrevisions(7)) or as a pathspec with magic
// (gitglossary(7)). rev is what stands before the path: "HEAD" in HEAD:x, ":0" in :0:x; all of a word without one.
// Where the word can be read in more than one way, paths holds what each reading reaches: :/x is a search for a
// commit or names x, and HEAD:a..b is one path or the end of a range. A word without a colon is no path here,
// though it may well be the name of a file.
func Revision(word string) (rev string, paths []Path) {
	word = strings.TrimPrefix(word, "^")
	rev, paths = revision(word)
	for _, mark := range []string{"^!", "^@", "^-"} { // a commit and its parents; git looks for a file, too
		if at := strings.LastIndex(word, mark); at >= 0 {
			paths = with(paths, word[:at])
		}
	}
	left, right, isRange := strings.Cut(word, "..") // git looks at the first two dots only
	right = strings.TrimPrefix(right, ".")
	if !isRange || strings.HasPrefix(right, "/") { // no revision starts so: it is HEAD:../x
		return rev, paths
	}
	return rev, with(with(paths, left), right)
}

// with adds the paths of a part of a word.
func with(paths []Path, part string) []Path {
	_, more := revision(part)
	for _, p := range more {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// revision splits a word that is no range.
func revision(word string) (rev string, paths []Path) {
	if strings.HasPrefix(word, ":") {
		return indexOrPathspec(word)
	}
	at := colon(word)
	if at < 0 {
		return word, nil
	}
	return word[:at], []Path{inTree(word[at+1:])}
}

// colon finds the colon before a path: the first that is in no braces. Braces that nobody closes hide none.
func colon(word string) int {
	depth := 0
	for i := range len(word) {
		switch c := word[i]; {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == ':' && depth == 0:
			return i
		}
	}
	if depth > 0 {
		return strings.IndexByte(word, ':')
	}
	return -1
}

// inTree reads the path of REV:PATH.
func inTree(path string) Path {
	return Path{path, !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../") && path != "." && path != ".."}
}

// indexOrPathspec reads a word that starts with a colon.
func indexOrPathspec(word string) (rev string, paths []Path) {
	rest := word[1:]
	spec := pathspec(rest)
	switch {
	case strings.HasPrefix(rest, "/"):
		return word, []Path{spec}
	case len(rest) > 1 && '0' <= rest[0] && rest[0] <= '3' && rest[1] == ':':
		return word[:2], []Path{inTree(rest[2:]), spec}
	}
	return ":", []Path{inTree(rest), spec}
}

// pathspec reads what follows the colon of a pathspec with magic: (top,exclude)PATH, or /!^ and perhaps a colon.
func pathspec(rest string) Path {
	if strings.HasPrefix(rest, "(") {
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case ')':
				return Path{rest[i+1:], slices.Contains(strings.Split(rest[1:i], ","), "top")}
			}
		}
		return Path{Name: rest}
	}
	name := strings.TrimLeft(rest, "/!^")
	isTop := strings.Contains(rest[:len(rest)-len(name)], "/")
	return Path{strings.TrimPrefix(name, ":"), isTop}
}
