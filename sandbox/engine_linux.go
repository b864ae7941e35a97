package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"nod/sandbox/outside"
)

// Engine runs commands in a sandbox.
type Engine struct {
	kind       Kind
	bubblewrap string
	init       string // the program with [Main]
	filter     []byte
}

// New finds what this kind of engine needs. init is the program nod, which runs first in a sandbox.
func New(kind Kind, init string) (e *Engine, err error) {
	e = &Engine{kind: kind}
	switch kind {
	case bubblewrap:
		if e.bubblewrap, err = outside.Find("bwrap"); err != nil {
			return nil, errors.New("no sandbox without bubblewrap: install the package bubblewrap")
		}
	case landlock:
		err = checkLandlock()
	default:
		err = fmt.Errorf("there is no sandbox named %q", kind)
	}
	if err != nil {
		return nil, err
	}
	if e.init, err = filepath.EvalSymlinks(init); err != nil {
		return nil, fmt.Errorf("find the first program of a sandbox: %w", err)
	}
	e.filter, err = filter(kind)
	return e, err
}

// Run runs a command in a sandbox, and returns its exit status as shells do: 128 plus the signal that ended it.
// Everything that it started ends with it; all of it ends with the context, with the process to watch, or with this
// one. An error says why the command did not run, or was ended.
//
// Signals that reach this process meanwhile go to the command.
func (e *Engine) Run(ctx context.Context, c Command) (status int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, arg := range c.Argv {
		if !utf8.ValidString(arg) { // the plan is JSON
			return 0, fmt.Errorf("the argument %q is not UTF-8", arg)
		}
	}
	if err := watch(ctx, c.Watch, cancel); err != nil {
		return 0, err
	}
	layout, err := e.prepare(&c)
	if err != nil {
		return 0, err
	}
	defer layout.close()
	r, err := e.open(ctx, &c, layout)
	if err != nil {
		return 0, err
	}
	defer r.close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc(slices.Clone(forwarded), signal.Ignored)...) // such as those under nohup
	defer close(signals)
	defer signal.Stop(signals)
	// When a thread ends, the kernel ends what it has started.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mounted := make(chan error, 1)
	go func() { mounted <- e.mounts(&c, layout) }() // while the first process starts
	started, err := r.cmd.Start(), <-mounted
	if started != nil {
		return 0, explain(started)
	}
	if err == nil {
		err = r.sendPlan(e.plan(&c, layout))
	}
	r.release()
	if err != nil {
		cancel(unstarted{err})
	} else {
		go r.forward(c.Hold, signals, cancel)
	}
	ended := make(chan outcome, 1)
	go func() { ended <- r.listen(c.Serve) }()
	err = r.cmd.Wait()
	return r.result(ctx, <-ended, err)
}

var forwarded = []os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH,
}

// rights are the capabilities that mounts need and overlays keep, whose own folders are closed to all others. They
// apply in the user namespace only, and are dropped before bubblewrap starts.
var rights = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN}

type run struct {
	cmd        *exec.Cmd
	control    *os.File   // socket to the first process
	childFiles []*os.File // inherited by it, and closed here once it has started
	plan       *os.File   // one of childFiles
	errors     bytes.Buffer
}

func (e *Engine) open(ctx context.Context, c *Command, l *layout) (*run, error) {
	r := &run{}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("connect to a sandbox: %w", err)
	}
	r.control = os.NewFile(uintptr(pair[0]), "sandbox")
	// The first process reads with a blocking call: a poller would be another of its threads, which it counts.
	if err := unix.SetNonblock(pair[1], false); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to a sandbox: %w", err), unix.Close(pair[1]), r.close())
	}
	r.childFiles = []*os.File{os.NewFile(uintptr(pair[1]), "sandbox")}
	plan, errPlan := memory("plan")
	filter, errFilter := memory("filter")
	null, errNull := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	r.plan, r.childFiles = plan, append(r.childFiles, plan, filter, null) // nil are those that could not be opened
	if err := cmp.Or(errPlan, errFilter, errNull); err != nil {
		return nil, errors.Join(err, r.close())
	}
	if err := fill(filter, e.filter); err != nil {
		return nil, errors.Join(err, r.close())
	}
	streams, err := c.streams(null)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	if streams[0] != null && !isPassed(streams[0]) {
		if streams[0], err = pipeFrom(streams[0]); err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.childFiles = append(r.childFiles, streams[0])
	}

	r.cmd = exec.CommandContext(ctx, e.init)
	r.cmd.Args, r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = []string{builderName}, "/", []string{}, &r.errors
	r.cmd.ExtraFiles = slices.Concat(r.childFiles[:3], streams, []*os.File{l.lock})
	r.cmd.SysProcAttr = e.attributes()
	// The first process exits when this socket is closed, and everything else with it. It is killed only if it does not.
	// With Landlock a kill would leave its children running, so it gets the time that it needs on a machine short of
	// memory.
	r.cmd.Cancel, r.cmd.WaitDelay = r.control.Close, 2*time.Second
	if e.kind == landlock {
		r.cmd.WaitDelay = time.Minute
	}
	return r, nil
}

// attributes returns those of the first process. Outside a PID namespace (Landlock) it is not killed with this process,
// but exits when the control socket closes, because it has to kill its children.
func (e *Engine) attributes() *syscall.SysProcAttr {
	if e.kind == landlock {
		return &syscall.SysProcAttr{Setsid: true}
	}
	id := func(is int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: is, HostID: is, Size: 1}}
	}
	return &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, Setsid: true, Pdeathsig: unix.SIGKILL,
		UidMappings: id(os.Geteuid()), GidMappings: id(os.Getegid()), AmbientCaps: rights,
	}
}

// streams returns the command's standard files. It refuses folders, through which the command could escape.
func (c *Command) streams(null *os.File) ([]*os.File, error) {
	streams := []*os.File{c.Stdin, c.Stdout, c.Stderr}
	for i, file := range streams {
		if file == nil {
			streams[i] = null
			continue
		}
		info, err := file.Stat()
		if err == nil && info.IsDir() {
			err = unix.EISDIR
		}
		if err == nil && info.Mode()&fs.ModeSocket != 0 && !isPair(file) {
			err = unix.ENOTSOCK
		}
		if err != nil {
			return nil, fmt.Errorf("have a command in a sandbox use %s: %w", file.Name(), err)
		}
	}
	return streams, nil
}

// isPassed reports whether the command may inherit its input: a pipe, a socket pair or a terminal. It could reopen a
// regular file for writing, since the file is not on one of the sandbox's mounts.
func isPassed(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) != 0
}

// pipeFrom returns a pipe with the rest of a file, whose offset stays: a shell's loop reads on from there.
func pipeFrom(file *os.File) (*os.File, error) {
	offset, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("have a command in a sandbox read %s: %w", file.Name(), err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("have a command in a sandbox read %s: %w", file.Name(), err)
	}
	go func() {
		defer write.Close()
		_, _ = io.Copy(write, io.NewSectionReader(file, offset, math.MaxInt64-offset)) // until the reader is closed
	}()
	return read, nil
}

// isPair reports whether a socket is permanently connected. Any other could be connected elsewhere.
func isPair(file *os.File) bool {
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = raw.Control(func(fd uintptr) {
		family, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		kind, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
		_, err := unix.Getpeername(int(fd))
		is = err == nil && family == unix.AF_UNIX && (kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET)
	})
	return err == nil && is
}

func (e *Engine) plan(c *Command, l *layout) plan {
	plan := plan{
		Root: l.root, Mounts: l.mounts, Argv: c.Argv, Dir: l.dir, Limits: cmp.Or(c.Profile.Limits, defaultLimits),
		Landlock: e.kind == landlock, Listen: c.Serve != nil && e.kind == bubblewrap,
	}
	plan.Env = environment(c.Env, e.Temp(&c.Profile), plan.Listen, c.Profile.Near)
	plan.Engine = []string{
		e.bubblewrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net",
		"--unshare-cgroup-try", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
		"--seccomp", fmt.Sprint(filterFile), "--bind", l.root, "/",
		"--proc", "/proc", "--remount-ro", "/proc", // root may write the system's settings there, rights or not
		"--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--chdir", "/", "--", firstPath,
	}
	return plan
}

// Temp returns the path of the folder for temporary files as the command sees it. See [Profile.Temp] for its path
// outside.
func (e *Engine) Temp(p *Profile) string {
	if e.kind == landlock {
		return p.Temp()
	}
	return "/tmp"
}

func (r *run) release() {
	for _, file := range r.childFiles {
		_ = file.Close()
	}
	r.childFiles = nil
}

func (r *run) close() error {
	r.release()
	return r.control.Close()
}

func explain(err error) error {
	if reason := forbidden(); reason != "" {
		return fmt.Errorf("no sandbox: %s: %w", reason, err)
	}
	return fmt.Errorf("start a sandbox: %w", err)
}

// forbidden names the system setting that forbids user namespaces; empty if there is none.
func forbidden() string {
	for path, what := range map[string]struct{ value, reason string }{
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": {
			"1", "AppArmor wants a profile of programs that make user namespaces: see docs/install.md, For the sandbox",
		},
		"/proc/sys/kernel/unprivileged_userns_clone": {
			"0", "the system lets nobody make user namespaces: sysctl kernel.unprivileged_userns_clone=1",
		},
		"/proc/sys/user/max_user_namespaces": {
			"0", "the system lets nobody make user namespaces: sysctl user.max_user_namespaces=10000",
		},
	} {
		if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == what.value {
			return what.reason
		}
	}
	return ""
}
