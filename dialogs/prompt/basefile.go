package prompt

import (
	"slices"

	"nod/policy"
	"nod/policy/basefile"
)

// baseFile is the file that a change applies to, as it was when it was read.
type baseFile struct {
	path    string // as the request names it
	at      places
	where   policy.Location
	exists  bool
	text    string
	problem string // why the text cannot be compared
}

// changed reads the file again and reports whether it has changed.
func (b *baseFile) changed() bool { return *b.at.read(b.path) != *b }

// problemText explains why a file cannot be compared, in the user's language if it is one of nod's own problems.
func problemText(problem string) string {
	if slices.Contains(basefile.Problems, problem) {
		return tr(problem)
	}
	return PlainText(problem)
}
