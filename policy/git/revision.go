package git

import (
	"slices"
	"strings"
)

// Revision splits a word that git may read as a revision (gitrevisions(7)) or as a pathspec with magic
// (gitglossary(7)). rev is the part before the path: "HEAD" in HEAD:x, ":0" in :0:x; the whole word if it has no path.
// If the word can be read in several ways, paths holds the path of each: :/x is a search for a commit or names x. An
// empty path means everything. A word without a colon is not a path here, though it may be the name of a file.
func Revision(word string) (rev string, paths []string) {
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

func with(paths []string, part string) []string {
	_, more := revision(part)
	for _, p := range more {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func revision(word string) (rev string, paths []string) {
	if strings.HasPrefix(word, ":") {
		return indexOrPathspec(word)
	}
	at := colon(word)
	if at < 0 {
		return word, nil
	}
	return word[:at], []string{word[at+1:]}
}

// colon finds the colon before a path: the first one outside braces. Unclosed braces hide none.
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

func indexOrPathspec(word string) (rev string, paths []string) {
	rest := word[1:]
	spec := pathspec(rest)
	switch {
	case strings.HasPrefix(rest, "/"):
		return word, []string{spec}
	case len(rest) > 1 && '0' <= rest[0] && rest[0] <= '3' && rest[1] == ':':
		return word[:2], []string{rest[2:], spec}
	}
	return ":", []string{rest, spec}
}

// pathspec reads what follows the colon of a pathspec with magic: (top,exclude)PATH, or /!^ and perhaps a colon.
func pathspec(rest string) string {
	if strings.HasPrefix(rest, "(") {
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case ')':
				return rest[i+1:]
			}
		}
		return rest
	}
	return strings.TrimPrefix(strings.TrimLeft(rest, "/!^"), ":")
}
