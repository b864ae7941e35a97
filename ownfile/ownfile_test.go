package ownfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Without a home folder, a base folder is only where the environment says.
func TestIn(t *testing.T) {
	base := t.TempDir()
	for name, tt := range map[string]struct {
		home, named, base string
		want              bool
	}{
		"by default":      {base, "", base, true},
		"named":           {base, base, base, true},
		"named alone":     {"", base, base, true},
		"no home":         {"", "", base, runtime.GOOS == "windows"},
		"another's":       {"", filepath.Join(base, "x"), base, runtime.GOOS == "windows"},
		"not in the root": {base, "", "base", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", tt.home)
			t.Setenv("XDG_CONFIG_HOME", tt.named)
			got, err := In(tt.base, "file")
			if want := filepath.Join(base, "nod", "file"); (err == nil) != tt.want || err == nil && got != want {
				t.Errorf("%s, %v, want %s: %v", got, err, want, tt.want)
			}
		})
	}
}

func TestWriteReplaces(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(folder, "file")
	for _, text := range []string{"first", "second"} {
		if err := Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want one file", left, err)
	}
}

func TestWriteSetsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes")
	}
	path := filepath.Join(t.TempDir(), "folder", "file")
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o600} {
		if err := Write(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%v, %v, want %v", info.Mode(), err, mode)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

// A link is neither written through nor read through.
func TestLinks(t *testing.T) {
	folder := t.TempDir()
	path, behind := filepath.Join(folder, "link"), filepath.Join(folder, "behind")
	if err := os.WriteFile(behind, []byte("behind"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(behind, path); err != nil {
		t.Skip(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("read through a link: %v", err)
	}
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(behind); err != nil || string(got) != "behind" {
		t.Errorf("wrote through the link: %q, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) || err.Error() != path+": file does not exist" {
		t.Errorf("no file: %v", err)
	}
	if err := Write(path, bytes.Repeat([]byte("x"), maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path+": larger than 1048576 bytes") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("a folder: %v", err)
	}
	if err := Write(filepath.Join(path, "below"), nil, 0o600); err == nil {
		t.Error("wrote below a file")
	}
}
