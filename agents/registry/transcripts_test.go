package registry

import (
	"errors"
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

// The transcripts are where the agents' variables say, links below their folders are not followed, and what else is
// there is none.
func TestTranscripts(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CODEX_HOME", filepath.Join(home, "moved"))
	if found, err := Transcripts(); err != nil || len(found) != 0 {
		t.Errorf("without folders: %v, %v", found, err)
	}
	for name, text := range map[string]string{
		".claude/projects/p/a.jsonl":             `{"type":"file-history-snapshot"}` + "\n" + claudeLine,
		".claude/projects/p/a/subagents/b.jsonl": claudeLine,
		".claude/projects/p/other.jsonl":         `{"a":1}` + "\n",
		".claude/projects/p/empty.jsonl":         "",
		".claude/projects/p/notes.txt":           claudeLine,
		"out/b.jsonl":                            claudeLine,
		"real/2026/03/04/r.jsonl":                codexLine,
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".claude/projects/p/a/subagents/b.jsonl", ".claude/projects/p/a.jsonl"}
	if runtime.GOOS != "windows" { // links need a privilege there
		err := errors.Join(os.Mkdir(filepath.Join(home, "moved"), 0o700),
			os.Symlink("../real", filepath.Join(home, "moved", "sessions")),
			os.Symlink("../../out", filepath.Join(home, ".claude", "projects", "out")),
			os.Symlink("../../../out/b.jsonl", filepath.Join(home, ".claude", "projects", "p", "b.jsonl")))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, "real/2026/03/04/r.jsonl")
	}
	found, err := Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		name, err := filepath.Rel(home, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(name))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
