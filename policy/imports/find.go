package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find opens the files that an agent reads when it works in a folder. Both folders are absolute.
func (s *Source) Find(home, folder string) ([]File, error) {
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
	if err := errors.Join(add(home, s.Home), add(folder, s.Project)); err != nil {
		return nil, err
	}
	return s.Open(paths, home)
}

// Open reads files. One that is not in the agent's folder below home is taken for a project's, so that what
// it allows holds in that project only.
func (s *Source) Open(paths []string, home string) ([]File, error) {
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
		files = append(files, File{Path: path, Project: s.projectOf(abs, home), Text: text})
	}
	return files, nil
}

// projectOf is the folder that holds the agent's folder, or the file; nothing when that is the home folder. Local
// settings are a project's even there.
func (s *Source) projectOf(path, home string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) != s.Folder {
			continue
		}
		if parent := filepath.Dir(dir); parent != filepath.Clean(home) || filepath.Base(path) == "settings.local.json" {
			return parent
		}
		return ""
	}
	return filepath.Dir(path)
}
