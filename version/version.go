// Package version describes this build of nod. All of nod's programs link it, and the Makefile stamps it.
package version

import (
	"runtime/debug"
	"strings"
	"time"
)

// Set by the linker: go build -ldflags "-X nod/version.number=1.2.3 …". date is that of the commit, in RFC 3339, for
// reproducible builds.
var number, commit, date string

// Info describes a build. Unknown fields are empty.
type Info struct {
	Number string    `json:"version"`          // 1.2.3; the output of git describe for other builds than releases
	Commit string    `json:"commit,omitempty"` // full hash
	Date   time.Time `json:"date,omitzero"`    // of the commit
}

// Get returns the stamped information or, without it, the Go tool's.
func Get() Info {
	i := Info{Number: number, Commit: commit}
	if i.Number == "" {
		i.Number = "(devel)"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
			i.Number = info.Main.Version
		}
	}
	i.Date, _ = time.Parse(time.RFC3339, date) // zero if not stamped
	return i
}

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
