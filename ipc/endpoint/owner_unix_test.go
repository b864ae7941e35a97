//go:build unix

package endpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const stranger = 12345 // a uid that is not ours

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v, want an error with %q", err, part)
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := os.Lchown(path, stranger, stranger); err != nil {
		t.Fatal(err)
	}
}

func TestModesUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		old := syscall.Umask(umask)
		t.Cleanup(func() { syscall.Umask(old) })
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		dir, err := Dir()
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, valid()); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, Path(dir): 0o600} {
			if info, err := os.Lstat(path); err != nil || info.Mode() != want {
				t.Errorf("umask %03o: mode of %s is %v, want %v (%v)", umask, path, info.Mode(), want, err)
			}
		}
	}
}

func TestDirIsWhereTheVariableSays(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	dir, err := Dir()
	if want := filepath.Join(runtime, "nod"); err != nil || dir != want {
		t.Errorf("Dir = %q, %v; want %q", dir, err, want)
	}
}

func TestDirFallsBackToTheCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"unset": "", "relative": "run", "missing": filepath.Join(t.TempDir(), "gone"), "a file": file,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CACHE_HOME", "")
			t.Setenv("XDG_RUNTIME_DIR", value)
			useRuntimeDirs(t, t.TempDir())
			cache, err := os.UserCacheDir()
			if err != nil {
				t.Fatal(err)
			}
			dir, err := Dir()
			if want := filepath.Join(cache, "nod"); err != nil || dir != want {
				t.Errorf("Dir = %q, %v; want %q", dir, err, want)
			}
		})
	}
}

func useRuntimeDirs(t *testing.T, folder string) {
	before := runtimeDirs
	runtimeDirs = folder
	t.Cleanup(func() { runtimeDirs = before })
}

// MCP clients start their servers with hardly any environment.
func TestDirIsFoundWithoutTheEnvironment(t *testing.T) {
	runs := t.TempDir()
	useRuntimeDirs(t, runs)
	t.Setenv("XDG_RUNTIME_DIR", "")
	mine := filepath.Join(runs, strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(mine, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, err := Dir(); err != nil || dir != filepath.Join(mine, "nod") {
		t.Errorf("Dir = %q, %v; want a folder in %q", dir, err, mine)
	}
}

func TestDirIgnoresTheRuntimeFolderOfAnother(t *testing.T) {
	runtime := t.TempDir()
	chown(t, runtime)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	dir, err := Dir()
	if err != nil || !strings.HasPrefix(dir, cache) {
		t.Errorf("Dir = %q, %v; want a folder in %q", dir, err, cache)
	}
}

func TestFolderIsRefused(t *testing.T) {
	cases := []struct {
		name  string
		plant func(t *testing.T, dir string)
		want  string
	}{
		{"symbolic link", func(t *testing.T, dir string) {
			if err := os.Symlink(private700(t), dir); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link"},
		{"file", func(t *testing.T, dir string) { os.WriteFile(dir, nil, 0o600) }, "not a folder"},
		{"open to others", func(t *testing.T, dir string) { os.Mkdir(dir, 0o700); os.Chmod(dir, 0o755) }, "chmod 700"},
		{"foreign owner", func(t *testing.T, dir string) { os.Mkdir(dir, 0o700); chown(t, dir) }, "another user"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			runtime := t.TempDir()
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			dir := filepath.Join(runtime, "nod")
			c.plant(t, dir)
			_, err := Dir()
			wantError(t, err, c.want)
			_, err = Read(dir)
			wantError(t, err, c.want)
			wantError(t, Write(dir, valid()), c.want)
		})
	}
}

func TestFileIsRefused(t *testing.T) {
	cases := []struct {
		name  string
		plant func(t *testing.T, path string)
		want  string
	}{
		{"symbolic link to a good file", func(t *testing.T, path string) {
			elsewhere := private700(t)
			if err := Write(elsewhere, valid()); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(Path(elsewhere), path); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"folder", func(t *testing.T, path string) { os.Mkdir(path, 0o700) }, "not a plain file"},
		{"named pipe", func(t *testing.T, path string) { syscall.Mkfifo(path, 0o600) }, "not a plain file"},
		{"open to the group", func(t *testing.T, path string) { os.Chmod(goodFile(t, path), 0o640) }, "others can open"},
		{"open to others", func(t *testing.T, path string) { os.Chmod(goodFile(t, path), 0o604) }, "others can open"},
		{"foreign owner", func(t *testing.T, path string) { chown(t, goodFile(t, path)) }, "another user"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := private700(t)
			c.plant(t, Path(dir))
			_, err := Read(dir)
			wantError(t, err, c.want)
			wantError(t, Write(dir, valid()), c.want)
			if files, _ := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("%d files in the folder, want only the planted one", len(files))
			}
		})
	}
}

func goodFile(t *testing.T, path string) string {
	t.Helper()
	if err := Write(filepath.Dir(path), valid()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWriteDoesNotFollowALink(t *testing.T) {
	dir, victim := private700(t), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, Path(dir)); err != nil {
		t.Fatal(err)
	}
	wantError(t, Write(dir, valid()), "symbolic link")
	if text, _ := os.ReadFile(victim); string(text) != "precious" {
		t.Error("the file behind the link changed")
	}
}

func TestReadSaysWhenNothingIsThereThroughADanglingLink(t *testing.T) {
	dir := private700(t)
	if err := os.Symlink(filepath.Join(dir, "gone"), Path(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dangling link reads as %v, want a refusal", err)
	}
}
