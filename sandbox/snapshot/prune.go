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
	"time"

	"nod/ownfile"
)

// grace is how long a snapshot without a run is kept: its run may not be over.
const grace = 24 * time.Hour

const maxLoose = 2000

// prune deletes runs and their snapshots: those older than a duration, and then the oldest until the rest takes at most
// maxSize bytes. The newest snapshot always stays. Snapshots of runs that are not noted yet stay as long, or only a day
// if there is too much.
func (r *Repository) prune(ctx context.Context, olderThan time.Duration, maxSize int64) error {
	all, err := r.noted()
	if err = errors.Join(err, r.tidy(), r.mend(ctx)); err != nil {
		return err
	}
	runs := slices.DeleteFunc(slices.Clone(all), func(run Run) bool { return run.After == run.Before }) // changed nothing
	for len(runs) > 0 && time.Since(runs[0].Time) > olderThan {
		runs = runs[1:]
	}
	for {
		if len(runs) < len(all) {
			if err := r.keep(runs); err != nil {
				return err
			}
		}
		dropped, err := r.drop(runs, olderThan)
		if err != nil {
			return err
		}
		size, loose, err := r.size()
		if err != nil {
			return err
		}
		if dropped || loose > maxLoose {
			if err := r.compact(ctx); err != nil {
				return err
			}
			if size, _, err = r.size(); err != nil {
				return err
			}
		}
		if size <= maxSize || (len(runs) == 0 && olderThan <= grace) {
			return nil
		}
		runs, olderThan = runs[(len(runs)+1)/2:], min(olderThan, grace)
	}
}

// drop removes the references to snapshots that no run needs, nor one that may be under way.
func (r *Repository) drop(runs []Run, olderThan time.Duration) (dropped bool, err error) {
	last, _ := os.ReadFile(r.path("last")) // unlike r.last, this does not mark it as used
	needed := map[string]bool{string(last): true}
	for _, run := range runs {
		needed[string(run.Before)], needed[string(run.After)] = true, true
	}
	if j, err := r.readJournal(); err == nil {
		needed[string(j.Before)], needed[string(j.Run.Before)], needed[string(j.Run.After)] = true, true, true
	}
	entries, err := os.ReadDir(r.refs())
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return dropped, err
		}
		if info.Size() == 0 { // nod was killed before it wrote it: git packs nothing beside such a one
			if err := os.WriteFile(r.ref(ID(entry.Name())), []byte(entry.Name()+"\n"), 0o600); err != nil {
				return dropped, err
			}
		}
		if needed[entry.Name()] || time.Since(info.ModTime()) <= olderThan {
			continue
		}
		if err := os.Remove(filepath.Join(r.refs(), entry.Name())); err != nil {
			return dropped, err
		}
		dropped = true
	}
	return dropped, nil
}

// mend removes the objects that a power failure left empty, which git believes it has, and the references to snapshots
// that lack one, beside which it packs nothing. The next snapshot reads all files again.
func (r *Repository) mend(ctx context.Context) error {
	isWhole := true
	err := filepath.WalkDir(r.path("objects"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Size() > 0 {
			return err
		}
		isWhole = false
		return os.Remove(path)
	})
	if err != nil || isWhole {
		return err
	}
	refs, err := os.ReadDir(r.refs())
	for _, ref := range refs {
		_, failed := r.store.output(ctx, "", "rev-list", "--objects", "--quiet", ref.Name())
		if exit, ended := errors.AsType[*exec.ExitError](failed); ended && exit.ExitCode() > 0 {
			err = errors.Join(err, os.Remove(r.ref(ID(ref.Name()))))
		}
	}
	return errors.Join(err, r.forget())
}

// compact removes what no reference leads to, and packs the rest into one file.
func (r *Repository) compact(ctx context.Context) error {
	_, err := r.store.output(ctx, "", "repack", "-a", "-d", "-q", "-n")
	if err == nil {
		_, err = r.store.output(ctx, "", "prune", "--expire=now")
	}
	return err
}

// size returns the bytes that the contents of all snapshots take, and the number of files with a single content each.
func (r *Repository) size() (bytes int64, loose int, err error) {
	err = filepath.WalkDir(r.path("objects"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if bytes += info.Size(); !strings.Contains(path, string(filepath.Separator)+"pack"+string(filepath.Separator)) {
			loose++
		}
		return nil
	})
	return bytes, loose, err
}

// PruneAll is [Repository.prune] for all repositories below a folder. It also removes repositories of projects that are
// gone, once everything in them is old enough.
func PruneAll(ctx context.Context, folder string, olderThan time.Duration, maxSize int64) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	program, problem := findGit()
	if err = errors.Join(err, problem); err != nil {
		return fmt.Errorf("remove old snapshots: %w", err)
	}
	for _, entry := range entries {
		r := &Repository{folder: filepath.Join(folder, entry.Name())}
		text, err := ownfile.Read(r.path("project"))
		if err != nil {
			continue // it is not nod's, or just being created
		}
		r.project = strings.TrimSuffix(string(text), "\n")
		r.store = git{program: program, folder: r.folder}
		err = r.locked(ctx, func() error { return r.prune(ctx, olderThan, maxSize) })
		if err = errors.Join(err, r.removeIfGone(olderThan)); err != nil {
			problem = errors.Join(problem, fmt.Errorf("remove old snapshots of %s: %w", r.project, err))
		}
	}
	return problem
}

func (r *Repository) removeIfGone(olderThan time.Duration) error {
	if _, err := os.Lstat(r.project); !ownfile.IsMissing(err) {
		return nil
	}
	refs, err := os.ReadDir(r.refs())
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if info, err := ref.Info(); err != nil || time.Since(info.ModTime()) <= olderThan {
			return err
		}
	}
	return os.RemoveAll(r.folder)
}
