package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// usual are the places of an agent's files, below the home folder and below a project.
var usual = map[string]struct{ home, project []string }{
	"claude-code": {[]string{".claude/settings.json"}, []string{".claude/settings.json", ".claude/settings.local.json"}},
	"codex":       {[]string{".codex/rules/*.rules"}, []string{".codex/rules/*.rules"}},
	"gemini-cli":  {[]string{".gemini/policies/*.toml"}, nil}, // Gemini CLI does not heed those of a project
}

// Find opens the files that an agent reads when it works in a folder. Both folders are absolute.
func Find(agent, home, folder string) ([]File, error) {
	places := usual[agent]
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
	if err := errors.Join(add(home, places.home), add(folder, places.project)); err != nil {
		return nil, err
	}
	return Open(paths, home)
}

// Open reads files. One that is not in the agent's folder below home is taken for a project's, so that what
// it allows holds in that project only.
func Open(paths []string, home string) ([]File, error) {
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
		files = append(files, File{Path: path, Project: projectOf(abs, home), Text: text})
	}
	return files, nil
}

// projectOf is the folder that holds the agent's folder, or the file; nothing when that is the home folder. Local
// settings are a project's even there.
func projectOf(path, home string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name != ".claude" && name != ".codex" && name != ".gemini" {
			continue
		}
		if parent := filepath.Dir(dir); parent != filepath.Clean(home) || filepath.Base(path) == "settings.local.json" {
			return parent
		}
		return ""
	}
	return filepath.Dir(path)
}
