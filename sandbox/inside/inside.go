// Package inside runs in the sandbox: the builder, which mounts the file system that a command sees, and the first
// process, which starts the command and ends with it. Both are the program nod, started under other names. The package
// links little: every command in the sandbox waits for nod to start twice.
package inside

import "time"

// The names under which nod is started in a sandbox.
const (
	Builder = "nod-sandbox"     // mounts the file system, then execs bubblewrap
	First   = "/run/nod/inside" // the path of nod in the sandbox: its first process

	landlockFirst   = "nod-sandbox-first"   // the first process, if Landlock is the engine
	landlockCommand = "nod-sandbox-command" // restricts itself, then execs the command, if Landlock is the engine
)

// The file descriptors that the processes of a sandbox inherit.
const (
	Control   = iota + 3      // a socket to the engine, which sends [Go] and signals; when it closes, the sandbox ends
	planFile                  // the [Plan], as JSON
	Filter                    // the seccomp filter
	stdin                     // of the command, as the next two
	stdout                    //
	stderr                    //
	cacheLock                 // the lock on the private copies of caches, released when the last process ends
	inherits  = cacheLock + 1 // the first that is not inherited
)

// ProxyPort is the port of the proxy in the sandbox, outside the range of ephemeral ports.
const ProxyPort = 61080

// Plan tells the processes in a sandbox what to mount and what to run.
type Plan struct {
	Root     string   // an empty folder to mount the file system on
	Mounts   []Mount  // in order
	Engine   []string // bubblewrap with its arguments
	Landlock bool     // instead of bubblewrap: there are no namespaces and no mounts

	Argv   []string
	Dir    string
	Env    []string
	Listen bool // on ProxyPort, for the engine's proxy
	Limits Limits
}

// Limits apply to all processes of a sandbox together. 0 means no limit.
type Limits struct {
	Processes int   `json:"processes,omitempty"`
	Memory    int64 `json:"memory,omitempty"` // bytes, without those backed by files
	Free      int64 `json:"free,omitempty"`   // bytes to leave free on disks that it writes to
}

// A Kind is the kind of a [Mount].
type Kind string

// The kinds of mounts. Keep, Pin and Hide fail if To does not exist; the others create it.
const (
	Bind    Kind = "bind"    // From, with the mounts below it
	Overlay Kind = "overlay" // From, with changes in Upper; read-only if Upper is empty
	Memory  Kind = "memory"  // an empty folder in memory, of Size bytes
	Link    Kind = "link"    // a symbolic link to From
	Keep    Kind = "keep"    // makes To read-only
	Pin     Kind = "pin"     // mounts To over itself, so that it cannot be renamed
	Hide    Kind = "hide"    // makes To look empty

	// Landlock grants access to To by these, and write access by Bind. It refuses all others.
	Read   Kind = "read"   // To and all below, read-only
	List   Kind = "list"   // the names below To
	Device Kind = "device" // read, write and ioctl
)

// Mount is a mount in a sandbox. To is the path inside, From the path outside.
type Mount struct {
	Kind        Kind
	To          string
	From        string `json:",omitempty"`
	Write       bool   `json:",omitempty"`
	Upper, Work string `json:",omitempty"`
	Size        int64  `json:",omitempty"`
}

// Go is the byte that the engine writes to [Control] when the plan is ready, and again when the command may start.
const Go = 0

// The first byte of each message that the first process writes to [Control].
const (
	Listening = 'l' // with the listener's file descriptor
	Started   = 's' //
	Ended     = 'e' // then the exit status in one byte, then why the command was killed, if it was
)

// tick is how often the number of processes is checked.
const tick = 20 * time.Millisecond
