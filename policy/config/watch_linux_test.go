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

// A file that could not be read for a moment, as while too many files were open, is read again, and counts.
func TestAFileThatCannotBeReadForAMoment(t *testing.T) {
	before := watchAgain
	watchAgain = time.Millisecond
	t.Cleanup(func() { watchAgain = before })
	s := openStore(t, goodFile)
	until := watching(t, s)
	file, err := os.OpenFile(configPath(s), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, writeErr := file.WriteString(goodFile)
	until("it cannot be read", func() bool { return s.Err() != nil })
	if err := errors.Join(writeErr, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)); err != nil {
		t.Fatal(err)
	}
	until("it can be read again", func() bool { return s.Err() == nil })
}
