package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// first is the first process of a sandbox. It starts the command, forwards signals to it, enforces the limits, and
// exits when the command or the engine does; then the kernel kills all other processes.
func first() error {
	plan, err := readPlan()
	if err != nil {
		return err
	}
	if err := protect(); err != nil {
		return err
	}
	if plan.Landlock {
		if err := adopt(); err != nil {
			return err
		}
	}
	if plan.Listen {
		if err := listen(); err != nil {
			return err
		}
	}
	mounts, err := openMounts(&plan)
	if err != nil {
		return err
	}
	if err := await(); err != nil {
		return err
	}
	pid, err := startLimited(&plan)
	if err != nil { // with the exit status of shells
		status, what := 127, "not found"
		if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, os.ErrNotExist) {
			status, what = 126, err.Error()
		}
		end(status, plan.Argv[0]+": "+what)
	}
	if _, err := unix.Write(controlFile, []byte{saysStarted}); err != nil {
		end(128+int(unix.SIGKILL), "") // the engine has gone
	}
	go forwardSignals(pid)
	go watchLimits(&plan, mounts)
	end(wait(pid), "")
	return nil
}

var (
	verdict atomic.Pointer[string] // why the sandbox was killed
	ending  sync.Mutex             // never unlocked
)

func end(status int, why string) {
	ending.Lock()
	if v := verdict.Load(); v != nil {
		why = *v
	}
	if signalsScoped { // otherwise the kernel does it
		endAll()
	}
	_, _ = unix.Write(controlFile, append([]byte{saysEnded, byte(status)}, why...))
	os.Exit(status)
}

func protect() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect the first process: %w", err)
	}
	for fd := controlFile; fd < inherits; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}

func listen() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: proxyPort, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err == nil {
		err = unix.Sendmsg(controlFile, []byte{saysListening}, unix.UnixRights(fd), nil, 0)
	}
	if err != nil {
		return fmt.Errorf("listen for a proxy: %w", err)
	}
	return unix.Close(fd)
}

func startLimited(plan *plan) (pid int, err error) {
	// Cores would be written outside the sandbox. A limit of 1 byte, unlike 0, also applies if a program collects them.
	var core unix.Rlimit
	err = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	if core.Cur = min(1, core.Max); err == nil {
		err = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: core.Cur, Max: core.Cur})
	}
	if err != nil {
		return 0, fmt.Errorf("limit cores: %w", err)
	}
	start := start
	if plan.Landlock {
		start = startEnclosed
	}
	if plan.Limits.Processes == 0 {
		return start(plan)
	}
	var is unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &is); err != nil {
		return 0, fmt.Errorf("limit processes: %w", err)
	}
	// The kernel counts threads too. This process gets its own limit back, so that it can always start threads.
	most := uint64(4 * plan.Limits.Processes)
	if plan.Landlock {
		most += uint64(threads()) // the limit counts all processes of the user
	}
	most = min(most, is.Max)
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: is.Max}); err != nil {
		return 0, fmt.Errorf("limit processes: %w", err)
	}
	if pid, err = start(plan); err != nil {
		return 0, err
	}
	_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}, nil)
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &is); err != nil {
		return 0, fmt.Errorf("limit processes: %w", err)
	}
	return pid, nil
}

// start starts the command in its own process group, so that signals also reach its children.
func start(plan *plan) (pid int, err error) {
	path, err := find(plan)
	if err != nil {
		return 0, err
	}
	attr := syscall.ProcAttr{
		Env: plan.Env, Files: []uintptr{stdin, stdout, stderr}, Sys: &syscall.SysProcAttr{Setpgid: true},
	}
	pid, err = syscall.ForkExec(path, plan.Argv, &attr)
	closeStreams()
	return pid, err
}

func closeStreams() {
	for fd := stdin; fd < cacheLock; fd++ {
		_ = unix.Close(fd)
	}
}

func find(plan *plan) (path string, err error) {
	os.Clearenv()
	for _, pair := range plan.Env {
		if name, value, _ := strings.Cut(pair, "="); name == "PATH" {
			_ = os.Setenv(name, value)
		}
	}
	if err := os.Chdir(plan.Dir); err != nil {
		return "", err
	}
	if plan.Landlock && plan.Argv[0] == firstPath {
		return "/proc/self/exe", nil
	}
	if path, err = exec.LookPath(plan.Argv[0]); errors.Is(err, exec.ErrDot) {
		err = nil
	}
	return path, err
}

func forwardSignals(pid int) {
	signals := make([]byte, 1)
	for {
		n, err := unix.Read(controlFile, signals)
		switch {
		case err == unix.EINTR:
			continue
		case n != 1:
			end(128+int(unix.SIGKILL), "")
		}
		_ = unix.Kill(-pid, syscall.Signal(signals[0]))
	}
}

func wait(pid int) int {
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 128 + int(unix.SIGKILL)
		case ended != pid:
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// uncovered says why a sandbox is killed whose mounts no longer protect what they should.
const uncovered = "a file that it may not see or change was replaced meanwhile"

// openMounts opens the list of mounts, which reports changes from now on. It returns an error if a file that the plan
// protects is not mounted over.
func openMounts(plan *plan) (mounts *os.File, err error) {
	if plan.Landlock { // which mounts nothing
		return nil, nil
	}
	// Not os.Open: Go's poller would consume the change that watchLimits waits for.
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("watch the mounts: %w", err)
	}
	mounts = os.NewFile(uintptr(fd), "mounts")
	text, err := io.ReadAll(mounts)
	if err != nil {
		return nil, fmt.Errorf("watch the mounts: %w", err)
	}
	mounted := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			mounted[fields[4]] = true
		}
	}
	escape := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`)
	for _, m := range plan.Mounts {
		if (m.Kind == keep || m.Kind == hide || m.Kind == pin) && !mounted[escape.Replace(m.To)] {
			return nil, errors.New(uncovered)
		}
	}
	return mounts, nil
}

// watchLimits kills the sandbox when it exceeds its limits or when the mounts change: replacing a file outside removes
// the mount that protects it.
func watchLimits(plan *plan, mounts *os.File) {
	wakeEarly()
	reserve := reserves(plan)
	before := threads()
	poll := []unix.PollFd{}
	if mounts != nil {
		poll = []unix.PollFd{{Fd: int32(mounts.Fd()), Events: unix.POLLPRI}}
	}
	defer runtime.KeepAlive(mounts) // or the garbage collector closes it, and poll returns
	for turn := 1; ; turn++ {
		n, err := unix.Poll(poll, int(tick/time.Millisecond))
		if err != nil && err != unix.EINTR || n > 0 {
			end(128+int(unix.SIGKILL), uncovered)
		}
		if isUsual := threads() < before+plan.Limits.Processes; isUsual && turn%5 > 0 {
			continue
		}
		if why := exceeds(plan.Limits, reserve); why != "" {
			verdict.Store(&why)
			_ = unix.Kill(-1, unix.SIGKILL) // at once: this process may take long to end
			end(128+int(unix.SIGKILL), why)
		}
	}
}

// wakeEarly makes this thread run soon after it wakes, even among thousands: since Linux 6.12, by short time slices.
func wakeEarly() {
	runtime.LockOSThread()
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Runtime: 100_000}, 0)
}

// threads counts the threads of the whole machine, which is cheap.
func threads() int {
	var s unix.Sysinfo_t
	_ = unix.Sysinfo(&s)
	return int(s.Procs)
}

// reserves returns how many bytes must stay free in each writable folder: at most half of what is free now.
func reserves(plan *plan) map[string]uint64 {
	out := map[string]uint64{}
	if plan.Limits.Free == 0 {
		return out
	}
	for _, m := range plan.Mounts {
		if m.Kind == bind && m.Write || m.Kind == overlay && m.Upper != "" {
			free, err := free(m.To)
			if err != nil {
				continue
			}
			if out[m.To] = uint64(plan.Limits.Free); free < out[m.To] {
				out[m.To] = free / 2
			}
		}
	}
	return out
}

func free(path string) (uint64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(path, &s)
	return s.Bavail * uint64(s.Bsize), err
}

func exceeds(l limits, reserve map[string]uint64) string {
	for path, least := range reserve {
		if is, err := free(path); err == nil && is < least {
			return "it fills the disk that " + path + " is on"
		}
	}
	processes, err := processes()
	if err != nil { // for example because a command has limited what this process may open
		return "nobody can count its processes: " + err.Error()
	}
	if l.Processes > 0 && len(processes) > l.Processes {
		return fmt.Sprintf("it has more than %d processes", l.Processes)
	}
	if l.Memory > 0 && memoryOf(processes) > l.Memory {
		return fmt.Sprintf("it takes more than %d MB of memory", l.Memory>>20)
	}
	return ""
}

func processes() ([]string, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return slices.DeleteFunc(names, func(name string) bool {
		pid, err := strconv.Atoi(name)
		return err != nil || unix.Kill(pid, 0) != nil
	}), err
}

func memoryOf(processes []string) (sum int64) {
	for _, name := range processes {
		text, err := os.ReadFile(filepath.Join("/proc", name, "statm"))
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 3 { // it has ended
			continue
		}
		resident, _ := strconv.ParseInt(fields[1], 10, 64)
		shared, _ := strconv.ParseInt(fields[2], 10, 64)
		sum += (resident - shared) * int64(os.Getpagesize())
	}
	return sum
}
