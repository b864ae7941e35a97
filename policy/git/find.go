package git

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"nod/ownfile"
)

// place is a repository. Its paths have their links resolved.
type place struct {
	found  bool
	top    string // the work tree; empty for a bare repository
	dir    string // the repository itself: .git, or where a .git file leads
	common string // the folder that linked work trees share; dir for the main one
}

func (p *place) isLinked() bool { return p.common != p.dir }

// base returns the folder in which git runs.
func (p *place) base() string {
	return cmp.Or(p.top, p.dir)
}

const (
	maxPointer = 64 << 10 // bytes in a .git file, which holds one path
	maxLevels  = 1000     // folders on the way up
)

// find looks for a repository in folder and above, as git does (setup_git_directory_gently_1 in setup.c): at each
// level first .git, then the folder itself.
func find(folder string) (p place, problem string) {
	level, err := filepath.EvalSymlinks(folder)
	if err != nil || !filepath.IsAbs(level) {
		return p, "nod can't tell which folder " + show(folder) + " is."
	}
	start, foreign := uint64(0), false
	for range maxLevels {
		info, err := os.Stat(level)
		if err != nil {
			return p, "The folder " + show(level) + " cannot be read."
		}
		if start == 0 {
			start = device(info)
		}
		foreign = foreign || device(info) != start
		p, problem = at(level)
		if p.found && foreign {
			return p, "The repository in " + show(level) + " is on another file system, so git may not find it."
		}
		above := filepath.Dir(level)
		if p.found || problem != "" || above == level {
			return p, problem
		}
		level = above
	}
	return p, "The folder " + show(folder) + " is too deep."
}

// at returns the repository that git finds in one folder.
func at(folder string) (p place, problem string) {
	dotGit := join(strings.TrimSuffix(folder, "/"), ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err == nil && info.Mode().IsRegular():
		if dir, ok := pointer(dotGit, "gitdir: "); ok {
			p, problem = enter(join(folder, dir), folder)
		}
		if !p.found && problem == "" {
			problem = "The file " + show(dotGit) + " does not lead to a repository."
		}
		return p, problem
	case err == nil:
		if p, problem = enter(dotGit, folder); p.found || problem != "" {
			return p, problem
		}
	case !ownfile.IsMissing(err):
		return p, "The file " + show(dotGit) + " cannot be read."
	}
	return enter(folder, "")
}

// pointer reads the path in a .git or commondir file.
func pointer(file, prefix string) (path string, ok bool) {
	data, err := ownfile.ReadBehind(file, maxPointer)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	path, ok = strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	return path, ok && path != ""
}

// enter returns the repository in a folder, which is one if it contains HEAD, objects and refs (is_git_directory in
// setup.c). top is its work tree, or empty.
func enter(dir, top string) (p place, problem string) {
	if is, problem := isHead(join(dir, "HEAD")); !is {
		return p, problem
	}
	p = place{top: top, dir: dir, common: dir}
	commonDir := join(dir, "commondir")
	if _, err := os.Lstat(commonDir); !ownfile.IsMissing(err) {
		common, ok := pointer(commonDir, "")
		if !ok {
			return place{}, "The file " + show(commonDir) + " does not lead to a repository."
		}
		p.common = join(dir, common)
	}
	err := cmp.Or(pass(join(p.common, "objects")), pass(join(p.common, "refs")))
	switch {
	case ownfile.SaysNothing(err):
		return place{}, "The folder " + show(dir) + " cannot be read."
	case err != nil:
		return place{}, ""
	}
	p.found = true
	return p, p.resolve()
}

// resolve replaces the paths by those that their links lead to.
func (p *place) resolve() (problem string) {
	dir, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return "The folder " + show(p.dir) + " cannot be read."
	}
	common := dir
	if p.isLinked() {
		if common, err = filepath.EvalSymlinks(p.common); err != nil {
			return "The folder " + show(p.common) + " cannot be read."
		}
	}
	p.dir, p.common = dir, common
	return ""
}

// isHead accepts what git accepts as HEAD (validate_headref in refs.c): a link into refs/, "ref: refs/…" or an
// object's name.
func isHead(path string) (is bool, problem string) {
	target, err := os.Readlink(path)
	switch {
	case err == nil:
		return strings.HasPrefix(target, "refs/"), ""
	case ownfile.IsMissing(err):
		return false, ""
	}
	data, err := ownfile.ReadBehind(path, maxPointer)
	if err != nil {
		return false, "The file " + show(path) + " cannot be read."
	}
	if ref, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(ref, " \t\r\n"), []byte("refs/")), ""
	}
	const shortest = 40 // hexadecimal digits of SHA-1
	if len(data) < shortest {
		return false, ""
	}
	_, err = hex.Decode(make([]byte, shortest/2), data[:shortest])
	return err == nil, ""
}
