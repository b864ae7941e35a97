package shell_test

import (
	"os"
	"path/filepath"
	"strings"

	"nod/policy/shell"
)

// reach is what a command was said to read, in the world as it is: paths without links.
type reach struct {
	files, trees []string
	only         map[string][]string // of a tree: the patterns of the names that are read
	odd          string              // a path that is no plain file or folder
}

// readReach resolves what an analysis says. Devices, FIFOs and the system's own files are noted as odd: whoever asks
// for an analysis looks at the file system for them, the analysis does not.
func readReach(accesses []shell.Access) reach {
	out := reach{only: map[string][]string{}}
	for _, access := range accesses {
		for _, path := range expand(access.Path) {
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				continue
			}
			info, err := os.Stat(real)
			if err != nil {
				continue
			}
			switch {
			case !info.Mode().IsRegular() && !info.IsDir() && real != "/dev/null",
				strings.HasPrefix(real, "/proc/") && strings.HasPrefix(path, worldRoot):
				out.odd = path
			case access.Kind == shell.Read:
				out.files = append(out.files, real)
			case access.Kind == shell.Tree:
				if access.Past && strings.HasPrefix(real, project+"/") { // git shows all of the repository
					real = project
				}
				out.trees = append(out.trees, real)
				out.only[real] = access.Only
			}
		}
	}
	return out
}

// expand makes the paths that a path of an analysis stands for, as a shell does it.
func expand(path string) []string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = home + path[1:]
	case !strings.HasPrefix(path, "/"):
		path = project + "/" + path
	}
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}
	}
	matches, _ := filepath.Glob(strings.ReplaceAll(strings.TrimRight(path, "/"), "[!", "[^"))
	out := []string{path}
	for _, match := range matches {
		if !hidden(path, match) {
			out = append(out, match)
		}
	}
	return out
}

// hidden reports whether a match has a name with a leading dot where the pattern has none.
func hidden(pattern, match string) bool {
	parts := strings.Split(filepath.Clean(match), "/")
	for i, part := range strings.Split(filepath.Clean(pattern), "/") {
		if i < len(parts) && strings.HasPrefix(parts[i], ".") && !strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// covers reports whether a file is among what is read.
func (r reach) covers(path string) bool {
	for _, file := range r.files {
		if file == path {
			return true
		}
	}
	for _, tree := range r.trees {
		if (path == tree || strings.HasPrefix(path, strings.TrimSuffix(tree, "/")+"/")) && named(r.only[tree], path) {
			return true
		}
	}
	return false
}

// named reports whether a pattern means a file, in letters of either case.
func named(only []string, path string) bool {
	for _, pattern := range only {
		name := strings.ToLower(filepath.Base(path))
		if ok, err := filepath.Match(strings.ToLower(pattern), name); ok && err == nil {
			return true
		}
	}
	return len(only) == 0
}
