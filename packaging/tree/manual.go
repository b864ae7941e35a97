package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// addManual adds the pages of the manual: those of nod's commands, which a test of theirs writes, and nod-desktop's.
func (t *Tree) addManual(b Build) error {
	dir, err := os.MkdirTemp("", "nod-manual")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	test := exec.Command("go", "test", "-trimpath", "-buildvcs=false", "-count=1", "-ldflags", b.LDFlags, "./cmd/nod",
		"-run", "^TestManual$", "-args", "-manual", dir)
	test.Dir = b.Root
	test.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if _, err := output(test); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := t.copy(page, "share/man/man1/"+filepath.Base(page), 0o644); err != nil {
			return err
		}
	}
	page, err := os.ReadFile(filepath.Join(b.Root, "packaging/files/nod-desktop.1"))
	if err != nil {
		return err
	}
	stamp := strings.NewReplacer("@DATE@", b.Date.UTC().Format(time.DateOnly), "@VERSION@", b.Version)
	t.add("share/man/man1/nod-desktop.1", []byte(stamp.Replace(string(page))), 0o644)
	return nil
}
