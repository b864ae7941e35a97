package language

import (
	"slices"
	"strings"
)

// The lines of a patch that say where it begins and ends.
const (
	PatchBegin = "*** Begin Patch"
	patchEnd   = "*** End Patch"
	patchLast  = "*** End of File"
)

// PatchMark is how a line of a patch starts that says what happens to a file.
type PatchMark string

// The marks of a patch.
const (
	PatchAdd    PatchMark = "*** Add File:"
	patchUpdate PatchMark = "*** Update File:"
	PatchDelete PatchMark = "*** Delete File:"
	PatchMove   PatchMark = "*** Move to:" // that of the last patchUpdate
)

// PatchFile tells what happens to which file when line says so. The path may have blanks around it.
func PatchFile(line string) (mark PatchMark, path string, ok bool) {
	text := strings.TrimSpace(line)
	for _, mark := range []PatchMark{PatchAdd, patchUpdate, PatchDelete, PatchMove} {
		if path, ok := strings.CutPrefix(text, string(mark)); ok {
			return mark, path, true
		}
	}
	return "", "", false
}

// patchWrappers are the first lines of a here-document that stands in a word, where no shell takes it off.
var patchWrappers = []string{"<<EOF", "<<'EOF'", `<<"EOF"`}

// Patch reads a patch as apply_patch of Codex and OpenCode takes it, and tells the files that it writes and removes.
// With an error, Use holds those that its lines name all the same. The text may be of any length: deny rules look at
// patches that are too long for a person, too.
//
// Versions differ on blanks in front of a line that names a file. Such a line counts as one.
func Patch(text string) (Use, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if n := len(lines); n >= 4 && slices.Contains(patchWrappers, lines[0]) && strings.HasSuffix(lines[n-1], "EOF") {
		lines = lines[1 : n-1]
	}
	var p patch
	var err error
	first, last := strings.TrimSpace(lines[0]), strings.TrimSpace(lines[len(lines)-1])
	if first == PatchBegin && last == patchEnd {
		lines = lines[1 : len(lines)-1]
	} else {
		err = refusal("The patch does not begin and end as apply_patch expects.")
	}
	for _, line := range lines {
		if problem := p.line(line); err == nil {
			err = problem
		}
	}
	if err == nil && p.mark == "" {
		err = refusal("The patch names no file.")
	}
	return p.use, err
}

type patch struct {
	use  Use
	mark PatchMark // of the file that the lines are about
	file string
	body bool // a line behind the marks was there
}

func (p *patch) line(line string) error {
	if mark, path, ok := PatchFile(line); ok {
		return p.names(mark, path)
	}
	text, body := strings.TrimSpace(line), p.body
	p.body = true
	switch {
	case text == "":
		p.body = body
		return nil
	case p.mark == PatchAdd && line[0] == '+':
		return nil
	case p.mark == patchUpdate && text != patchEnd &&
		(strings.ContainsAny(line[:1], " +-") || strings.HasPrefix(text, "@@") || text == patchLast):
		return nil
	}
	return refusal("The patch contains the line " + Quote(text) + ", which apply_patch does not know.")
}

func (p *patch) names(mark PatchMark, path string) error {
	path, ok := strings.CutPrefix(path, " ")
	switch {
	case !ok || strings.TrimSpace(path) == "":
		ok = false
	case mark == PatchMove:
		ok = p.mark == patchUpdate && !p.body
	}
	paths := literalPaths(path)
	switch mark {
	case PatchDelete:
		p.use.Removes = append(p.use.Removes, paths...)
	case PatchMove:
		p.use.Removes = append(p.use.Removes, literalPaths(p.file)...)
		p.use.Writes = append(p.use.Writes, paths...)
	default:
		p.use.Writes = append(p.use.Writes, paths...)
	}
	if p.body = mark == PatchMove; !p.body {
		p.mark, p.file = mark, path
	}
	if !ok || strings.HasPrefix(path, "file:") {
		return refusal("nod doesn't understand " + Quote(string(mark)+" "+path) + " in the patch.")
	}
	return nil
}

// literalPaths are the paths that a name in a patch may stand for: some take the blanks around it off, and some take ~
// for a folder of that name.
func literalPaths(name string) []string {
	var paths []string
	for _, p := range []string{strings.TrimSpace(name), name} {
		if p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
		if at := "./" + p; strings.HasPrefix(p, "~") && !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	return paths
}
