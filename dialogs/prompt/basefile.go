package prompt

import (
	"slices"

	"nod/policy"
	"nod/policy/basefile"
)

// baseFile is the file that a change is about, as it was when it was read.
type baseFile struct {
	path    string // as the request names it
	at      Places
	where   policy.Location
	exists  bool
	text    string
	problem string // why the text cannot be compared
}

// changed reports whether reading again gives something else.
func (b *baseFile) changed() bool { return *b.at.read(b.path) != *b }

// problemText says why a file cannot be compared: in the person's language where nod says it, here or on another
// machine.
func problemText(problem string) string {
	if slices.Contains(basefile.Problems, problem) {
		return tr(problem)
	}
	return PlainText(problem)
}
