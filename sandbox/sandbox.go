// Package sandbox runs commands where they can change a project and nothing else, and reach nobody.
//
// On Linux bubblewrap makes the namespaces, and a builder the file system in them; where there are none, Landlock
// contains commands that only read. Builder and first process are the program nod, started under other names: see
// [Main]. What a command may do is its [Profile]. Whatever cannot be enforced is an error, and the command does not
// run. Elsewhere nothing can.
package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Profile says what a command may do and see. Paths are absolute and clean, with links followed where not said
// otherwise. Everything that is not named here and is no part of the system is not there.
type Profile struct {
	// Project is the folder where it works: writable with Write, else read-only.
	Project string `json:"project"`
	Write   bool   `json:"write,omitempty"`
	// Near has its programs ask the proxy for this computer's servers, too: it has none of its own.
	Near bool `json:"near,omitempty"`
	// Keep are places in the project that can be read but not changed, as files or folders. They must be there.
	Keep []string `json:"keep,omitempty"`
	// Links are guarded places in the project that are links, and what these say. They cannot be kept: see [Expel].
	Links map[string]string `json:"links,omitempty"`
	// New has the places of Keep, Hide and Links that a command which still runs may have created, each with a mark that
	// changes with the file: see [Profile.Distrust].
	New map[string]string `json:"new,omitempty"`
	// Path are folders of PATH in the project, with links followed: guarded places, too. They need not be there.
	Path []string `json:"path,omitempty"`
	// Absent are folders in the project that must not come to be, or are there but empty. While it runs they are empty.
	Absent []string `json:"absent,omitempty"`
	// Hide are secrets, in the project and in what is shown. They look empty. They must be there.
	Hide []string `json:"hide,omitempty"`
	// Show can be read outside of the project. Links are followed as they are outside; what is not there is left out.
	Show []string `json:"show,omitempty"`
	// Warm are folders that are read as they are, while what is written stays in Private, as Show otherwise.
	Warm []string `json:"warm,omitempty"`
	// Unfinished is the path of a file with this profile, which is removed after [Expel]. Empty: the command only reads.
	Unfinished string `json:"unfinished,omitempty"`
	// Private is a folder of this project and session below nod's cache. Its tmp is what the command sees as /tmp.
	Private string `json:"private"`
	Limits  limits `json:"limits,omitzero"`
	// Engine is the kind that was found to work.
	Engine Kind `json:"engine"`
}

// A Kind of engine.
type Kind string

// The kinds. With Landlock commands can only read, and reach no network.
const (
	bubblewrap Kind = "bubblewrap"
	landlock   Kind = "Landlock"
)

// OnlyReads reports whether this kind contains no commands but those that read.
func (k Kind) OnlyReads() bool { return k != bubblewrap }

// TryFlag has the command nod run print what [Find] finds, a [Trial] as JSON. nod-desktop needs it: the kernel keeps
// others of its user out of that process, and gives an ordinary user no namespaces in the children of such a one.
const TryFlag = "try"

// Trial says what contains commands on a machine, and why nothing better does.
type Trial struct {
	Engine Kind   `json:"engine"`
	Why    string `json:"why,omitempty"`
}

// limits bound all that a command starts, together. What is 0 has no bound.
type limits struct {
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"` // bytes, without those backed by files
	Free      int64 `json:"free,omitempty"`   // bytes to leave free on disks that it writes to
}

// defaultLimits are far beyond what a build takes.
var defaultLimits = limits{Processes: 1024, Memory: 32 << 30, Free: 1 << 30}

// Command is one run in a sandbox.
type Command struct {
	Profile Profile
	Argv    []string
	Dir     string   // where it starts, in what it sees
	Env     []string // it gets these but for what is secret
	// Stdin, Stdout and Stderr are the command's own, not copied. nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Serve is called when something connects, for the first time, to the proxy that the command's environment names. It
	// serves that on the listener, which is closed when the command has ended. nil, or with Landlock: the command reaches
	// nothing.
	Serve func(listener *os.File)
	// Hold returns when the command may start, for which all else is ready; nil: at once. If it fails, so does the run.
	Hold func() error
	// Watch is the id of a process with which the command ends as well; 0: none.
	Watch int
}

// Temp is what a command sees as [engine.Temp]. It owns what is in it: follow no links there.
func (p *Profile) Temp() string { return filepath.Join(p.Private, "tmp") }

// isBelow reports whether path is in dir.
func isBelow(path, dir string) bool {
	const separator = string(filepath.Separator)
	return strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

// IsIn reports whether path is dir or in it. Both are absolute and clean.
func IsIn(path, dir string) bool { return path == dir || isBelow(path, dir) }
