package policy

import (
	"os"
	"path/filepath"
	"strings"

	"nod/ownfile"
	"nod/policy/shell"
)

const (
	maxPath  = 4096 // bytes; PATH_MAX of Linux, more than other systems take
	maxLinks = 40   // symbolic links followed for one path, as Linux does
)

type place struct {
	clean    string // absolute, with "..", "." and "//" resolved in the text alone; slashes forward
	real     string // where it leads, following symbolic links before ".."; empty when lost or relative
	lost     bool   // where the path leads is unknown, or depends on the process that opens it
	relative bool   // relative to a folder that the caller did not name: only the text is known
}

// locate works out where a path of a call's input leads. A path need not exist: the links of its deepest
// existing folder are followed.
func locate(path, cwd, home string) place {
	abs, ok := absolute(path, cwd, home)
	if start, _, _ := strings.Cut(path, "/"); filepath.IsAbs(cwd) && (start == "~" || start == "file:") {
		_, err := isLink(filepath.Join(cwd, start)) // to some agents the path leads to a file of that name
		ok = ok && ownfile.IsMissing(err)
	}
	clean := filepath.ToSlash(filepath.Clean(abs))
	switch {
	case !ok:
		return place{clean: clean, lost: true}
	case !filepath.IsAbs(abs):
		return place{clean: clean, relative: true}
	}
	real, ok := resolve(abs)
	if !ok {
		return place{clean: clean, lost: true}
	}
	p := place{clean: clean, real: filepath.ToSlash(real)}
	if strings.Contains(abs, "..") { // agents resolve it in the text before they follow links, unlike the system
		other, ok := resolve(filepath.Clean(abs))
		p.lost = !ok || other != real
	}
	return p
}

// absolute prepends the folder to a relative path, if there is a folder, and replaces "~" by the home folder. It does
// not clean the path: what ".." means depends on links. It fails if the text is not a path.
func absolute(path, cwd, home string) (string, bool) {
	path, isURL := strings.CutPrefix(path, "file://")
	isOdd := isURL && (strings.ContainsAny(path, "%?#") || !filepath.IsAbs(path)) ||
		len(path) > 5 && strings.EqualFold(path[:5], "file:")
	switch {
	case isOdd, len(path) > maxPath, strings.IndexByte(path, 0) >= 0:
		return path, false
	case path == "~" || strings.HasPrefix(path, "~/"):
		return home + path[1:], filepath.IsAbs(home)
	case strings.HasPrefix(path, "~"): // another user's home, or no home
		return path, false
	case filepath.IsAbs(path), !filepath.IsAbs(cwd):
		return path, true
	}
	return cwd + string(filepath.Separator) + path, true
}

// resolve follows the symbolic links of an absolute path, up to the first part that does not exist. It fails on loops,
// on places that mean something else in each process, and on parts that it cannot look at; then it returns the path as
// far as it got, with the rest.
func resolve(path string) (string, bool) {
	if strings.Contains(path, "..") { // what ".." means depends on links
		return walk(path)
	}
	clean := filepath.Clean(path)
	if !hasNoLinks(clean) {
		return walk(clean)
	}
	return clean, !isMagic(clean)
}

// hasNoLinks checks a clean path's folders without allocating, because usually none of those that exist is a link.
func hasNoLinks(clean string) bool {
	for i := len(filepath.VolumeName(clean)) + 1; i <= len(clean); i++ {
		if i < len(clean) && !os.IsPathSeparator(clean[i]) {
			continue
		}
		link, err := isLink(clean[:i])
		if err != nil || link {
			return ownfile.IsMissing(err)
		}
	}
	return true
}

func walk(path string) (string, bool) {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	done, rest := root, filepath.ToSlash(path[len(root)-1:])
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, link, ok := follow(next)
		if !ok || isMagic(next) {
			return filepath.Join(next, filepath.FromSlash(rest)), false
		}
		if !link {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		if filepath.IsAbs(target) {
			root = filepath.VolumeName(target) + string(filepath.Separator)
			done, target = root, target[len(root)-1:]
		}
		rest = filepath.ToSlash(target) + "/" + rest
	}
	return done, true
}

// follow reads a link. A missing file is not a link; ok is false for a link that cannot be read.
func follow(path string) (target string, link, ok bool) {
	link, err := isLink(path)
	if err != nil || !link {
		return "", false, err == nil || ownfile.IsMissing(err)
	}
	target, err = os.Readlink(path)
	return target, true, err == nil
}

// isMagic reports whether a path leads elsewhere depending on the process that opens it, such as /proc/self/cwd.
func isMagic(path string) bool {
	return isWithin(path, "/proc") && shell.Special(path) || isWithin(path, "/dev/fd") ||
		path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr"
}

// isWithin reports whether path is folder or something in it, going by whole names: src-evil is not in src.
func isWithin(path, folder string) bool {
	return len(path) >= len(folder) && path[:len(folder)] == folder &&
		(len(path) == len(folder) || strings.HasSuffix(folder, "/") || path[len(folder)] == '/')
}
