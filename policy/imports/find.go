package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nod/ownfile"
)

// maxFile limits a file with rules, in bytes.
const maxFile = 4 << 20

// Find opens the permission files that an agent reads when it works in a folder. own is the agent's folder; both are
// absolute.
func (s *Source) Find(own, folder string) ([]File, error) {
	paths, err := s.Paths(own, folder)
	if err != nil {
		return nil, err
	}
	return s.Open(paths, own)
}

// Paths names the files that [Source.Find] opens.
func (s *Source) Paths(own, folder string) (paths []string, err error) {
	add := func(base string, globs []string) error {
		for _, glob := range globs {
			found, err := fs.Glob(os.DirFS(base), glob)
			if err != nil {
				return fmt.Errorf("look for %s: %w", glob, err)
			}
			for _, name := range found {
				if path := filepath.Join(base, filepath.FromSlash(name)); !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
		return nil
	}
	err = errors.Join(add(own, s.Own), add(folder, s.Project))
	return paths, err
}

// Open reads files. A file outside the agent's folder counts as a project's: its allows hold in that project only.
func (s *Source) Open(paths []string, own string) ([]File, error) {
	var files []File
	for _, path := range paths {
		text, err := ownfile.ReadBehind(path, maxFile)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path, Project: s.projectOf(abs, own), Text: text})
	}
	return files, nil
}

// projectOf is the parent of the agent's folder, or of the file; "" for the agent's own folder, except for local
// settings.
func (s *Source) projectOf(path, own string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		switch {
		case dir == filepath.Clean(own) && filepath.Base(path) != "settings.local.json":
			return ""
		case dir == filepath.Clean(own), filepath.Base(dir) == s.Folder:
			return filepath.Dir(dir)
		}
	}
	return filepath.Dir(path)
}
