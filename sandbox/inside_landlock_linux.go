package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func landlockVersion() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
}

// The rights that Landlock refuses unless a rule grants them: all of the oldest version that nod supports.
const (
	allFiles   = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1
	allNetwork = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	allScopes  = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL

	oneFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // the rights on files
	nodes = unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// uses maps the kinds of [mount] that Landlock supports to the rights they grant.
var uses = map[mountKind]uint64{
	bind:   allFiles &^ nodes,
	read:   unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR,
	list:   unix.LANDLOCK_ACCESS_FS_READ_DIR,
	device: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
}

// enclose execs the first process if Landlock is the engine. From then on it can signal only its descendants, so it can
// kill all of them at once without a PID namespace.
func enclose() error {
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := restrict(&unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_SIGNAL}, nil); err != nil {
		return err
	}
	return fmt.Errorf("start the first process: %w", unix.Exec("/proc/self/exe", []string{landlockFirst}, []string{}))
}

func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	for right := range uintptr(64) { // it fails if there is nothing to drop
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0)
	}
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	return nil
}

// restrict applies Landlock to this thread and the processes it starts: only what places grant is allowed.
func restrict(what *unix.LandlockRulesetAttr, places []mount) error {
	fd, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(what)), unsafe.Sizeof(*what), 0)
	if err != 0 {
		return fmt.Errorf("create Landlock rules: %w", err)
	}
	defer unix.Close(int(fd))
	for _, p := range places {
		if err := permit(fd, p); err != nil {
			return fmt.Errorf("%s %s: %w", p.Kind, p.To, err)
		}
	}
	if _, _, err := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); err != 0 {
		return fmt.Errorf("apply Landlock: %w", err)
	}
	return nil
}

// permit adds a rule for a place. A place that no longer exists needs none.
func permit(rules uintptr, m mount) error {
	rights, ok := uses[m.Kind]
	if !ok {
		return errors.New("is not known")
	}
	fd, err := source(m.To)
	if err == unix.ENOENT || err == unix.ELOOP || err == unix.EACCES {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !isFolder(fd) {
		rights &= oneFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, failed := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if failed != 0 {
		return failed
	}
	return nil
}

// startEnclosed starts a process that restricts itself and execs the command. A thread of the first process would not
// do: the command could signal it, and so kill the first process.
func startEnclosed(plan *plan) (pid int, err error) {
	if _, err := find(plan); err != nil {
		return 0, err
	}
	failed, write, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer failed.Close()
	pid, err = syscall.ForkExec("/proc/self/exe", []string{landlockCommand}, &syscall.ProcAttr{
		Files: []uintptr{stdin, stdout, stderr, write.Fd(), planFile, filterFile}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	closeStreams()
	if err := errors.Join(err, write.Close()); err != nil {
		return 0, err
	}
	why, err := io.ReadAll(failed)
	if err == nil && len(why) > 0 {
		err = errors.New(string(why))
	}
	return pid, err
}

func enter() error {
	runtime.LockOSThread() // Landlock applies per thread
	for fd := controlFile; fd <= filterFile; fd++ {
		unix.CloseOnExec(fd)
	}
	plan, err := readPlan()
	if err != nil {
		return err
	}
	all := unix.LandlockRulesetAttr{Handled_access_fs: allFiles, Handled_access_net: allNetwork, Scoped: allScopes}
	if err := restrict(&all, plan.Mounts); err != nil {
		return err
	}
	path, err := find(&plan)
	if err != nil {
		return err
	}
	if err := filterCalls(); err != nil {
		return err
	}
	return unix.Exec(path, plan.Argv, plan.Env)
}

func filterCalls() error {
	file := os.NewFile(filterFile, "filter")
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil || len(text) == 0 {
		return fmt.Errorf("read the filter of system calls: %w", err)
	}
	program := unix.SockFprog{
		Len: uint16(len(text) / unix.SizeofSockFilter), Filter: (*unix.SockFilter)(unsafe.Pointer(&text[0])),
	}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if failed != 0 {
		return fmt.Errorf("filter system calls: %w", failed)
	}
	return nil
}

// signalsScoped is set if this process can signal only its descendants.
var signalsScoped bool

// adopt checks that signals are restricted, and makes this process the parent of orphaned descendants.
func adopt() error {
	if parent := os.Getppid(); parent == 1 || unix.Kill(parent, 0) != unix.EPERM {
		return errors.New("signals are not restricted")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt processes: %w", err)
	}
	signalsScoped = true
	return nil
}

func endAll() {
	_ = unix.Kill(-1, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			return
		}
	}
}
