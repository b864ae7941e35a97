package language

import (
	"cmp"
	"slices"
	"strings"
)

// The lines of a patch that say where it begins and ends.
const (
	PatchBegin = "*** Begin Patch"
	patchEnd   = "*** End Patch"
	patchLast  = "*** End of File"
)

// patchMarks are the starts of the lines of a patch that name files, by the letters of git status. A move
// applies to the file that the line before updates.
var patchMarks = map[byte]string{
	'A': "*** Add File:", 'M': "*** Update File:", 'D': "*** Delete File:", 'R': "*** Move to:",
}

// PatchFile returns what line says happens to which file, as git status would: A for added, M for modified, D for
// deleted, R for moved there. The path may have blanks around it.
func PatchFile(line string) (change byte, path string, ok bool) {
	text := strings.TrimSpace(line)
	for change, mark := range patchMarks {
		if path, ok := strings.CutPrefix(text, mark); ok {
			return change, path, true
		}
	}
	return 0, "", false
}

// patchWrappers are the first lines of a here-document inside a word, which no shell removes.
var patchWrappers = []string{"<<EOF", "<<'EOF'", `<<"EOF"`}

// Patch reads a patch in the format of apply_patch of Codex and OpenCode, and returns the files that it writes and
// removes; with an error, too, those that its lines name. The text may be of any length. Versions differ on blanks
// before a line that names a file: such a line counts.
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
		err = cmp.Or(err, p.line(line))
	}
	if err == nil && p.change == 0 {
		err = refusal("The patch names no file.")
	}
	return p.use, err
}

type patch struct {
	use    Use
	change byte // the change of the current file
	file   string
	body   bool // a line after the marks was read
}

func (p *patch) line(line string) error {
	if change, path, ok := PatchFile(line); ok {
		return p.names(change, path)
	}
	text, body := strings.TrimSpace(line), p.body
	p.body = true
	switch {
	case text == "":
		p.body = body
		return nil
	case p.change == 'A' && line[0] == '+':
		return nil
	case p.change == 'M' && text != patchEnd &&
		(strings.ContainsAny(line[:1], " +-") || strings.HasPrefix(text, "@@") || text == patchLast):
		return nil
	}
	return refusal("The patch contains the line " + Quote(text) + ", which apply_patch does not know.")
}

func (p *patch) names(change byte, path string) error {
	path, isApart := strings.CutPrefix(path, " ")
	isLost := change == 'R' && (p.change != 'M' || p.body) // a move must follow the line of an update
	if change == 'R' {
		p.use.Removes = append(p.use.Removes, literalPaths(p.file)...)
	}
	if change == 'D' {
		p.use.Removes = append(p.use.Removes, literalPaths(path)...)
	} else {
		p.use.Writes = append(p.use.Writes, literalPaths(path)...)
	}
	if p.body = change == 'R'; !p.body {
		p.change, p.file = change, path
	}
	if !isApart || isLost || strings.TrimSpace(path) == "" || strings.HasPrefix(path, "file:") {
		return refusal("nod doesn't understand " + Quote(patchMarks[change]+" "+path) + " in the patch.")
	}
	return nil
}

// literalPaths returns the paths that a name in a patch may mean: some versions trim the blanks around it, and some
// treat ~ as a folder of that name.
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
