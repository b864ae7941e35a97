package policy

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
)

// maxLooked is how many names on disk are looked at for the patterns of one call. An agent chooses the
// pattern, and one like /*/*/*/*/* has the whole disk to match.
const maxLooked = 20_000

// An expansion finds what patterns match now, within a budget that they share.
type expansion struct {
	left int // names still to be looked at
}

// expand returns the files that a clean, absolute pattern matches, hidden ones included. It is not ok when
// that could not be found out: the budget is used up, or a pattern makes no sense.
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

// step adds what one part of a pattern matches in a folder.
func (e *expansion) step(to []string, folder, part string) ([]string, bool) {
	if !strings.ContainsAny(part, `*?[\`) {
		e.left--
		path := filepath.Join(folder, part)
		if _, err := isLink(path); err == nil {
			to = append(to, path)
		}
		return to, e.left >= 0
	}
	names, ok := e.names(folder)
	if !ok {
		return nil, false
	}
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

// names lists a folder. What is no folder, or may not be read, has no names.
func (e *expansion) names(folder string) ([]string, bool) {
	e.left--
	if e.left < 0 {
		return nil, false
	}
	dir, err := openFolder(folder)
	if err != nil {
		return nil, true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(e.left + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, true
	}
	e.left -= len(names)
	return names, e.left >= 0
}
