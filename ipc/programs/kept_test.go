package programs

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// program makes a nod with a nod-cli of the same text and a nod-desktop beside it.
func program(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"nod": text, "nod-cli": text, "nod-desktop": "desktop"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "nod")
}

func wantKept(t *testing.T, copied, text string) {
	t.Helper()
	for _, path := range []string{copied, filepath.Join(filepath.Dir(copied), "nod-cli")} {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("%s: %q, %v, want %q", path, got, err, text)
		}
		if err := CheckKept(path); err != nil && path == copied {
			t.Error(err)
		}
	}
	all, err := os.ReadDir(filepath.Dir(copied))
	if err != nil || len(all) > 3 {
		t.Errorf("beside the copy: %v, %v", all, err)
	}
}

func TestKeep(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "da ta", "nod", "bin", "nod")
	for _, text := range []string{"one", "two", "longer"} {
		source := program(t, text)
		if err := keep(source, copied); err != nil {
			t.Fatal(err)
		}
		wantKept(t, copied, text)
		if runtime.GOOS == "windows" {
			continue
		}
		desktop, err := os.Readlink(filepath.Join(filepath.Dir(copied), "nod-desktop"))
		if want := filepath.Join(filepath.Dir(source), "nod-desktop"); err != nil || desktop != want {
			t.Errorf("nod-desktop is %s, %v, want %s", desktop, err, want)
		}
	}
}

// A copy of the same size and time is not read, and one of the same bytes is not written.
func TestKeepIsCheap(t *testing.T) {
	copied, source := filepath.Join(t.TempDir(), "bin", "nod"), program(t, "text")
	if err := keep(source, copied); err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(source, later, later); err != nil {
		t.Fatal(err)
	}
	if err := keep(source, copied); err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(copied)
	if err != nil || !os.SameFile(first, second) {
		t.Errorf("the same bytes were written again: %v", err)
	}
	if err := os.WriteFile(copied, []byte("xxxx"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(copied, later, later); err != nil {
		t.Fatal(err)
	}
	if same, err := isCopy(source, copied); !same || err != nil {
		t.Errorf("the same size and time: %v, %v", same, err)
	}
}

// What others could have put in the place of the copy is replaced, and what it leads to stays.
func TestKeepReplacesWhatIsNoCopy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes")
	}
	for name, make := range map[string]func(copied, other string) error{
		"a link":           func(copied, other string) error { return os.Symlink(other, copied) },
		"a dangling link":  func(copied, _ string) error { return os.Symlink("nowhere", copied) },
		"another program":  func(copied, _ string) error { return os.WriteFile(copied, []byte("something else"), 0o700) },
		"writable to all":  func(copied, _ string) error { return writeMode(copied, 0o777) },
		"not executable":   func(copied, _ string) error { return writeMode(copied, 0o600) },
		"an open folder":   func(copied, _ string) error { return os.Chmod(filepath.Dir(copied), 0o777) },
		"an empty program": func(copied, _ string) error { return os.WriteFile(copied, nil, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			copied, other := filepath.Join(t.TempDir(), "bin", "nod"), program(t, "text")
			if err := os.Mkdir(filepath.Dir(copied), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := make(copied, other); err != nil {
				t.Fatal(err)
			}
			if err := keep(program(t, "text"), copied); err != nil {
				t.Fatal(err)
			}
			wantKept(t, copied, "text")
			wantKept(t, other, "text")
			if info, err := os.Stat(filepath.Dir(copied)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder: %v, %v", info.Mode(), err)
			}
		})
	}
}

func writeMode(path string, mode os.FileMode) error {
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

func TestWhereNoCopyCanBe(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(folder, "link")); err != nil {
		t.Skip(err)
	}
	for copied, want := range map[string]string{
		"file/bin/nod": "not a directory", "file/nod": "not a directory", "link/nod": "is not a folder of yours",
	} {
		err := keep(program(t, "text"), filepath.Join(folder, copied))
		if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", copied, err, want)
		}
	}
	if err := keep(filepath.Join(folder, "gone"), filepath.Join(folder, "bin", "nod")); err == nil {
		t.Error("kept a copy of nothing")
	}
}

// Whoever reads the copy while several nods renew it reads one of them, whole.
func TestManyKeepAtOnce(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "bin", "nod")
	texts := []string{strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)}
	sources := []string{program(t, texts[0]), program(t, texts[1])}
	if err := keep(sources[0], copied); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			if err := keep(sources[n%2], copied); err != nil && runtime.GOOS != "windows" {
				t.Error(err)
			}
			if got, err := os.ReadFile(copied); err == nil && !bytes.Equal(got, []byte(texts[0])) &&
				!bytes.Equal(got, []byte(texts[1])) {
				t.Error("half a copy")
			}
		})
	}
	all.Wait()
}
