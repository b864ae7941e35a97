package shell_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nod/policy/shell"
)

// What one command may use.
const (
	maxTime   = 5 * time.Second // of the processors, or of waiting for nothing
	maxOutput = 64 << 20
	maxMemory = 512 << 20 // resident, of the largest process
	addresses = 4 << 30   // of each process
	maxTrace  = 64 << 20  // of each file that it writes, strace's among them
)

// driverEnv makes the test binary the program that runs commands inside the sandbox.
const driverEnv = "NOD_SANDBOX_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(driverEnv) != "" {
		if err := drive(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// job is one command to run, with what was said of it.
type job struct {
	Shell    []string // the words before the command
	Command  string
	Programs []string
	Accesses []shell.Access
	Limit    time.Duration // 0: maxTime
	Words    bool          // the report holds what the command wrote, and nothing else
}

// report is what a command did that it should not.
type report struct {
	Findings []string
	Changed  bool   // the world is no longer as it was
	Skipped  string // why it was not run
	Output   string
}

// sandbox is a world of its own, and in it a driver that runs commands.
type sandbox struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	jobs   *json.Encoder
	report *json.Decoder
	stderr bytes.Buffer
}

// openSandbox makes a world below dir and starts a driver in it. Everything outside of the world is read-only, there
// is no network, and all ends with the test.
func openSandbox(dir string) (*sandbox, error) {
	world, err := os.MkdirTemp(dir, "world")
	if err != nil {
		return nil, err
	}
	if err := makeWorld(world); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &sandbox{cmd: exec.Command("bwrap", bwrapFlags(world, self)...)}
	s.cmd.Stderr = &s.stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.jobs, s.report = json.NewEncoder(s.in), json.NewDecoder(out)
	return s, s.cmd.Start()
}

func bwrapFlags(world, self string) []string {
	flags := []string{"--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000",
		"--hostname", "sandbox",
		"--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev"}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if to, err := os.Readlink(name); err == nil {
			flags = append(flags, "--symlink", to, name)
		} else if _, err := os.Stat(name); err == nil {
			flags = append(flags, "--ro-bind", name, name)
		}
	}
	if fd, err := exec.LookPath("fdfind"); err == nil { // as Debian calls fd
		flags = append(flags, "--symlink", fd, "/opt/bin/fd")
	}
	return append(flags, "--size", strconv.Itoa(maxTrace), "--tmpfs", "/tmp", "--tmpfs", "/trace",
		"--bind", world, worldRoot, "--ro-bind", self, "/driver", "--remount-ro", "/",
		"--clearenv", "--setenv", driverEnv, "1", "--setenv", "PATH", "/usr/bin:/bin", "--chdir", project, "/driver")
}

func (s *sandbox) run(j job) (report, error) {
	var out report
	if err := s.jobs.Encode(j); err != nil {
		return out, fmt.Errorf("%w: %s", err, s.stderr.String())
	}
	if err := s.report.Decode(&out); err != nil {
		return out, fmt.Errorf("%w: %s", err, s.stderr.String())
	}
	return out, nil
}

func (s *sandbox) close() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// needSandbox skips a test where no sandbox can be made, unless NOD_SANDBOX=1 demands it.
func needSandbox(t testing.TB) {
	t.Helper()
	if err := sandboxWorks(); err != nil {
		if os.Getenv("NOD_SANDBOX") == "1" {
			t.Fatalf("NOD_SANDBOX=1, but commands cannot be run in a sandbox: %v", err)
		}
		t.Skipf("commands cannot be run in a sandbox: %v", err)
	}
}

var sandboxWorks = sync.OnceValue(func() error {
	for _, name := range []string{"bwrap", "strace", "prlimit", "bash", "zsh", "dash", "git", "tar", "gzip"} {
		if _, err := exec.LookPath(name); err != nil {
			return err
		}
	}
	try := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
		"strace", "-qq", "-o", "/dev/null", "true")
	if out, err := try.CombinedOutput(); err != nil {
		return fmt.Errorf("namespaces or tracing: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
})

// drive runs the commands that it reads, one after the other, and writes a report on each.
func drive(in io.Reader, out io.Writer) error {
	jobs, reports := json.NewDecoder(in), json.NewEncoder(out)
	before, err := snapshot(worldRoot)
	if err != nil {
		return err
	}
	for {
		var j job
		if err := jobs.Decode(&j); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		r, after, err := perform(j, before)
		if err != nil {
			return err
		}
		before = after
		if err := reports.Encode(r); err != nil {
			return err
		}
	}
}

// perform runs one command and looks at what it did. It returns the world as it is afterwards.
func perform(j job, before map[string]string) (report, map[string]string, error) {
	reach := readReach(j.Accesses)
	if reach.odd != "" {
		return report{Skipped: reach.odd + " is no ordinary file"}, before, nil
	}
	out, findings := execute(j, cmp.Or(j.Limit, maxTime))
	if j.Words {
		return report{Output: string(out.text)}, before, nil
	}
	events, err := readTrace("/trace")
	if err != nil {
		return report{}, nil, err
	}
	findings = append(findings, judge(j, events, reach)...)
	findings = append(findings, leaks(out.text, reach)...)
	after, err := snapshot(worldRoot)
	if err != nil {
		return report{}, nil, err
	}
	changed := changes(j, before, after)
	for _, path := range changed {
		findings = append(findings, "changes "+path)
	}
	left, err := clear("/tmp")
	if err != nil {
		return report{}, nil, err
	}
	if len(left) > 0 {
		findings = append(findings, fmt.Sprintf("leaves %d files in /tmp, among them %s", len(left), left[0]))
	}
	return report{Findings: findings, Changed: len(changed) > 0}, after, nil
}

// changes are the paths of the world that are no longer as they were. git may write down in its index what it learned.
func changes(j job, before, after map[string]string) []string {
	var out []string
	git := slices.Contains(j.Programs, "git")
	for _, path := range differences(before, after) {
		info, err := os.Lstat(path)
		// A lock that comes and goes leaves its folder with another time, not another mode.
		locked := err == nil && info.IsDir() && indexLock.MatchString(path+"/index") &&
			before[path] != "" && strings.Fields(before[path])[1] == strings.Fields(after[path])[1]
		if !git || !indexLock.MatchString(path) && !locked {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// The findings about a command that was stopped.
const (
	endless = "does not end"
	flood   = "writes more than 64 MB"
	greed   = "takes all memory"
)

// costly reports whether a finding took long.
func costly(finding string) bool { return finding == endless || finding == flood || finding == greed }

// execute runs a command under strace, which ends only when all that the command started has ended; one that is about
// its words, without.
func execute(j job, limit time.Duration) (*sink, []string) {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	out := &sink{flooded: func() { end(nil) }}
	if _, err := clear("/trace"); err != nil {
		return out, []string{err.Error()}
	}
	words := []string{"--core=0", "--as=" + strconv.Itoa(addresses), "--fsize=" + strconv.Itoa(maxTrace), "--"}
	if !j.Words {
		words = append(words, "strace", "-ff", "--seccomp-bpf", "-qqq", "-y", "-x", "-s", "4096", "-e", "signal=none",
			"-e", "trace="+traced, "-o", "/trace/t")
	}
	cmd := exec.CommandContext(ctx, "prlimit", append(append(words, j.Shell...), j.Command)...)
	cmd.Dir, cmd.Env = project, commandEnv
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = killAll
	cmd.WaitDelay = time.Second
	go watch(ctx, limit, end)
	_ = cmd.Run() // grep fails when nothing matches
	if cmd.ProcessState == nil {
		return out, []string{"cannot be started"}
	}
	var findings []string
	switch {
	case out.size > maxOutput:
		findings = append(findings, flood)
	case context.Cause(ctx) == errEndless:
		findings = append(findings, endless)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if ok && usage.Maxrss<<10 > maxMemory || noMemory.Match(out.text) {
		findings = append(findings, greed)
	}
	return out, findings
}

var errEndless = errors.New(endless)

// watch ends a command that has had more of the processors than limit, or for as long has done nothing at all. A busy
// machine, where a command gets its share late, is no finding.
func watch(ctx context.Context, limit time.Duration, end context.CancelCauseFunc) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	begin, moved := processorTime(), time.Now()
	used := begin
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if is := processorTime(); is != used {
				used, moved = is, now
			}
			if used-begin > limit || now.Sub(moved) > limit {
				end(errEndless)
				return
			}
		}
	}
}

// processorTime is what the processes of the sandbox but this one have had of the processors, with those that they have
// seen end.
func processorTime() (sum time.Duration) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		_, after, _ := bytes.Cut(text, []byte(") "))
		fields := strings.Fields(string(after))
		if err != nil || len(fields) < 15 || path == fmt.Sprintf("/proc/%d/stat", os.Getpid()) {
			continue // it has ended
		}
		for _, field := range fields[11:15] { // in user mode and in the system's, its own and its children's
			ticks, _ := strconv.Atoi(field)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}

var noMemory = regexp.MustCompile(`(?i)memory exhausted|cannot allocate memory|out of memory`)

// commandEnv is the environment of the commands. What it names would be run by programs that look for such settings.
var commandEnv = []string{"PATH=" + worldRoot + "/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin", "HOME=" + home,
	"LC_ALL=C.UTF-8", "USER=n", "TZ=UTC",
	"PAGER=trap", "GIT_PAGER=trap", "MANPAGER=trap", "EDITOR=trap", "VISUAL=trap", "GIT_EDITOR=trap",
	"BROWSER=trap", "LESSOPEN=|trap %s",
	"GIT_CONFIG_NOSYSTEM=1", "NOD_CANARY=" + canaryMark + "/environment"}

// killAll ends all processes of the sandbox but its first and this one.
func killAll() error { return syscall.Kill(-1, syscall.SIGKILL) }

// clear empties a folder and says what was in it.
func clear(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// sink counts what a command writes and keeps the beginning.
type sink struct {
	size    int
	text    []byte
	flooded func()
}

func (s *sink) Write(p []byte) (int, error) {
	s.size += len(p)
	if room := 1<<20 - len(s.text); room > 0 {
		s.text = append(s.text, p[:min(room, len(p))]...)
	}
	if s.size > maxOutput {
		s.flooded()
		return 0, errors.New("too much output")
	}
	return len(p), nil
}

var markedText = regexp.MustCompile(canaryMark + `([\w./]+)`)

// leaks finds the secrets that a command shows without being said to read them.
func leaks(text []byte, r reach) []string {
	var out []string
	for _, m := range markedText.FindAllSubmatch(text, -1) {
		if path := string(m[1]); !r.covers(path) && !slices.Contains(out, "shows the secret of "+path) {
			out = append(out, "shows the secret of "+path)
		}
	}
	return out
}
