package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const mostEntries = 200_000

// errTooLarge is the error if a project has too many files to be surveyed in time.
var errTooLarge = fmt.Errorf("the project has more than %d files", mostEntries)

// places are the places in a project that a command must not change (Keep, Links) or see (Hide).
type places struct {
	Keep, Hide []string
	// Links are guarded places that are links, with their targets. Targets in the project are also in Keep.
	Links map[string]string
}

// Survey walks a project and finds the places to keep unchanged, and those to hide: secrets, special files such as
// sockets, and unreadable folders, which a command of the same user could open. It does not follow links. In folders
// with other people's code it does not look for guarded places and secrets by their names: libraries are full of them,
// and package managers replace them. But such a folder must not become a repository itself: editors look for these
// right below a project, and run what their configuration names.
//
// In every folder that git treats as a repository, hooks and configuration are guarded, too.
func Survey(
	project string, secret func(path string) bool, guarded func(path string, isLink bool) bool,
) (places, error) {
	s := survey{places: places{Links: map[string]string{}}, project: project, secret: secret, guarded: guarded}
	if err := s.walk(project, 0); err != nil {
		return places{}, fmt.Errorf("look through %s: %w", project, err)
	}
	for path := range s.Links {
		s.keepTarget(path)
	}
	return s.places, nil
}

// keepTarget keeps what a guarded link leads to, if that is in the project.
func (s *survey) keepTarget(link string) {
	if to, err := filepath.EvalSymlinks(link); err == nil && isBelow(to, s.project) && !slices.Contains(s.Keep, to) {
		s.Keep = append(s.Keep, to)
	}
}

type survey struct {
	places
	project string
	secret  func(path string) bool
	guarded func(path string, isLink bool) bool
	entries int

	opened *os.Root // set after a command has run: folders that it made unreadable are opened again
	failed error    // of what could not be read then
}

// Properties of the folder being walked.
const (
	isKept    = 1 << iota // the command cannot change it
	isForeign             // it holds other people's code
)

// foreign are folders that tools fill with other people's code.
var foreign = []string{"node_modules", "vendor", "target", ".venv", "venv", "site-packages", ".tox", "Pods", "deps"}

// contents are the folders of a repository whose file names mean nothing: hashes and the like.
var contents = []string{"objects", "refs", "logs", "lfs"}

func (s *survey) walk(dir string, is int) error {
	entries, err := s.read(dir)
	if err != nil {
		return err
	}
	if s.entries += len(entries); s.entries > mostEntries && s.opened == nil {
		return errTooLarge
	}
	isRepository := isRepository(entries) && !strings.Contains(dir+"/", "/.git/")
	isTop := slices.Contains(foreign, filepath.Base(dir))
	for _, entry := range entries {
		path, kind, in := filepath.Join(dir, entry.Name()), entry.Type(), is
		isLink := kind&fs.ModeSymlink != 0
		switch {
		case !kind.IsRegular() && !kind.IsDir() && !isLink:
			s.Hide = append(s.Hide, path)
			continue
		case isLink && in&isKept != 0 && s.opened == nil:
			s.keepTarget(path)
		case in&isKept == 0 && (in&isForeign == 0 || isTop && (isRepository || entry.Name() == ".git")) &&
			(s.guarded(path, isLink) || isRepository && slices.Contains(obeyedNames, entry.Name())):
			in |= isKept
			if !isLink {
				s.Keep = append(s.Keep, path)
			} else if s.Links[path], err = os.Readlink(path); err != nil {
				return err
			}
		}
		if in&isForeign == 0 && !isLink && s.secret(path) {
			s.Hide = append(s.Hide, path)
			continue
		}
		if !kind.IsDir() || strings.HasSuffix(dir, "/.git") && slices.Contains(contents, entry.Name()) {
			continue
		}
		if slices.Contains(foreign, entry.Name()) {
			in |= isForeign
		}
		if err := s.walk(path, in); err != nil {
			return err
		}
	}
	return nil
}

// obeyedNames are the entries of a repository's folder that git obeys. Those of obeyedFolders are folders; remotes and
// branches say where git push sends what.
var (
	obeyedNames   = []string{"hooks", "config", "config.worktree", "commondir", "remotes", "branches"}
	obeyedFolders = []string{"hooks", "info", "remotes", "branches"}
)

// isRepository reports whether git treats a folder not named .git as a repository.
func isRepository(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == name })
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// read reads a folder, which may be gone. One that cannot be read is hidden, or opened.
func (s *survey) read(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) && s.opened != nil {
		name, _ := filepath.Rel(s.project, dir)
		_ = s.opened.Chmod(name, 0o700)
		entries, err = os.ReadDir(dir)
	}
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return entries, nil
	case s.opened != nil: // go on with the rest
		s.failed = errors.Join(s.failed, err)
		return entries, nil
	case errors.Is(err, fs.ErrPermission) && dir != s.project:
		s.Hide = append(s.Hide, dir)
		return nil, nil
	}
	return nil, err
}

// IsAbsent reports whether a path has nothing, or an empty folder: perhaps that of another run, which covers it.
func IsAbsent(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil { // perhaps because nod can open nothing
		_, err = os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0
}

// Repository returns what must not change in a repository that git may write to, for a profile instead of its .git:
// hooks, configuration and attributes, which git obeys. It fails if part of the repository is outside the project.
func Repository(project string) (keep, absent []string, err error) {
	git := filepath.Join(project, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("find the repository: %w", err)
	case !info.IsDir():
		return nil, nil, fmt.Errorf("the repository of %s is elsewhere", project)
	}
	if err := obeyed(git, &keep, &absent); err != nil {
		return nil, nil, fmt.Errorf("look through %s: %w", git, err)
	}
	return keep, absent, nil
}

// obeyed adds what git obeys in a repository's folder and in those of its submodules.
func obeyed(git string, keep, absent *[]string) error {
	for _, name := range append(slices.Clone(obeyedNames), "info") {
		path := filepath.Join(git, name)
		switch _, err := os.Lstat(path); {
		case slices.Contains(obeyedFolders, name) && IsAbsent(path):
			*absent = append(*absent, path)
		case !errors.Is(err, fs.ErrNotExist):
			*keep = append(*keep, path)
		}
	}
	isOne := func(folder string) bool { // a command could have taken its HEAD away, but not what is kept
		return slices.ContainsFunc([]string{"HEAD", "config", "commondir"}, func(name string) bool {
			_, err := os.Lstat(filepath.Join(folder, name))
			return err == nil
		})
	}
	for _, name := range []string{"modules", "worktrees"} {
		err := filepath.WalkDir(filepath.Join(git, name), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() || !isOne(path) {
				return err
			}
			if err := obeyed(path, keep, absent); err != nil {
				return err
			}
			return fs.SkipDir
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// KeepPath keeps a folder of PATH unchanged if it is in the project, and the links there that lead to it: the user runs
// its programs outside. If it is missing, it must not be created.
func (p *Profile) KeepPath(folder string) {
	if p.Links == nil {
		p.Links = map[string]string{}
	}
	real := follow(folder, func(at, to string) {
		if isBelow(at, p.Project) {
			p.Links[at] = to
		}
	})
	if !isBelow(real, p.Project) {
		return
	}
	p.Path = append(p.Path, real)
	if _, err := os.Lstat(real); err == nil {
		p.Keep = append(p.Keep, real)
	}
}

// isOnPath reports whether a path is a folder of PATH, or a link that leads to one: a known link, or a new one that
// replaces a folder above.
func (p *Profile) isOnPath(path string) bool {
	if _, ok := p.Links[path]; ok || slices.Contains(p.Path, path) {
		return true
	}
	if !slices.ContainsFunc(p.Path, func(folder string) bool { return isBelow(folder, path) }) {
		return false
	}
	_, err := os.Readlink(path)
	return err == nil
}

// follow returns where a path leads, even if nothing exists there, and calls link for each link on the way.
func follow(path string, link func(at, to string)) string {
	done, rest := "/", strings.Split(strings.Trim(path, "/"), "/")
	for steps := 0; len(rest) > 0; steps++ {
		next := filepath.Join(done, rest[0])
		to, err := os.Readlink(next)
		if err != nil || steps > 40 {
			done, rest = next, rest[1:]
			continue
		}
		link(next, to)
		if filepath.IsAbs(to) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(to, "/"), "/"), rest[1:]...)
	}
	return done
}
