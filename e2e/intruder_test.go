//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// intruderName is the name under which this program tries to get into the processes that its arguments name.
const intruderName = "nod-test-intruder"

// strangerID is the user whom nod and the intruder run as where the tests run as root: root may do anything.
const strangerID = 65534

// TestSameUserGetsNowhere has another program of the user's try to get at nod's processes by all that Linux offers:
// their files, their memory, their calls. What it tries works on a process that does not defend itself.
func TestSameUserGetsNowhere(t *testing.T) {
	n := startDesktop(t)
	bin := n.strangersCopy()
	as := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Path = filepath.Join(bin, filepath.Base(cmd.Path))
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerID, Gid: strangerID}}
		}
		return cmd
	}
	start := func(cmd *exec.Cmd) int {
		must(t, as(cmd).Start())
		t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
		return cmd.Process.Pid
	}
	desktop := n.program("nod-desktop", "--background")
	out, err := desktop.StdoutPipe()
	must(t, err)
	start(desktop)
	_, err = out.Read(make([]byte, 1)) // it is ready
	must(t, err)
	start(n.program("nod", "ask", "Really?"))
	n.prompt()

	relay := n.program("nod", "relay")
	relay.Env = append(relay.Env, "XDG_RUNTIME_DIR="+n.strangersFolder("run"), "XDG_DATA_HOME="+n.strangersFolder("data"),
		"XDG_STATE_HOME="+n.strangersFolder("state"), "XDG_CONFIG_HOME="+n.strangersFolder("config"))
	out, err = relay.StdoutPipe()
	must(t, err)
	start(relay)
	_, err = out.Read(make([]byte, 1))
	must(t, err)

	windows := childOf(t, desktop.Process.Pid, "nod-dialogs")
	for name, pid := range map[string]int{
		"nod-desktop": desktop.Process.Pid, "nod-dialogs": windows, "nod relay": relay.Process.Pid,
	} {
		try := n.Command(filepath.Join(bin, intruderName), strconv.Itoa(pid))
		said, err := as(try).Output()
		must(t, err)
		if len(said) > 0 {
			t.Errorf("another program of the same user can, of %s:\n%s", name, said)
		}
	}
	try := n.Command(filepath.Join(bin, intruderName))
	said, err := as(try).Output()
	must(t, err)
	for _, way := range []string{"files", "memory", "attach", "seize", "pidfd", "writev"} {
		if !bytes.Contains(said, []byte(way)) {
			t.Errorf("%s fails with any process, so that it fails with nod says nothing: %s", way, said)
		}
	}
}

// strangersCopy gives the desktop's folders to the stranger, and returns one with programs that they can run.
func (n *nod) strangersCopy() string {
	n.t.Helper()
	folder := n.strangersFolder("bin")
	self, err := os.Executable()
	must(n.t, err)
	for name, program := range map[string]string{
		"nod": "", "nod-cli": "", "nod-desktop": "", "nod-dialogs": "", intruderName: self,
	} {
		if program == "" {
			program = filepath.Join(bin, name)
		}
		text, err := os.ReadFile(program)
		must(n.t, err)
		must(n.t, os.WriteFile(filepath.Join(folder, name), text, 0o755))
	}
	if os.Getuid() == 0 {
		must(n.t, filepath.WalkDir(filepath.Dir(n.Home()), func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return errors.Join(err, os.Lchown(path, strangerID, strangerID))
		}))
	}
	return folder
}

// strangersFolder makes a folder that the stranger can use.
func (n *nod) strangersFolder(name string) string {
	n.t.Helper()
	path := filepath.Join(filepath.Dir(n.Home()), "stranger-"+name)
	must(n.t, os.MkdirAll(path, 0o700))
	if os.Getuid() == 0 {
		must(n.t, os.Chown(path, strangerID, strangerID))
	}
	return path
}

// childOf returns a child of a process by its name.
func childOf(t *testing.T, parent int, name string) int {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // fails for bad patterns only
	for _, path := range stats {
		stat, _ := os.ReadFile(path) // it may have ended
		fields := strings.Fields(string(stat))
		if len(fields) > 3 && fields[1] == "("+name+")" && fields[3] == strconv.Itoa(parent) {
			pid, err := strconv.Atoi(fields[0])
			must(t, err)
			return pid
		}
	}
	t.Fatalf("process %d has no child %s", parent, name)
	return 0
}

// beIntruder tries all ways into a process, and prints those that lead there; without one, into a child of its own.
func beIntruder(args []string) int {
	runtime.LockOSThread() // who traces is a thread
	if len(args) == 0 {
		victim := exec.Command("sleep", "60")
		in, err := victim.StdinPipe()
		if err == nil {
			err = victim.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer victim.Wait()
		defer victim.Process.Kill()
		defer in.Close()
		args = []string{strconv.Itoa(victim.Process.Pid)}
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, way := range waysIn {
		if err := way.try(pid); err == nil {
			fmt.Println(way.name)
		}
	}
	return 0
}

// waysIn are those into another process. Each reports an error when it leads nowhere.
var waysIn = []struct {
	name string
	try  func(pid int) error
}{
	{"files: open one by its number", func(pid int) error { return openAny(pid, "fd/*") }},
	{"files: of a thread", func(pid int) error { return openAny(pid, "task/*/fd/*") }},
	{"files: list them", func(pid int) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		return err
	}},
	{"memory: open it", func(pid int) error { return openAny(pid, "mem") }},
	{"memory: of a thread", func(pid int) error { return openAny(pid, "task/*/mem") }},
	{"environment: read it", func(pid int) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err
	}},
	{"map: read it", func(pid int) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		return err
	}},
	{"pidfd: take a file", func(pid int) error {
		process, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		defer unix.Close(process)
		for fd := range 64 {
			if taken, got := unix.PidfdGetfd(process, fd, 0); got == nil {
				return unix.Close(taken)
			} else if !errors.Is(got, unix.EBADF) {
				err = got
			}
		}
		return errors.Join(err, errors.New("no file"))
	}},
	{"readv: read a byte at address 0x1000", func(pid int) error { return vm(unix.SYS_PROCESS_VM_READV, pid) }},
	{"writev: write a byte at address 0x1000", func(pid int) error { return vm(unix.SYS_PROCESS_VM_WRITEV, pid) }},
	{"attach: trace it", func(pid int) error { return traced(pid, unix.PtraceAttach(pid)) }},
	{"seize: trace it", func(pid int) error { return traced(pid, unix.PtraceSeize(pid)) }},
}

// openAny opens the first file of a process that it may.
func openAny(pid int, pattern string) error {
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/%s", pid, pattern))
	for i := 0; len(paths) == 0 && i < 64; i++ { // nobody lists them, but they have numbers
		paths = append(paths, strings.Replace(fmt.Sprintf("/proc/%d/%s", pid, pattern), "*", strconv.Itoa(i), 1))
	}
	for path := range slices.Values(paths) {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			return f.Close()
		}
	}
	return errors.Join(err, errors.New("none"))
}

// vm moves a byte to or from another process. Where nothing is at that address it may, but cannot.
func vm(call uintptr, pid int) error {
	b := []byte{0}
	local := unix.Iovec{Base: &b[0], Len: 1}
	remote := unix.RemoteIovec{Base: 0x1000, Len: 1}
	_, _, err := unix.Syscall6(call, uintptr(pid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if err == unix.EFAULT || err == 0 {
		return nil
	}
	return err
}

// traced lets a process go that is traced.
func traced(pid int, err error) error {
	if err != nil {
		return err
	}
	_ = unix.PtraceInterrupt(pid) // one that was seized runs on
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}
