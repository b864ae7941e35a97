// Package inside is the part of nod's sandbox that runs in it: what builds the file system that a command sees, and the
// first process, which starts the command and ends with it. Both are the program nod, started under names of their own.
// It links little, since every command in the sandbox waits for it twice.
package inside

import "time"

// The names that the program is started by.
const (
	Builder = "nod-sandbox"         // builds the file system, then becomes bubblewrap
	First   = "/run/nod/inside"     // where the program is in the sandbox: its first process
	Warden  = "nod-sandbox-first"   // the first process where Landlock restricts the command
	Entrant = "nod-sandbox-command" // becomes the command there
)

// What the processes of a sandbox inherit.
const (
	Control  = iota + 3 // a line to the engine, which says [Go] and signals: whoever is inside ends when it does
	Plans               // the [Plan], as JSON
	Filter              // of system calls, for bubblewrap
	Stdin               // of the command, as the next two
	Stdout              //
	Stderr              //
	Lock                // of the private copies of caches, released when the last process has ended
	inherits = Lock + 1 // the first that is not inherited
)

// ProxyPort is where a proxy listens in the sandbox, beyond the ports that programs are given by themselves.
const ProxyPort = 61080

// Plan is a sandbox in the words of those that make it.
type Plan struct {
	Root   string   // an empty folder, over which the file system is built
	Mounts []Mount  // in order
	Engine []string // bubblewrap with its arguments
	// Landlock restricts the command, which has neither namespaces nor a file system of its own, nor bubblewrap.
	Landlock bool

	Argv   []string
	Dir    string
	Env    []string
	Listen bool // for a proxy
	Limits Limits
}

// Limits bound all that runs in a sandbox together. What is 0 has no bound.
type Limits struct {
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"` // bytes that processes do not share with files
	Free      int64 `json:"free,omitempty"`   // bytes to leave free where it writes
}

// A Kind says what a mount is.
type Kind string

// The kinds of mounts. Those on the person's files want the target to be there; the others make it.
const (
	Bind    Kind = "bind"    // From, with what is mounted in it
	Overlay Kind = "overlay" // From, with changes in Upper; without it read-only
	Memory  Kind = "memory"  // an empty folder in memory, of Size bytes
	Link    Kind = "link"    // a symbolic link to From
	Folder  Kind = "folder"  // nothing but a folder
	Keep    Kind = "keep"    // what is there, read-only
	Pin     Kind = "pin"     // what is there; it cannot be renamed any more
	Hide    Kind = "hide"    // looks empty

	// With Landlock there are, beside Bind of what can be written, only these, at the places where things are.
	Read   Kind = "read"   // To and what is below, but not to change
	List   Kind = "list"   // the names below To
	Device Kind = "device" //
)

// Mount is a part of the file system of a sandbox. To is its path there, From that outside.
type Mount struct {
	Kind        Kind
	To          string
	From        string `json:",omitempty"`
	Write       bool   `json:",omitempty"`
	Upper, Work string `json:",omitempty"`
	Size        int64  `json:",omitempty"`
}

// Go is what the engine writes to [Control] when the plan is there, and when the command may start.
const Go = 0

// What the first process writes to [Control]: one of these, then what belongs to it.
const (
	Listening = 'l' // with the listener
	Started   = 's' //
	Ended     = 'e' // with the status in one byte, then a text: why it was ended, if not by itself
)

// tick is how often somebody looks whether there are suddenly many processes.
const tick = 20 * time.Millisecond
