package shell

// Kind says what is done to a path, in rising order of care.
type Kind int

// The kinds of access.
const (
	Look   Kind = iota // its name, its metadata or the names in a folder: nothing of what files hold
	Read               // what one file holds
	Tree               // what every file below a folder holds
	Write              // made or changed
	Delete             // removed, or moved away
)

// Access is one thing that a command line or a tool does to the file system. Path is spelled as in the command, joined
// to the folders that cd went to before. It is not cleaned: "link/../x" is not "x" when link is a symbolic link. A path
// with *, ? or [ means every file that it matches.
type Access struct {
	Path string
	Kind Kind
	Only []string // of a Tree: patterns of the names that are read; empty: all
	Past bool     // of a Tree: as it was at any time in a repository; of no path of today's, all of the repository
	Bare bool     // the word could mean something else: it counts only if there is such a file
}

func isRemoved(a Access) bool { return a.Kind == Delete }
