// Package version says which build of nod this is. All of nod's programs link it, and the Makefile stamps it.
package version

import (
	"runtime/debug"
	"strings"
	"time"
)

// Set by the linker: go build -ldflags "-X nod/version.number=1.2.3 …". date is the commit's, in RFC 3339: the same
// sources make the same programs.
var number, commit, date string

// Info is what there is to say of a build. What is not known is empty.
type Info struct {
	Number string    `json:"version"`          // 1.2.3; of a build that is no release, what git describes it by
	Commit string    `json:"commit,omitempty"` // in full
	Date   time.Time `json:"date,omitzero"`    // of the commit
}

// Get returns what was stamped into the program or, where nothing was, what the Go tool knows.
func Get() Info {
	i := Info{Number: number, Commit: commit}
	if i.Number == "" {
		i.Number = "(devel)"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			i.Number = info.Main.Version
		}
	}
	i.Date, _ = time.Parse(time.RFC3339, date) // the zero time, where it was not stamped
	return i
}

// Number returns the version alone.
func Number() string { return Get().Number }

// String returns the build in one line: "1.2.3 (0123abcd, 2026-11-22)".
func (i Info) String() string {
	var about []string
	if i.Commit != "" {
		about = append(about, i.Commit[:min(len(i.Commit), 8)])
	}
	if !i.Date.IsZero() {
		about = append(about, i.Date.UTC().Format(time.DateOnly))
	}
	if len(about) == 0 {
		return i.Number
	}
	return i.Number + " (" + strings.Join(about, ", ") + ")"
}
