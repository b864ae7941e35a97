package sandbox

import "time"

// The names under which nod is started in a sandbox.
const (
	builderName = "nod-sandbox"     // mounts the file system, then execs bubblewrap
	firstPath   = "/run/nod/inside" // the path of nod in the sandbox: its first process

	landlockFirst   = "nod-sandbox-first"   // the first process, if Landlock is the engine
	landlockCommand = "nod-sandbox-command" // restricts itself, then execs the command, if Landlock is the engine
)

// The file descriptors that the processes of a sandbox inherit.
const (
	controlFile = iota + 3      // a socket to the engine, which sends [goAhead] and signals; the sandbox ends with it
	planFile                    // the [plan], as JSON
	filterFile                  // the seccomp filter
	stdin                       // of the command, as the next two
	stdout                      //
	stderr                      //
	cacheLock                   // the lock on the private copies of caches, released when the last process ends
	inherits    = cacheLock + 1 // the first that is not inherited
)

type plan struct {
	Root     string   // an empty folder to mount the file system on
	Mounts   []mount  // in order
	Engine   []string // bubblewrap with its arguments
	Landlock bool     // instead of bubblewrap: there are no namespaces and no mounts

	Argv   []string
	Dir    string
	Env    []string
	Listen bool // on proxyPort, for the engine's proxy
	Limits limits
}

// mount is a mount in a sandbox. To is the path inside, From the path outside.
type mount struct {
	Kind        mountKind
	To          string
	From        string `json:",omitempty"`
	Write       bool   `json:",omitempty"`
	Upper, Work string `json:",omitempty"`
	Size        int64  `json:",omitempty"`
}

type mountKind string

// The kinds of mounts. keep, pin and hide fail if To does not exist; the others create it.
const (
	bind     mountKind = "bind"    // From, with the mounts below it
	overlay  mountKind = "overlay" // From, with changes in Upper; read-only if Upper is empty
	inMemory mountKind = "memory"  // an empty folder in memory, of Size bytes
	link     mountKind = "link"    // a symbolic link to From
	keep     mountKind = "keep"    // makes To read-only
	pin      mountKind = "pin"     // mounts To over itself, so that it cannot be renamed
	hide     mountKind = "hide"    // makes To look empty

	// Landlock grants access to To by these, and write access by bind. It refuses all others.
	read   mountKind = "read"   // To and all below, read-only
	list   mountKind = "list"   // the names below To
	device mountKind = "device" // read, write and ioctl
)

// goAhead is what the engine writes to controlFile when the plan is ready, and when the command may start.
const goAhead = 0

// The first byte of each message that the first process writes to controlFile.
const (
	saysListening = 'l' // with the listener's file descriptor
	saysStarted   = 's' //
	saysEnded     = 'e' // then the exit status in one byte, then why the command was killed, if it was
)

const tick = 20 * time.Millisecond
