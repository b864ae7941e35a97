package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Expel moves the guarded places that appeared in a project while a profile's command ran into a new folder of Private,
// and returns their paths below the project. It restores the guarded links that the command replaced.
//
// The command may have left anything there: an error with one place does not keep the others from being moved.
func Expel(p *Profile, guarded func(path string, isLink bool) bool) (moved []string, err error) {
	root, err := os.OpenRoot(p.Project)
	if err != nil {
		return nil, fmt.Errorf("move protected files out of a project: %w", err)
	}
	defer root.Close()
	found, err := strays(p, root, guarded)
	if len(found) > 0 {
		to, left := filepath.Join(p.Private, "expelled", rand.Text()), int64(maxExpelled)
		for _, path := range found {
			name := strings.TrimPrefix(path, p.Project+"/")
			if failed := take(root, name, filepath.Join(to, name), &left); failed != nil {
				err = errors.Join(err, fmt.Errorf("move %s out of a project: %w", name, failed))
			}
			moved = append(moved, name)
		}
	}
	for path, target := range p.Links {
		if p.isOther(path) {
			continue
		}
		_ = root.Symlink(target, strings.TrimPrefix(path, p.Project+"/")) // fails if it exists
	}
	return moved, err
}

// strays returns the guarded places of a project that are not in the profile.
func strays(p *Profile, root *os.Root, guarded func(string, bool) bool) ([]string, error) {
	s := survey{
		places: places{Links: map[string]string{}}, project: p.Project, opened: root,
		secret:  func(string) bool { return false },
		guarded: func(path string, isLink bool) bool { return guarded(path, isLink) || p.isOnPath(path) },
	}
	err := s.walk(p.Project, 0)
	for _, path := range s.Hide { // a program that reads a pipe waits, or gets another program's text
		if s.guarded(path, false) {
			s.Keep = append(s.Keep, path)
		}
	}
	for path, target := range s.Links {
		if was, ok := p.Links[path]; !ok || was != target || p.isOther(path) {
			s.Keep = append(s.Keep, path)
		}
	}
	known := slices.Concat(p.Keep, p.Absent, p.Hide)
	known = slices.DeleteFunc(known, p.isOther)
	found := slices.DeleteFunc(s.Keep, func(path string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return IsIn(path, k) || IsIn(k, path) }) // was there before
	})
	var keep, absent []string
	git := filepath.Join(p.Project, ".git")
	isIn := func(path string) bool { return isBelow(path, git) }
	if !slices.Contains(known, git) && slices.ContainsFunc(known, isIn) { // git wrote to it
		err = errors.Join(err, obeyed(git, &keep, &absent))
	}
	for _, path := range keep { // these lead git to another configuration, or are that of a new submodule
		name, isTop := filepath.Base(path), filepath.Dir(path) == git
		if isNew := !slices.ContainsFunc(known, func(k string) bool { return IsIn(path, k) }); isNew &&
			(name == "commondir" || name == "config.worktree" || !isTop && slices.Contains(obeyedNames, name)) {
			found = append(found, path)
		}
	}
	slices.Sort(found)
	return found, errors.Join(err, s.failed)
}

// Distrust notes the places that p treats as the user's but that appeared after other was made, whose command still
// runs: the user or that command created them. [Expel] moves away those that have changed by the end.
func (p *Profile) Distrust(other *Profile) {
	known := slices.Concat(other.Keep, other.Absent, other.Hide)
	isKnown := func(path string) bool {
		target, isLink := p.Links[path]
		was, wasLink := other.Links[path]
		return isLink && wasLink && was == target ||
			slices.ContainsFunc(known, func(k string) bool { return IsIn(path, k) || IsIn(k, path) })
	}
	for _, path := range slices.Concat(p.Keep, p.Hide, slices.Collect(maps.Keys(p.Links))) {
		if !isKnown(path) {
			if p.New == nil {
				p.New = map[string]string{}
			}
			p.New[path] = mark(path)
		}
	}
}

func (p *Profile) isOther(path string) bool {
	was, isNew := p.New[path]
	return isNew && mark(path) != was
}

// take copies a file or folder out of the project and removes it. It first renames it in place, so that nothing obeys
// it even if the rest fails. It does not move it by path: code that still runs in the project could turn a parent
// folder into a link, which os.Root does not follow. left is how many bytes may still be copied.
func take(root *os.Root, name, to string, left *int64) error {
	folder := filepath.Dir(name)
	aside := filepath.Join(folder, ".expelled-"+rand.Text())
	err := root.Rename(name, aside)
	if errors.Is(err, fs.ErrPermission) && root.Chmod(folder, 0o700) == nil {
		err = root.Rename(name, aside)
	}
	if err != nil {
		return err
	}
	if err := copyOut(root, aside, to, 0, left); err != nil { // it may be the user's: it stays aside
		return fmt.Errorf("it is now %s: %w", aside, err)
	}
	return root.RemoveAll(aside)
}

// Limits of what is copied. Settings are small, and a sparse file may claim a terabyte.
const (
	maxDepth    = 50
	maxExpelled = 64 << 20 // bytes in all
)

func copyOut(root *os.Root, name, to string, depth int, left *int64) error {
	info, err := root.Lstat(name)
	if err != nil || depth > maxDepth {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	switch kind := info.Mode().Type(); {
	case kind.IsDir():
		_ = root.Chmod(name, 0o700)
		entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(name))
		for _, entry := range entries {
			below := filepath.Join(name, entry.Name())
			err = errors.Join(err, copyOut(root, below, filepath.Join(to, entry.Name()), depth+1, left))
		}
		return errors.Join(err, os.MkdirAll(to, 0o700))
	case kind&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case kind.IsRegular():
		_ = root.Chmod(name, 0o600)
		return copyFile(root, name, to, left)
	}
	return nil
}

func copyFile(root *os.Root, name, to string, left *int64) error {
	from, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(from, *left))
	*left -= n
	return errors.Join(err, file.Close())
}
