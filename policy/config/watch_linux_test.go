package config

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"nod/policy"
)

// Where the system has no watch left, as where many programs watch files, a change of the file counts a little later.
func TestNoWatchIsLeft(t *testing.T) {
	const variable, limit = "NOD_TEST_NO_WATCH", "/proc/sys/user/max_inotify_instances"
	if os.Getenv(variable) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), variable+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := again.CombinedOutput()
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
			t.Skip("this system gives nobody a limit of their own:", err)
		}
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(limit, []byte("0"), 0); err != nil {
		t.Skip(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, goodFile)
		go s.Watch(t.Context())
		synctest.Wait()
		write(t, configPath(s), strings.Replace(goodFile, "effect: allow", "effect: deny", 1))
		time.Sleep(watchAgain)
		synctest.Wait()
		if d := s.Decide(bash("make")); d.Effect != policy.Deny {
			t.Errorf("%+v", d)
		}
	})
}
