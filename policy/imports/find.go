package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find opens the files that an agent reads when it works in a folder. Own is the agent's own; both are absolute.
func (s *Source) Find(own, folder string) ([]File, error) {
	var paths []string
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
	if err := errors.Join(add(own, s.Own), add(folder, s.Project)); err != nil {
		return nil, err
	}
	return s.Open(paths, own)
}

// Open reads files. One that is not in the agent's own folder is taken for a project's, so that what it allows holds in
// that project only.
func (s *Source) Open(paths []string, own string) ([]File, error) {
	var files []File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path, Project: s.projectOf(abs, own), Text: text})
	}
	return files, nil
}

// projectOf is the folder that holds the agent's folder, or the file; nothing when that folder is the agent's own.
// Local settings are a project's even there.
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
