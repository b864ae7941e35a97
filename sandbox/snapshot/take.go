package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"nod/ownfile"
)

// errTooLarge is the error if a project is too large for a snapshot.
var errTooLarge = errors.New("it is too large for a snapshot")

// attempts is how often a snapshot is tried: files may change while they are read.
const attempts = 3

// longest limits the time for a snapshot, whatever the context allows.
const longest = 2 * time.Minute

// Take takes a snapshot of the project as it is. Only the first one takes long; the limit is two minutes.
func (r *Repository) Take(ctx context.Context) (id ID, err error) {
	err = r.locked(ctx, func() error {
		id, err = r.take(ctx, whole)
		return err
	})
	return id, err
}

// Whether a snapshot must contain all new files. The one before a command must. The one after it leaves out files that
// are too large: otherwise a command could prevent its undo by writing one.
const (
	whole   = true
	partial = false
)

func (r *Repository) take(ctx context.Context, isWhole bool) (id ID, err error) {
	limited, stop := context.WithTimeout(ctx, longest)
	defer stop()
	watched, end := context.WithCancelCause(limited)
	defer end(nil)
	go r.lookForPipes(watched, end)
	for attempt := range attempts {
		id, err = r.try(watched, isWhole)
		if err == nil {
			return id, nil
		}
		if watched.Err() != nil || errors.Is(err, errTooLarge) {
			break
		}
		if attempt > 0 { // the index, not the files, may be the problem
			err = errors.Join(err, r.forget())
		}
	}
	if cause := context.Cause(watched); cause != nil {
		err = cause
	}
	err = errors.Join(err, r.tidy())
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it takes too long: list generated files in .gitignore: %w", err)
	}
	return "", fmt.Errorf("take a snapshot of %s: %w", r.project, err)
}

// try takes a snapshot. It can be interrupted at any point: the file "last" exists only while it equals the index.
func (r *Repository) try(ctx context.Context, isWhole bool) (ID, error) {
	if err := r.tidy(); err != nil {
		return "", err
	}
	d, err := r.look(ctx, isWhole)
	if err != nil {
		return "", err
	}
	if last := r.last(); len(d.removed)+len(d.changed) == 0 && last != "" {
		return last, nil
	}
	if err := ownfile.Remove(r.path("last")); err != nil {
		return "", err
	}
	if err := r.update(ctx, d); err != nil {
		return "", err
	}
	text, err := r.store.output(ctx, "", "write-tree")
	if err != nil {
		return "", err
	}
	id := ID(strings.TrimSpace(text))
	if err := id.check(); err != nil {
		return "", err
	}
	if err := os.WriteFile(r.ref(id), []byte(id+"\n"), 0o600); err != nil {
		return "", err
	}
	return id, os.WriteFile(r.path("last"), []byte(id), 0o600)
}

// tidy removes what a git that was killed left: the lock of the index, and packs as large as the project.
func (r *Repository) tidy() error {
	left, err := ownfile.Glob(r.folder, "objects/pack/tmp_*")
	for _, path := range append(left, r.path("index.lock")) {
		err = errors.Join(err, ownfile.Remove(path))
	}
	return err
}

// forget removes the index, so that the next snapshot reads all files again.
func (r *Repository) forget() error {
	return errors.Join(ownfile.Remove(r.path("last")), ownfile.Remove(r.path("index")))
}

// last returns the snapshot that equals the index, if that is known, and marks it as used now.
func (r *Repository) last() ID {
	text, err := os.ReadFile(r.path("last"))
	id := ID(text)
	if err != nil || id.check() != nil {
		return ""
	}
	now := time.Now()
	if os.Chtimes(r.ref(id), now, now) != nil {
		return ""
	}
	return id
}

// refs is the folder with a reference for each kept snapshot, named after it and as old as its last use.
func (r *Repository) refs() string     { return r.path("refs", "nod") }
func (r *Repository) ref(id ID) string { return filepath.Join(r.refs(), string(id)) }

func (id ID) check() error {
	if len(id) != len(noObject) || strings.Trim(string(id), "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a snapshot", string(id))
	}
	return nil
}

const noObject = "0000000000000000000000000000000000000000000000000000000000000000"

type differences struct {
	removed, changed []string // paths below the project; changed ones may be new
	bytes            int64    // of the changed files
	largest          string
	size             int64 // of the largest

	nested  int
	isWhole bool
}

func (r *Repository) look(ctx context.Context, isWhole bool) (differences, error) {
	known, others := differences{isWhole: isWhole}, differences{isWhole: isWhole}
	ctx, end := context.WithCancelCause(ctx) // the first problem ends both
	defer end(nil)
	var both sync.WaitGroup
	both.Go(func() {
		if err := r.lookAtKnown(ctx, &known); err != nil {
			end(err)
		}
	})
	both.Go(func() {
		if err := r.lookForOthers(ctx, r.tree, "", &others); err != nil {
			end(err)
		}
	})
	both.Wait()
	known.changed = append(known.changed, others.changed...)
	return known, context.Cause(ctx)
}

func (r *Repository) lookAtKnown(ctx context.Context, d *differences) error {
	status := ""
	return r.tree.fields(ctx, func(field string) error {
		if status == "" {
			status = field
			return nil
		}
		isGone := status == "D"
		if status = ""; isGone { // perhaps because a link has replaced its folder
			d.removed = append(d.removed, field)
			return nil
		}
		info, err := os.Lstat(r.in(field))
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil, !isKept(info), r.isTooMuch(d, info):
			d.removed = append(d.removed, field)
			return nil
		}
		return r.add(d, field, info)
	}, "diff-files", "-z", "--name-status", "--no-renames")
}

// maxNested limits the new repositories below the project in one snapshot.
const maxNested = 200

// lookForOthers finds files that the index does not have, below the project or a repository in it. Of a nested
// repository, git reports only that it exists.
func (r *Repository) lookForOthers(ctx context.Context, within git, below string, d *differences) error {
	var nested []string
	err := within.fields(ctx, func(field string) error {
		path := below + field
		if strings.HasSuffix(path, "/") {
			nested = append(nested, path)
			return nil
		}
		info, err := os.Lstat(r.in(path))
		if err != nil || !isKept(info) || r.isTooMuch(d, info) {
			return nil
		}
		return r.add(d, path, info)
	}, "ls-files", "-z", "--others", "--exclude-standard")
	for _, path := range nested {
		if d.nested++; d.nested > maxNested {
			if !d.isWhole {
				break
			}
			return fmt.Errorf("%w: it contains more than %d repositories", errTooLarge, maxNested)
		}
		if err == nil && !r.isLeftOut(path) {
			inner := r.tree
			inner.tree, inner.index = r.in(path), r.path("none")
			err = r.lookForOthers(ctx, inner, path, d)
		}
	}
	return err
}

func (r *Repository) in(path string) string {
	return filepath.Join(r.project, filepath.FromSlash(path))
}

func isKept(info fs.FileInfo) bool { return info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 }

// isTooMuch reports whether a file is left out because the snapshot need not be whole.
func (r *Repository) isTooMuch(d *differences, info fs.FileInfo) bool {
	return !d.isWhole && (len(d.changed) >= r.limits.files || d.bytes+info.Size() > r.limits.bytes)
}

// add adds an existing file to the snapshot, if it belongs there.
func (r *Repository) add(d *differences, path string, info fs.FileInfo) error {
	if r.isLeftOut(path) || info.Mode().IsRegular() && !canRead(r.in(path), info) {
		return nil
	}
	d.changed = append(d.changed, path)
	if len(d.changed) > r.limits.files {
		return fmt.Errorf("%w: more than %d files are new: list generated files in .gitignore",
			errTooLarge, r.limits.files)
	}
	size := info.Size()
	if d.bytes += size; size > d.size {
		d.largest, d.size = path, size
	}
	if d.bytes > r.limits.bytes {
		return fmt.Errorf("%w: more than %d MB are new, %d MB of them in %s: list generated files in .gitignore",
			errTooLarge, r.limits.bytes>>20, d.size>>20, d.largest)
	}
	return nil
}

// Keeps reports whether the next snapshot will have these files of the project, or would if they existed.
func (r *Repository) Keeps(ctx context.Context, paths []string) bool {
	if len(paths) == 0 || slices.Contains(paths, ".") || slices.ContainsFunc(paths, r.isLeftOut) {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, patience) // git waits for ever at a pipe in the place of its rules
	defer stop()
	if r.tree.ignores(ctx, paths...) {
		return false
	}
	isIgnoredWithin := func(path string) bool { // by a nested repository with a list of its own
		for at := strings.LastIndex(path, "/"); at > 0; at = strings.LastIndex(path[:at], "/") {
			inner := r.tree
			inner.tree, inner.index = r.in(path[:at]), r.path("none")
			_, err := os.Stat(filepath.Join(inner.tree, ".git"))
			if !ownfile.IsMissing(err) && inner.ignores(ctx, path[at+1:]) {
				return true
			}
		}
		return false
	}
	return !slices.ContainsFunc(paths, isIgnoredWithin)
}

// ignores reports whether git ignores one of the paths, or cannot tell.
func (g git) ignores(ctx context.Context, paths ...string) bool {
	// After ./ git reads no pathspec magic, which check-ignore cannot switch off.
	in := "./" + strings.Join(paths, "\x00./")
	_, err := g.output(ctx, in, "--no-literal-pathspecs", "check-ignore", "-z", "--stdin")
	exit, ended := errors.AsType[*exec.ExitError](err)
	return !ended || exit.ExitCode() != 1 // 1: none is ignored
}

// Has reports whether a snapshot has all existing paths: git may ignore some since [Repository.Keeps].
func (r *Repository) Has(ctx context.Context, id ID, paths []string) bool {
	isLacking := func(path string) bool {
		info, err := os.Lstat(r.in(path))
		if ownfile.IsMissing(err) {
			return false
		}
		found, failed := r.store.output(ctx, "", "ls-tree", "-z", "--name-only", string(id), "--", path)
		return errors.Join(err, failed) != nil || !isKept(info) || found != path+"\x00"
	}
	return id.check() == nil && !slices.ContainsFunc(paths, isLacking)
}

func (r *Repository) isLeftOut(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(name, ".git") || strings.HasPrefix(name, ownPrefix) && r.isScratch(name) {
			return true
		}
	}
	return r.secret(r.in(path))
}

// isScratch reports whether a file of this name is one that an undo is writing, and not a command's.
func (r *Repository) isScratch(name string) bool {
	j, err := r.readJournal()
	return err == nil && j.Scratch == name
}

// canRead reports whether git can read a file. If it cannot, it fails for all of them.
func canRead(path string, info fs.FileInfo) bool {
	if info.Mode().Perm()&0o400 != 0 && ownfile.IsMine(info) {
		return true
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// inPack is the number of new files above which git writes them into one pack.
const inPack = 200

func (r *Repository) update(ctx context.Context, d differences) error {
	if len(d.removed) > 0 {
		var in strings.Builder
		for _, path := range d.removed {
			in.WriteString("0 " + noObject + "\t" + path + "\x00")
		}
		if _, err := r.tree.output(ctx, in.String(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(d.changed) == 0 {
		return nil
	}
	var args []string
	if len(d.changed) > inPack {
		args = []string{"-c", "core.bigFileThreshold=1"}
	}
	args = append(args, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	_, err := r.tree.output(ctx, strings.Join(d.changed, "\x00")+"\x00", args...)
	return err
}

// patience is how long a snapshot may take before nod looks for what blocks git, and the limit of [Repository.Keeps].
const patience = 2 * time.Second

// lookForPipes ends a snapshot that would block forever: git opens .gitignore and .gitattributes even if they are
// pipes.
func (r *Repository) lookForPipes(ctx context.Context, end context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(patience):
	}
	_ = filepath.WalkDir(r.project, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return filepath.SkipAll
		}
		if err != nil || entry.IsDir() || entry.Type()&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
			return nil
		}
		if name := entry.Name(); name == ".gitignore" || name == ".gitattributes" {
			end(fmt.Errorf("%s is not a plain file: remove it", path))
		}
		return nil
	})
}
