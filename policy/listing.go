package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nod/ownfile"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

type listing struct {
	byName map[string][]node // by their folded names
	isPart bool              // it is incomplete: there is too much
}

type node struct {
	path     string // below the folder
	isFolder bool
}

// maxListed limits the names that are looked at below one folder; all folders of a call share maxLooked.
const maxListed = maxLooked / 2

// holds reports whether a folder that is read as a whole holds, or held, something that a pattern for any folder
// matches. What a repository held in the past is unknown, so it may be anything.
func (f *facts) holds(a *access, pat *pattern) bool {
	root := a.real
	if a.kind != shell.Tree || a.source == fromWords || root == "" {
		return false
	}
	if a.past {
		info, err := os.Lstat(filepath.FromSlash(root))
		if err == nil && !info.IsDir() {
			return false
		}
		if ownfile.IsMissing(err) { // a revision, or what is gone
			root = fold(f.project())
		}
		return pat.mayLieBelow(root) && (len(a.only) == 0 || slices.ContainsFunc(a.only, pat.mayNarrow))
	}
	return pat.mayLieBelow(root) && f.list(root).has(pat, a)
}

func (p *pattern) mayLieBelow(folder string) bool {
	return len(p.starts) == 0 || slices.ContainsFunc(p.starts, func(start string) bool {
		return isWithin(fold(folder), start) || isWithin(start, fold(folder))
	})
}

// list returns what is below a folder. It does not follow links, and leaves out git's objects, which are not files of
// the project.
func (f *facts) list(root string) *listing {
	if l := f.listings[root]; l != nil {
		return l
	}
	if f.listings == nil {
		f.listings = map[string]*listing{}
	}
	l := &listing{byName: map[string][]node{}}
	f.listings[root] = l
	left := maxListed
	for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
		var entries []os.DirEntry
		folder, err := openFolder(filepath.Join(filepath.FromSlash(root), queue[0]))
		if err == nil {
			entries, err = folder.ReadDir(left + 1)
			folder.Close()
		}
		if left -= len(entries); left < 0 || len(f.listings) > maxListings || ownfile.SaysNothing(err) {
			l.isPart = true
			return l
		}
		for _, e := range entries {
			n := node{path.Join(queue[0], e.Name()), e.IsDir()}
			name := foldName(e.Name())
			if l.byName[name] = append(l.byName[name], n); n.isFolder && n.path != ".git/objects" {
				queue = append(queue, n.path)
			}
		}
	}
	return l
}

const maxListings = 8

func (l *listing) has(pat *pattern, a *access) bool {
	matches := func(n node) bool {
		return (n.isFolder || a.selects(n.path)) && slices.ContainsFunc(a.paths(), func(root string) bool {
			return pat.match(strings.TrimSuffix(root, "/") + "/" + n.path)
		})
	}
	if l.isPart {
		return len(a.only) == 0 || slices.ContainsFunc(a.only, func(glob string) bool {
			info, err := os.Stat(filepath.Join(filepath.FromSlash(a.real), glob))
			return ownfile.SaysNothing(err) || err == nil && info.IsDir() || strings.HasPrefix(glob, ":") || pat.mayNarrow(glob)
		})
	}
	for _, name := range pat.lastNames() {
		if !isWild(name) && slices.ContainsFunc(l.byName[name], matches) {
			return true
		}
		for other, nodes := range l.byName {
			if isWild(name) && language.Wildcard(name, other) && slices.ContainsFunc(nodes, matches) {
				return true
			}
		}
	}
	return false
}

// selects reports whether the call's own patterns may select a file, by its name or that of a folder around it. To git,
// a wildcard also matches slashes, and what begins with a colon may mean anything.
func (a *access) selects(file string) bool {
	return len(a.only) == 0 || slices.ContainsFunc(a.only, func(glob string) bool {
		globs, ok := expandBraces(glob)
		return !ok || strings.HasPrefix(glob, ":") || slices.ContainsFunc(globs, func(g string) bool {
			parts := globParts(g)
			for tail := foldName(file); len(parts) > 0 && tail != ""; {
				last := parts[len(parts)-1]
				name, below, _ := strings.Cut(tail, "/")
				if language.Wildcard(last, name) || language.Wildcard(last, tail) {
					return true
				}
				tail = below
			}
			return false
		})
	})
}

// maxLooked limits the names on disk that are looked at for the patterns of one call. An agent chooses the pattern, and
// one like /*/*/*/*/* has the whole disk to match.
const maxLooked = 20_000

type expansion struct {
	left int // names that may still be looked at
}

// expand returns the files that a clean, absolute pattern matches, hidden ones included. ok is false if that could not
// be found out: the budget is used up, or the pattern is invalid.
func (e *expansion) expand(pattern string) (matches []string, ok bool) {
	root := filepath.VolumeName(pattern) + string(filepath.Separator)
	matches = []string{root}
	for part := range strings.SplitSeq(pattern[len(root):], string(filepath.Separator)) {
		var next []string
		for _, folder := range matches {
			if next, ok = e.step(next, folder, part); !ok {
				return nil, false
			}
		}
		matches = next
	}
	return matches, true
}

// namedClass matches a set as in [[:alpha:]_].
var namedClass = language.Compiled(`\[[^\]/]*\[:[a-z]+:\][^\]/]*\]`)

func (e *expansion) step(to []string, folder, part string) ([]string, bool) {
	if !strings.ContainsAny(part, `*?[\`) {
		e.left--
		path := filepath.Join(folder, part)
		if _, err := isLink(path); err == nil || ownfile.SaysNothing(err) {
			to = append(to, path)
		}
		return to, e.left >= 0
	}
	names, ok := e.names(folder)
	if !ok {
		return nil, false
	}
	part = strings.ReplaceAll(namedClass().ReplaceAllString(part, "?"), "[!", "[^")
	for _, name := range names {
		fits, err := filepath.Match(part, name)
		if err != nil {
			return nil, false
		}
		if fits {
			to = append(to, filepath.Join(folder, name))
		}
	}
	return to, true
}

// names lists a folder. A path that is not a folder, or may not be read, has no names.
func (e *expansion) names(folder string) ([]string, bool) {
	e.left--
	if e.left < 0 {
		return nil, false
	}
	dir, err := openFolder(folder)
	if err != nil {
		return nil, !ownfile.SaysNothing(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(e.left + 1)
	e.left -= len(names)
	return names, e.left >= 0 && !ownfile.SaysNothing(err)
}
