//go:build unix

package policy

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Reading a FIFO may never end, so nobody passes one unasked: as an operand, through a link, or as a tool's path.
func TestFIFOsAreAskedAbout(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, Default())
	for _, c := range []Call{
		bash("cat " + fifo), bash("head -1 < " + link), bash("cat " + dir + "/f*"), bash("cd " + dir + " && wc -l fifo"),
		file("Read", fifo), file("Read", link),
	} {
		if d := Decide(c, p, testNow); d.Effect != Ask {
			t.Errorf("%s: %+v", c.Input, d)
		}
	}
	if d := Decide(bash("ls -la "+dir), p, testNow); d.Effect != Allow {
		t.Errorf("its name may be seen: %+v", d)
	}
}
