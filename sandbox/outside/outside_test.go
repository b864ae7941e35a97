//go:build linux

package outside_test

import (
	"os"
	"path/filepath"
	"testing"

	"nod/sandbox/outside"
)

// What a command in the sandbox writes to a folder of PATH is not run outside.
func TestPathDoesNotCount(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sh", "nobodys-program"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if path, err := outside.Find("sh"); err != nil || filepath.Dir(path) == dir {
		t.Errorf("%s, %v", path, err)
	}
	if path, err := outside.Find("nobodys-program"); err == nil {
		t.Errorf("finds %s", path)
	}
}
