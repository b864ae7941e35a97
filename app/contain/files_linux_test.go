package contain

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// While nod has too many files open, it shows no folder of which it cannot know what is in it, and covers what is
// missing.
func TestTooManyFilesOpen(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err := errors.Join(err, os.Mkdir(home+"/.cargo", 0o700), os.MkdirAll(home+"/work/a/.git", 0o700),
		os.WriteFile(home+"/.cargo/credentials.toml", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	secret, absent := secretsIn(home+"/.cargo"), absentIn(home)
	if !slices.Equal(secret, []string{home + "/.cargo/credentials.toml"}) || len(absent) == 0 {
		t.Fatal(secret, absent)
	}
	var was syscall.Rlimit
	err = errors.Join(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was),
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: was.Max}))
	secret, holds, covered := secretsIn(home+"/.cargo"), holdsProjects(home+"/work"), absentIn(home)
	if err := errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(secret, home+"/.cargo") || !holds || !slices.Equal(covered, absent) {
		t.Error(secret, holds, covered)
	}
}
