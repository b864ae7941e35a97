package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

const (
	claudeLine = `{"type":"user","sessionId":"s","cwd":"/srv"}` + "\n"
	codexLine  = `{"type":"session_meta","payload":{"id":"s","cwd":"/srv"}}` + "\n"
)

// tree writes files below a new folder, which it returns with links followed.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func names(t *testing.T, root string, paths ...string) []string {
	t.Helper()
	files, err := Transcripts(paths)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name, err := filepath.Rel(root, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

func TestFind(t *testing.T) {
	root := tree(t, map[string]string{
		"p/a.jsonl":             `{"type":"file-history-snapshot"}` + "\n" + claudeLine,
		"p/a/subagents/b.jsonl": claudeLine,
		"s/2026/03/04/r.jsonl":  codexLine,
		"p/other.jsonl":         `{"a":1}` + "\n",
		"p/empty.jsonl":         "",
		"p/notes.txt":           claudeLine,
	})
	all := []string{"p/a.jsonl", "p/a/subagents/b.jsonl", "s/2026/03/04/r.jsonl"}
	if got := names(t, root, root); !slices.Equal(got, all) {
		t.Errorf("%q", got)
	}
	if got := names(t, root, filepath.Join(root, "p/a.jsonl"), root); !slices.Equal(got, all) {
		t.Errorf("with a file that is named twice: %q", got)
	}
	if got := names(t, root, filepath.Join(root, "p/notes.txt")); !slices.Equal(got, []string{"p/notes.txt"}) {
		t.Errorf("with another ending: %q", got)
	}
}

func TestFindRefuses(t *testing.T) {
	root := tree(t, map[string]string{"other.jsonl": "{}\n", "empty.jsonl": ""})
	for _, name := range []string{"other.jsonl", "empty.jsonl"} {
		if _, err := Transcripts([]string{filepath.Join(root, name)}); !errors.Is(err, errNoTranscript) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Transcripts([]string{filepath.Join(root, "missing")}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Links below a folder are not followed; the folder itself may be one.
func TestFindAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	root := tree(t, map[string]string{"real/a.jsonl": claudeLine, "out/b.jsonl": claudeLine})
	for link, to := range map[string]string{"linked": "real", "real/loop": ".", "real/b.jsonl": "../out/b.jsonl"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, root, filepath.Join(root, "linked")); !slices.Equal(got, []string{"real/a.jsonl"}) {
		t.Errorf("%q", got)
	}
}
