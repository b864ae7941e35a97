package programs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
)

// Lasting returns the path by which the hooks of agents call the nod command at program. For an installed nod that is
// the path that a user calls, without following links, because a link stays when its target is replaced. Of any other
// nod, in a checkout or an unpacked archive, nod keeps a copy: then copied is true, and [Keep] makes the copy.
func Lasting(program string) (path string, copied bool) {
	if path, ok := thisMachine().lasting(program); ok {
		return path, false
	}
	return Kept(), true
}

// Lasts reports whether a program is at a path where it can be expected to stay.
func Lasts(program string) bool {
	m := thisMachine()
	return IsKept(program) || m.lasts(program) && (m.inPath(program) || isInstalled(program))
}

// machine says in which folders programs do not stay.
type machine struct {
	path    []string // the folders of PATH
	passing []string // folders that are emptied now and then
}

func thisMachine() machine {
	m := machine{
		path:    filepath.SplitList(os.Getenv("PATH")),
		passing: []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", xdg.CacheHome, xdg.RuntimeDir},
	}
	if downloads := xdg.UserDirs.Download; downloads != xdg.Home { // as who has no such folder says
		m.passing = append(m.passing, downloads)
	}
	return m
}

func (m machine) lasting(program string) (string, bool) {
	for _, dir := range m.path {
		link := filepath.Join(dir, filepath.Base(program))
		if filepath.IsAbs(dir) && IsSame(link, program) && m.lasts(link) {
			return link, true
		}
	}
	return program, isInstalled(program) && m.lasts(program)
}

func isInstalled(program string) bool { return filepath.Base(filepath.Dir(program)) == "bin" }

func (m machine) inPath(program string) bool { return slices.Contains(m.path, filepath.Dir(program)) }

// lasts reports whether neither a program nor the target of its link is in a folder that does not stay.
func (m machine) lasts(program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil || isVersioned(folder) {
		return false
	}
	return !m.isPassing(folder) && !m.isPassing(filepath.Dir(real))
}

// isVersioned reports whether the next version of a program will have another folder, so that only links to it last.
func isVersioned(folder string) bool {
	folder = filepath.ToSlash(folder) + "/"
	return slices.ContainsFunc([]string{"/nix/store/", "/gnu/store/", "/Cellar/"}, func(store string) bool {
		return strings.Contains(folder, store)
	})
}

// isPassing reports whether a folder, with links resolved, is part of a checkout or an unpacked archive, or is a
// temporary folder.
func (m machine) isPassing(folder string) bool {
	for _, root := range m.passing {
		if real, err := filepath.EvalSymlinks(root); root != "" && err == nil && isBelow(folder, real) {
			return true
		}
	}
	if exists(filepath.Join(folder, "install.sh")) || exists(filepath.Join(filepath.Dir(folder), "install.sh")) {
		return true
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "go.mod")) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func isBelow(path, root string) bool {
	rest, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rest)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
