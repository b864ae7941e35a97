package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
)

const noDisk = "this system lets nobody mount a disk of their own:"

// ownDisk runs the test again, in a process that has a disk of a mebibyte of its own, which it returns there.
func ownDisk(t *testing.T) (disk string, isThere bool) {
	t.Helper()
	const variable = "NOD_TEST_DISK"
	if disk := os.Getenv(variable); disk != "" {
		err := unix.Mount("none", disk, "tmpfs", 0, "size=1m")
		if errors.Is(err, fs.ErrPermission) { // a namespace that AppArmor lets do nothing
			t.Skip(noDisk, err)
		}
		must(t, err)
		return disk, true
	}
	self, err := os.Executable()
	must(t, err)
	again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), variable+"="+t.TempDir())
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) { // the limit of namespaces is 0
		t.Skip(noDisk, err)
	}
	if bytes.Contains(out, []byte(noDisk)) {
		t.Skipf("%s", out)
	}
	t.Logf("%s", out)
	must(t, err)
	return "", false
}

func TestAFullDisk(t *testing.T) {
	disk, isThere := ownDisk(t)
	if !isThere {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		j := healthy(t, filepath.Join(disk, "nod.db"))
		ballast := filepath.Join(disk, "ballast")
		waiting := approval(0)
		must(t, j.Open(t.Context(), waiting))
		must(t, os.WriteFile(ballast, make([]byte, 512<<10), 0o600))
		n := int64(0)
		for ; j.Settle(t.Context(), settled(approval(int(n)+1), api.Allowed)) == nil; n++ {
			if n > 10_000 {
				t.Fatal("the disk does not become full")
			}
		}
		trouble(t, j, journal.Full)
		open, _, err := j.Restore(t.Context(), 1)
		must(t, err)
		same(t, open, []interact.Record{waiting})
		must(t, os.Remove(ballast))
		awaitHealth(t, j)
		entries(t, j, n)
		fill(t, j, 50_000, 50_010)
		entries(t, j, n+10)
	})
}

func TestAReadOnlyDisk(t *testing.T) {
	disk, isThere := ownDisk(t)
	if !isThere {
		return
	}
	path := filepath.Join(disk, "nod.db")
	j := healthy(t, path)
	fill(t, j, 0, 5)
	must(t, j.Close())
	must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	synctest.Test(t, func(t *testing.T) {
		j := open(t, path, journal.Options{})
		trouble(t, j, "unwritable")
		if err := j.Settle(t.Context(), settled(approval(5), api.Allowed)); err == nil {
			t.Error("it was written")
		}
		must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT, ""))
		awaitHealth(t, j)
		entries(t, j, 5)
	})
}
