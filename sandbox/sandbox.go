// Package sandbox runs commands so that they can change only a project, and reach the network only through a proxy.
//
// On Linux bubblewrap makes the namespaces, and a builder the file system in them; without namespaces, Landlock
// contains commands that only read. The builder and the first process are nod itself, started under other names: see
// [Main]. A [Profile] says what a command may do. Whatever cannot be enforced is an error, and the command does not
// run. On other systems no command runs.
package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Profile says what a command may do and see. Paths are absolute and clean, with links followed unless stated
// otherwise. The command sees nothing that is neither named here nor part of the system.
type Profile struct {
	// Project is the folder where it works: writable with Write, otherwise read-only.
	Project string `json:"project"`
	Write   bool   `json:"write,omitempty"`
	// Near makes its programs ask the proxy for this computer's servers, too: it starts none of its own.
	Near bool `json:"near,omitempty"`
	// Keep are files and folders in the project that can be read but not changed. They must exist.
	Keep []string `json:"keep,omitempty"`
	// Links are guarded places in the project that are links, with their targets. They cannot be kept: see [Expel].
	Links map[string]string `json:"links,omitempty"`
	// New has the places of Keep, Hide and Links that a running command may have created, each with a mark that
	// changes with the file: see [Profile.Distrust].
	New map[string]string `json:"new,omitempty"`
	// Path are folders of PATH in the project, with links followed: these are guarded, too. They need not exist.
	Path []string `json:"path,omitempty"`
	// Absent are folders in the project that are missing or empty and must stay so. They are empty while it runs.
	Absent []string `json:"absent,omitempty"`
	// Hide are secrets, in the project and in what is shown. They look empty. They must exist.
	Hide []string `json:"hide,omitempty"`
	// Show can be read outside the project. Links are followed as they are outside; missing places are left out.
	Show []string `json:"show,omitempty"`
	// Warm are folders like those of Show, but writable: what is written stays in Private.
	Warm []string `json:"warm,omitempty"`
	// Unfinished is the path of a file with this profile, which is removed after [Expel]. Empty: the command only reads.
	Unfinished string `json:"unfinished,omitempty"`
	// Private is a folder of this project and session below nod's cache. Its tmp is what the command sees as /tmp.
	Private string `json:"private"`
	Limits  limits `json:"limits,omitzero"`
	// Engine is the kind of engine that was found to work.
	Engine Kind `json:"engine"`
}

// A Kind of engine.
type Kind string

// The kinds. With Landlock commands can only read, and reach no network.
const (
	bubblewrap Kind = "bubblewrap"
	landlock   Kind = "Landlock"
)

// OnlyReads reports whether this kind can only contain commands that read.
func (k Kind) OnlyReads() bool { return k != bubblewrap }

// TryFlag makes the command nod run print the result of [Find], a [Trial] as JSON. nod-desktop needs it: the kernel
// keeps other programs of the user out of that process, and denies namespaces to children of such a process.
const TryFlag = "try"

// Trial says which engine works on a machine, and why no better one does.
type Trial struct {
	Engine Kind   `json:"engine"`
	Why    string `json:"why,omitempty"`
}

// limits bound everything that a command starts, together. 0 is no bound.
type limits struct {
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"` // bytes, without those backed by files
	Free      int64 `json:"free,omitempty"`   // bytes to leave free on disks that it writes to
}

// defaultLimits are far beyond what a build needs.
var defaultLimits = limits{Processes: 1024, Memory: 32 << 30, Free: 1 << 30}

// Command is one run in a sandbox.
type Command struct {
	Profile Profile
	Argv    []string
	Dir     string   // where it starts, as it sees it
	Env     []string // it gets these except for secrets
	// Stdin, Stdout and Stderr are passed to the command, not copied. nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Serve is called when a program first connects to the proxy that the command's environment names. It serves the
	// proxy on the listener, which is closed when the command has ended. nil, or with Landlock: the command reaches
	// nothing.
	Serve func(listener *os.File)
	// Hold returns when the command may start, once all else is ready; nil: at once. If it fails, so does the run.
	Hold func() error
	// Watch is the id of a process whose end also ends the command; 0: none.
	Watch int
}

// Temp returns the path outside of what a command sees as [engine.Temp]. The command owns its content: follow no links
// there.
func (p *Profile) Temp() string { return filepath.Join(p.Private, "tmp") }

// isBelow reports whether path is inside dir.
func isBelow(path, dir string) bool {
	const separator = string(filepath.Separator)
	return strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

// IsIn reports whether path is dir or inside it. Both are absolute and clean.
func IsIn(path, dir string) bool { return path == dir || isBelow(path, dir) }
