// Package snapshot keeps earlier versions of a project's files, so that a command's changes can be seen and taken back.
//
// It uses git only as storage: each project has a repository in nod's state folder, with the project as its work tree.
// It neither reads nor writes the project's own repository, except for reading its list of files that git ignores
// (.git/info/exclude). It runs nothing in a project, and nothing there decides how its files are kept: see
// [git.command].
//
// A snapshot has the contents of files, whether they can be executed, and links. It does not have:
//   - files that a .gitignore of the project names, even one that the command wrote, unless an earlier snapshot
//     has them
//   - files that keep secrets, by the predicate of [Open]
//   - .git, in any folder and any letter case; but it has the other files of nested repositories
//   - empty folders, pipes, sockets, devices, what cannot be read, owners, and permissions other than to execute
//
// nod never touches what a snapshot does not have. It cannot tell apart commands that run at the same time in one
// project: each seems to have made the changes of both.
package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"nod/ownfile"
)

// An ID identifies the state of a project's files: equal files have equal IDs. The empty ID means no snapshot.
type ID string

// A Repository has the snapshots of one project. Several processes can use it at once.
type Repository struct {
	folder  string // of this repository
	project string // absolute, without links
	secret  func(path string) bool
	limits  limits

	store git // without the project, whose files do not count
	tree  git // with the project
}

type limits struct {
	files int
	bytes int64
}

// defaultLimits are far beyond projects that people work on by hand, and small enough for a disk to hold a few times.
var defaultLimits = limits{files: 200_000, bytes: 2 << 30}

// DefaultFolder returns the folder of all repositories, below nod's state folder.
func DefaultFolder() string { return filepath.Join(xdg.StateHome, "nod", "snapshots") }

// Open opens the repository of a project in folder, which has those of all projects, and creates it if necessary.
// Snapshots omit files for whose absolute path secret returns true: they keep secrets.
func Open(folder, project string, secret func(path string) bool) (*Repository, error) {
	r, err := locate(folder, project)
	if err != nil {
		return nil, err
	}
	r.secret = secret
	program, err := findGit()
	if err != nil {
		return nil, err
	}
	r.store = git{program: program, folder: r.folder}
	r.tree = git{program: program, folder: r.folder, tree: r.project}
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("prepare the snapshots of %s: %w", r.project, err)
	}
	return r, nil
}

// Find returns the project with snapshots that contains or is the folder inside; or "".
func Find(folder, inside string) string {
	inside, err := real(inside)
	if err != nil {
		return ""
	}
	for {
		r, err := locate(folder, inside)
		if err == nil && r.exists() {
			return inside
		}
		above := filepath.Dir(inside)
		if above == inside {
			return ""
		}
		inside = above
	}
}

func locate(folder, project string) (*Repository, error) {
	project, err := real(project)
	if err != nil {
		return nil, fmt.Errorf("the project's folder: %w", err)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if known, err := filepath.EvalSymlinks(folder); err == nil {
		folder = known
	}
	if folder == project || strings.HasPrefix(folder, strings.TrimSuffix(project, string(filepath.Separator))+
		string(filepath.Separator)) {
		return nil, fmt.Errorf("%s contains nod's own files, so nod takes no snapshots of it", project)
	}
	sum := sha256.Sum256([]byte(project))
	name := hex.EncodeToString(sum[:16])
	return &Repository{folder: filepath.Join(folder, name), project: project, limits: defaultLimits}, nil
}

func real(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(folder)
}

func (r *Repository) path(name ...string) string {
	return filepath.Join(append([]string{r.folder}, name...)...)
}

func (r *Repository) exists() bool {
	_, err := os.Stat(r.path("HEAD"))
	return err == nil
}

// attributes override a project's .gitattributes: files are kept byte for byte, and all differences are shown.
const attributes = "* !text !crlf !eol !ident !filter !working-tree-encoding !diff\n"

// settings are all the git settings that apply.
const settings = `[core]
	repositoryformatversion = 1
	bare = true
	fileMode = %t
	symlinks = %t
	ignoreCase = false
	precomposeUnicode = false
	protectHFS = %t
	protectNTFS = %t
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	attributesFile = /dev/null
	autocrlf = false
	safecrlf = false
	compression = 1
	bigFileThreshold = 16m
	packedGitLimit = 256m
	packedGitWindowSize = 16m
	logAllRefUpdates = false
[extensions]
	objectFormat = sha256
[diff]
	renames = false
[pack]
	windowMemory = 64m
[repack]
	writeBitmaps = false
[gc]
	auto = 0
[maintenance]
	auto = false
`

// prepare writes the files that make a folder a repository: git init would take them from the user's templates and
// settings.
func (r *Repository) prepare() error {
	windows := runtime.GOOS == "windows"
	for name, text := range map[string]string{
		"HEAD":            "ref: refs/heads/none\n",
		"config":          fmt.Sprintf(settings, !windows, !windows, runtime.GOOS == "darwin", windows),
		"info/attributes": attributes,
		"project":         r.project + "\n", // for users who look into the folder
	} {
		path := r.path(filepath.FromSlash(name))
		if was, err := ownfile.Read(path); err == nil && bytes.Equal(was, []byte(text)) {
			continue
		}
		if err := ownfile.Write(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(r.path("objects"), 0o700), os.MkdirAll(r.refs(), 0o700))
}

const lockInterval = 5 * time.Millisecond

// locked runs do with exclusive access to the repository.
func (r *Repository) locked(ctx context.Context, do func() error) (err error) {
	lock := flock.New(r.path("lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return fmt.Errorf("wait for other work on the snapshots of %s: %w", r.project, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return do()
}
