package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nod/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "attack":
			attack(os.Args[2:])
		case "contain":
			contain(os.Args[2:])
		}
	}
	os.Exit(m.Run())
}

// engine is one that works, or the end of a test.
func engine(t testing.TB, kind sandbox.Kind) *sandbox.Engine {
	t.Helper()
	e, err := found[kind]()
	if err != nil && os.Getenv("NOD_SANDBOX") == "1" {
		t.Fatalf("NOD_SANDBOX=1, but commands cannot be run in a sandbox: %v", err)
	} else if err != nil {
		t.Skipf("NOT TESTED: commands cannot be run in a sandbox: %v", err)
	}
	return e
}

var found = map[sandbox.Kind]func() (*sandbox.Engine, error){
	sandbox.Bubblewrap: find(sandbox.Bubblewrap), sandbox.Landlock: find(sandbox.Landlock),
}

func find(kind sandbox.Kind) func() (*sandbox.Engine, error) {
	return sync.OnceValues(func() (*sandbox.Engine, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return sandbox.Try(context.Background(), kind, self)
	})
}

// inEach runs a test in a world of each kind of sandbox.
func inEach(t *testing.T, name string, test func(t *testing.T, w *world)) {
	for kind := range found {
		t.Run(filepath.Join(string(kind), name), func(t *testing.T) { test(t, newWorldOf(t, kind)) })
	}
}

// canary is in every file that a command must not read.
const canary = "CANARY-7f3a"

// world is a user's folders.
type world struct {
	t       testing.TB
	e       *sandbox.Engine
	dir     string
	home    string
	project string
	profile sandbox.Profile
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, sandbox.Bubblewrap)
}

// newWorldOf makes a home folder with secrets, caches and a project. With Landlock its commands only read.
func newWorldOf(t testing.TB, kind sandbox.Kind) *world {
	t.Helper()
	w := &world{t: t, e: engine(t, kind)}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.dir, w.home, w.project = dir, filepath.Join(dir, "home"), filepath.Join(dir, "home/src/shop")
	for name, text := range map[string]string{
		"home/.ssh/id_ed25519": canary, "home/.aws/credentials": canary, "home/other/notes": canary,
		"outside/x":             canary,
		"home/.cache/tool/data": "warm", "home/.cache/token": canary, "home/tools/bin/tool": "#!/bin/sh\necho tool\n",
		"home/tools/secret": canary, "home/src/shop/.env": canary, "home/src/shop/keys/a.pem": canary,
		"home/src/shop/main.go": "package main\n", "home/src/shop/.git/config": "[core]\n",
		"home/src/shop/.git/hooks/pre-commit": "#!/bin/sh\n", "home/src/shop/.envrc": "export A=1\n",
		"home/src/shop/sub/deep/.envrc": "export B=1\n", "home/src/neighbour/main.go": canary,
	} {
		w.write(name, text)
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(w.project, name))
		}
		return paths
	}
	w.profile = sandbox.Profile{
		Project: w.project, Write: !kind.OnlyReads(), Private: filepath.Join(w.home, ".cache/nod/session"),
		Keep: in(".git", ".envrc", "sub/deep/.envrc"), Absent: in(".claude"),
		Hide: append(in(".env", "keys"), w.home+"/tools/secret", w.home+"/.cache/token", w.home+"/.cache/nod"),
		Show: []string{w.home + "/tools"}, Warm: []string{w.home + "/.cache"},
	}
	if err := os.MkdirAll(w.profile.Private, 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) env() []string {
	return []string{"HOME=" + w.home, "PATH=" + w.home + "/tools/bin:/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
}

// command is one of the world's.
func (w *world) command(argv ...string) sandbox.Command {
	return sandbox.Command{Profile: w.profile, Argv: argv, Env: w.env()}
}

// run runs a command, and returns what it wrote.
func (w *world) run(c sandbox.Command) (out string, status int, err error) {
	w.t.Helper()
	return w.runIn(w.t.Context(), c)
}

func (w *world) runIn(ctx context.Context, c sandbox.Command) (out string, status int, err error) {
	w.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(read)
		text <- string(all)
	}()
	c.Stdout, c.Stderr = write, write
	status, err = w.e.Run(ctx, c)
	_ = write.Close()
	out = <-text
	_ = read.Close()
	return out, status, err
}

// sh runs a line of a shell that must not fail to run.
func (w *world) sh(line string) (out string, status int) {
	w.t.Helper()
	out, status, err := w.run(w.command("sh", "-c", line))
	if err != nil {
		w.t.Fatalf("%s: %v: %s", line, err, out)
	}
	return out, status
}

func (w *world) read(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "(missing)"
	} else if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// TestAsOrdinaryUser has an ordinary user run the tests, where root does.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it is one who runs them")
	}
	engine(t, sandbox.Bubblewrap)
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	if err := errors.Join(os.WriteFile(program, text, 0o755), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	for _, name := range redFiles {
		text, err := os.ReadFile(filepath.Join(*red, name))
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.skip", "Toolchains", "-test.timeout", "10m",
		"-red", dir, "-lines", "1")
	cmd.Dir = dir
	cmd.Env = []string{"NOD_SANDBOX=1", "HOME=" + dir, "TMPDIR=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin",
		"GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	for _, name := range []string{"TestEscapes/Landlock", "TestLinesThatDoNotOnlyRead/bubblewrap"} {
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+name)) {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
}

func TestRuns(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		line, out string
		status    int
	}{
		"status":              {"exit 3", "", 3},
		"signal":              {"kill -TERM $$", "", 128 + 15},
		"killed":              {"kill -KILL $$", "", 128 + 9},
		"folder":              {"pwd", w.project + "\n", 0},
		"home":                {"echo $HOME; echo x >~/x && cat ~/x", w.home + "\nx\n", 0},
		"both streams":        {"echo out; echo err >&2", "out\nerr\n", 0},
		"a shown tool":        {"tool", "tool\n", 0},
		"a warm cache":        {"cat ~/.cache/tool/data", "warm", 0},
		"temporary files":     {"echo x >/tmp/x && cat /var/tmp/x", "x\n", 0},
		"shared memory":       {"echo x >/dev/shm/x && cat /dev/shm/x", "x\n", 0},
		"a child in the back": {"(sleep 1000 >&1; echo late) & echo early", "early\n", 0},
		"no terminal":         {"tty; (: </dev/tty) 2>/dev/null || echo none", "not a tty\nnone\n", 0},
		"what is kept":        {"cat .envrc .git/config", "export A=1\n[core]\n", 0},
		"what is hidden":      {"cat .env; ls keys", "", 0},
		"what is absent":      {"ls .claude", "", 0},
		"streams by name":     {"echo x >/dev/stdout; echo y >/dev/stderr", "x\ny\n", 0},
		"a list of processes": {"ls /proc | grep -c '^[0-9]*$' | sed 's/^[3-9]$/few/'", "few\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, status := w.sh(tt.line)
			if out != tt.out || status != tt.status {
				t.Errorf("%q, status %d; want %q, %d", out, status, tt.out, tt.status)
			}
		})
	}
}

// With Landlock a command has what it takes to read.
func TestReads(t *testing.T) {
	w := newWorldOf(t, sandbox.Landlock)
	w.write("home/src/shop/sub/x.txt", "x\n")
	temp := w.profile.Temp()
	for name, tt := range map[string]struct {
		line, out string
		status    int
	}{
		"status":               {"exit 3", "", 3},
		"killed":               {"kill -KILL $$", "", 128 + 9},
		"folder":               {"pwd", w.project + "\n", 0},
		"a shown tool":         {"tool", "tool\n", 0},
		"a cache":              {"cat ~/.cache/tool/data", "warm", 0},
		"what is kept":         {"cat .envrc .git/config", "export A=1\n[core]\n", 0},
		"what is hidden":       {"cat .env keys/a.pem 2>/dev/null; ls keys", "a.pem\n", 0},
		"beside what is":       {"cat main.go sub/x.txt", "package main\nx\n", 0},
		"names":                {"ls; grep -rl package --include=*.go .", "keys\nmain.go\nsub\n./main.go\n", 0},
		"temporary files":      {"echo x >$TMPDIR/x && cat $TMPDIR/x && rm $TMPDIR/x; echo $TMPDIR", "x\n" + temp + "\n", 0},
		"a made temporary one": {"f=$(mktemp) && echo x >$f && mv $f $f.2 && cat $f.2", "x\n", 0},
		"the machine's own":    {"echo x >/tmp/x", "", 2},
		"the project":          {"echo x >made", "", 2},
		"nothing":              {"echo x >/dev/null; head -c 2 /dev/zero | wc -c", "2\n", 0},
		"pipes":                {"bash -c 'cat <(echo x) <<<y; echo z | cat /dev/stdin'", "x\nz\n", 0},
		"a child in the back":  {"(sleep 1000 >&1; echo late) & echo early", "early\n", 0},
		"one that leaves":      {"setsid -f sleep 1000; echo early", "early\n", 0},
		"a program of many":    {"git --version | cut -c-3; sort </dev/null; awk 'BEGIN{print 1}'", "git\n1\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, status := w.sh("exec 2>/dev/null; " + tt.line)
			if out != tt.out || status != tt.status {
				t.Errorf("%q, status %d; want %q, %d", out, status, tt.out, tt.status)
			}
		})
	}
	w.profile.Write = true
	_, _, err := w.run(w.command("true"))
	if err == nil || !strings.Contains(err.Error(), "a command that writes can't be contained") {
		t.Errorf("with a project to write: %v", err)
	}
}

func TestDoesNotStart(t *testing.T) {
	w := newWorld(t)
	folder, err := os.Open(w.home)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	w.write("link/x", "")
	if err := os.Symlink(filepath.Join(w.dir, "outside"), filepath.Join(w.project, "way")); err != nil {
		t.Fatal(err)
	}
	in := func(name string) []string { return []string{w.project + "/" + name} }
	datagrams, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(datagrams[0]), "datagrams")
	defer socket.Close()
	defer unix.Close(datagrams[1])
	for name, tt := range map[string]struct {
		change func(*sandbox.Command)
		status int
		want   string
	}{
		"unknown program":  {func(c *sandbox.Command) { c.Argv = []string{"none"} }, 127, "none: not found"},
		"no program":       {func(c *sandbox.Command) { c.Argv = []string{"./main.go"} }, 126, "exec format"},
		"no command":       {func(c *sandbox.Command) { c.Argv = nil }, 0, "no command"},
		"elsewhere":        {func(c *sandbox.Command) { c.Dir = w.dir + "/outside" }, 127, "not found"},
		"a folder as file": {func(c *sandbox.Command) { c.Stdin = folder }, 0, "is a directory"},
		"a socket as file": {func(c *sandbox.Command) { c.Stdin = socket }, 0, "non-socket"},
		"the home folder":  {func(c *sandbox.Command) { c.Profile.Project = w.home }, 0, "contains your home folder"},
		"the system": {func(c *sandbox.Command) {
			c.Profile = sandbox.Profile{Project: "/usr", Private: w.profile.Private}
		}, 0, "belongs to the system"},
		"all": {func(c *sandbox.Command) {
			c.Profile = sandbox.Profile{Project: "/", Private: w.profile.Private}
		}, 0, "contains your home folder"},
		"home shown":       {func(c *sandbox.Command) { c.Profile.Show = []string{w.home} }, 0, "cannot show"},
		"above home shown": {func(c *sandbox.Command) { c.Profile.Warm = []string{w.dir} }, 0, "cannot show"},
		"unclean":          {func(c *sandbox.Command) { c.Profile.Hide = in("../x") }, 0, "not clean"},
		"private inside":   {func(c *sandbox.Command) { c.Profile.Private = w.project + "/p" }, 0, "both in a project"},
		"kept is missing":  {func(c *sandbox.Command) { c.Profile.Keep = in("none") }, 0, "no such file"},
		"hidden missing":   {func(c *sandbox.Command) { c.Profile.Hide = in("none") }, 0, "no such file"},
		"kept by a link":   {func(c *sandbox.Command) { c.Profile.Keep = in("way/x") }, 0, "symbolic links"},
		"hidden by a link": {func(c *sandbox.Command) { c.Profile.Hide = in("way/x") }, 0, "symbolic links"},
		"kept elsewhere":   {func(c *sandbox.Command) { c.Profile.Keep = []string{w.home + "/x"} }, 0, "is not in"},
		"project by a link": {func(c *sandbox.Command) {
			c.Dir, c.Profile = "/", sandbox.Profile{Project: w.project + "/way", Private: w.profile.Private}
		}, 0, "symbolic links"},
		"nobody to watch": {func(c *sandbox.Command) { c.Watch = 1 << 30 }, 0, "watch process"},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.command("touch", filepath.Join(w.project, "ran"))
			tt.change(&c)
			status, err := w.e.Run(t.Context(), c)
			if err == nil || status != tt.status || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("status %d: %v", status, err)
			}
			if w.read("home/src/shop/ran") != "(missing)" {
				t.Error("it ran")
			}
		})
	}
}

func TestBigOutput(t *testing.T) {
	w := newWorld(t)
	const size = 64 << 20
	out, status := w.sh(fmt.Sprintf("head -c %d /dev/zero", size))
	if len(out) != size || status != 0 {
		t.Errorf("%d bytes, status %d", len(out), status)
	}
}

// TestChanges sees what a command leaves outside: files in the project, and nothing else.
func TestChanges(t *testing.T) {
	w := newWorld(t)
	w.sh("echo x >made; echo x >~/.cache/tool/data; echo x >~/.cache/new; rm ~/.cache/tool/data; echo x >~/made; " +
		"mkdir .claude/x; echo x >/tmp/made")
	for name, want := range map[string]string{
		"home/src/shop/made": "x\n", "home/.cache/tool/data": "warm", "home/.cache/new": "(missing)",
		"home/made": "(missing)", "home/.cache/nod/session/tmp/made": "x\n",
	} {
		if is := w.read(name); is != want {
			t.Errorf("%s: %q", name, is)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.project, ".claude")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".claude stays: %v", err)
	}
	if out, _ := w.sh("cat ~/.cache/new /tmp/made; cat ~/.cache/tool/data 2>/dev/null; ls -A ~"); out !=
		"x\nx\n.cache\nsrc\ntools\n" {
		t.Errorf("the next command sees %q", out)
	}
	w.profile.Write = false
	if out, status := w.sh("echo x >more; echo x >made"); status == 0 || w.read("home/src/shop/made") != "x\n" {
		t.Errorf("changes what it may only read: %s", out)
	}
}

// A command may have made the links of the project: they lead to nothing that is shown.
func TestShowsNothingByLinksOfTheProject(t *testing.T) {
	w := newWorld(t)
	w.write("home/notes/diary", canary)
	for _, link := range []string{"shows", "warms"} {
		if err := os.Symlink(w.home+"/notes", filepath.Join(w.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("src/shop/shows", w.home+"/way"); err != nil {
		t.Fatal(err)
	}
	w.profile.Show = append(w.profile.Show, w.project+"/shows", w.home+"/way")
	w.profile.Warm = append(w.profile.Warm, w.project+"/warms")
	if out, status := w.sh("cat ~/notes/* shows/* warms/* ~/way/*"); status == 0 || strings.Contains(out, canary) {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestCachesOfTwo has a command run while another has the caches.
func TestCachesOfTwo(t *testing.T) {
	w := newWorld(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := w.command("sh", "-c", "echo first >~/.cache/x; echo ready; read _; cat ~/.cache/x")
	in, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdin, c.Stdout = in, write
	done := make(chan error)
	go func() {
		_, err := w.e.Run(t.Context(), c)
		done <- errors.Join(err, write.Close())
	}()
	line := make([]byte, 6)
	if _, err := io.ReadFull(read, line); err != nil {
		t.Fatal(err)
	}
	out, _ := w.sh("cat ~/.cache/x ~/.cache/tool/data; echo second >~/.cache/x; ls -d .claude")
	if !strings.HasSuffix(out, "warm.claude\n") || strings.Contains(out, "first") {
		t.Errorf("the second command sees %q", out)
	}
	if _, err := os.Lstat(filepath.Join(w.project, ".claude")); err != nil {
		t.Errorf("what the first command must not see come to be is uncovered: %v", err)
	}
	_ = tell.Close()
	rest, _ := io.ReadAll(read)
	if err := <-done; err != nil || string(rest) != "first\n" {
		t.Errorf("%q: %v", rest, err)
	}
}

// contain is a process that runs a command in a sandbox, to be killed. Its arguments are a kind of sandbox, a home
// folder, a project, a process to watch, and a line of a shell.
func contain(args []string) {
	self, _ := os.Executable()
	kind := sandbox.Kind(args[0])
	args = args[1:]
	e, err := sandbox.New(kind, self)
	if err != nil {
		panic(err)
	}
	var watch int
	_, _ = fmt.Sscan(args[2], &watch)
	status, err := e.Run(context.Background(), sandbox.Command{
		Profile: sandbox.Profile{
			Project: args[1], Write: !kind.OnlyReads(), Absent: []string{args[1] + "/.claude"},
			Private: args[0] + "/.cache/nod/session", Warm: []string{args[0] + "/.cache/tool"},
		},
		Argv: []string{"sh", "-c", args[3]}, Env: []string{"HOME=" + args[0], "PATH=/usr/bin:/bin"}, Watch: watch,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		fmt.Println(err)
	}
	os.Exit(status)
}

// container starts such a process. What it and its command write ends when all of them have ended.
func (w *world) container(watch int, line string) (cmd *exec.Cmd, out *os.File) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	kind := w.e.Kind()
	cmd = exec.Command(self, "contain", string(kind), w.home, w.project, fmt.Sprint(watch), line)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + w.home}
	cmd.Stdout, cmd.Stderr = write, write
	if err := errors.Join(cmd.Start(), write.Close()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = read.Close() })
	_ = read.SetReadDeadline(time.Now().Add(time.Minute)) // of a test that fails
	return cmd, read
}

func (w *world) hears(out *os.File, want string) {
	w.t.Helper()
	is := make([]byte, len(want))
	if _, err := io.ReadFull(out, is); err != nil || string(is) != want {
		w.t.Fatalf("it says %q: %v", is, err)
	}
}

// endless has children that keep what they write to, in sessions of their own. It waits as shells can be interrupted.
const endless = "trap exit INT TERM; setsid sleep 1000 & (trap '' TERM INT HUP; sleep 1000) & echo ready; wait"

func TestEnds(t *testing.T) {
	ends := map[string]func(w *world, cmd, watched *os.Process) error{
		"with who started it":     func(_ *world, cmd, _ *os.Process) error { return cmd.Kill() },
		"with whom it watches":    func(_ *world, _, watched *os.Process) error { return watched.Kill() },
		"with its signal":         func(_ *world, cmd, _ *os.Process) error { return cmd.Signal(syscall.SIGTERM) },
		"when interrupted":        func(_ *world, cmd, _ *os.Process) error { return cmd.Signal(syscall.SIGINT) },
		"when a place is exposed": func(w *world, _, _ *os.Process) error { return os.Remove(w.project + "/.claude") },
	}
	for name, end := range ends {
		inEach(t, name, func(t *testing.T, w *world) {
			if w.e.Kind() == sandbox.Landlock && name == "when a place is exposed" {
				t.Skip("nothing is covered")
			}
			watched := exec.Command("sleep", "1000")
			if err := watched.Start(); err != nil {
				t.Fatal(err)
			}
			defer watched.Wait()
			defer watched.Process.Kill()
			cmd, out := w.container(watched.Process.Pid, endless)
			w.hears(out, "ready\n")
			if err := end(w, cmd.Process, watched.Process); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(out); err != nil {
				t.Errorf("something runs on: %v", err)
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) { inEach(t, "", endsWithItsContext) }

func endsWithItsContext(t *testing.T, w *world) {
	ctx, cancel := context.WithCancel(t.Context())
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := w.command("sh", "-c", endless)
	c.Stdout = write
	go func() {
		_, _ = io.ReadFull(read, make([]byte, 6))
		cancel()
	}()
	if status, err := w.e.Run(ctx, c); status != 128+9 || !errors.Is(err, context.Canceled) {
		t.Errorf("status %d: %v", status, err)
	}
	_ = write.Close()
	if _, err := io.ReadAll(read); err != nil {
		t.Error(err)
	}
	if status, err := w.e.Run(ctx, w.command("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("status %d: %v", status, err)
	}
}

func TestHold(t *testing.T) { inEach(t, "", holds) }

// A command that must not start has done nothing, and why is said.
func holds(t *testing.T, w *world) {
	why := errors.New("no snapshot")
	for _, held := range []error{why, nil} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := w.command("echo", "ran")
		c.Stdout, c.Hold = write, func() error { return held }
		status, err := w.e.Run(t.Context(), c)
		_ = write.Close()
		if text, _ := io.ReadAll(read); status != 0 || !errors.Is(err, held) || (len(text) == 0) != (held != nil) {
			t.Errorf("held by %v: status %d, %v: %s", held, status, err, text)
		}
	}
}

func TestSignals(t *testing.T) { inEach(t, "", forwardsSignals) }

func forwardsSignals(t *testing.T, w *world) {
	cmd, out := w.container(0, "trap 'echo stopping; exit 7' INT; echo ready; while :; do sleep 0.05; done")
	w.hears(out, "ready\n")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	_ = cmd.Wait()
	if string(rest) != "stopping\n" || err != nil || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%q, %v: %v", rest, cmd.ProcessState, err)
	}
}

// Under nohup, a terminal that closes ends no command.
func TestIgnoredSignals(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	inEach(t, "", func(t *testing.T, w *world) {
		cmd, out := w.container(0, "trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done")
		w.hears(out, "ready\n")
		if err := errors.Join(cmd.Process.Signal(syscall.SIGHUP), cmd.Process.Signal(syscall.SIGINT)); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 7 {
			t.Error(cmd.ProcessState)
		}
	})
}

func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		limits sandbox.Limits
		line   string
		want   string // why it ends, if it does not by itself
	}{
		"processes": {sandbox.Limits{Processes: 200}, "for i in $(seq 600); do sleep 1000 & done; wait", "processes"},
		"memory":    {sandbox.Limits{Memory: 200 << 20}, "head -c 1G /dev/zero | tail", "memory"},
		"disk":      {sandbox.Limits{}, "head -c 1T /dev/zero >big", "disk"},
		"private":   {sandbox.Limits{}, "head -c 1T /dev/zero >/tmp/big", "disk"},
		"caches":    {sandbox.Limits{}, "head -c 1T /dev/zero >~/.cache/big", "disk"},
	} {
		inEach(t, name, func(t *testing.T, w *world) {
			line := strings.ReplaceAll(tt.line, "/tmp/", w.e.Temp(&w.profile)+"/")
			if w.e.Kind() == sandbox.Landlock && line == tt.line && tt.want == "disk" {
				t.Skip("it writes there to nothing")
			}
			var disk syscall.Statfs_t
			if err := syscall.Statfs(w.project, &disk); err != nil {
				t.Fatal(err)
			}
			if w.profile.Limits = tt.limits; tt.want == "disk" {
				w.profile.Limits.Free = int64(disk.Bavail)*disk.Bsize - 200<<20
			}
			out, status, err := w.run(w.command("sh", "-c", line))
			if status == 2 && strings.Contains(out, "Cannot fork") {
				return // the kernel was quicker
			}
			if status != 128+9 || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("status %d: %v", status, err)
			}
		})
	}
}

// A command that takes long ends by itself, however often its limits were looked at.
func TestTakesLong(t *testing.T) {
	inEach(t, "", func(t *testing.T, w *world) {
		w.profile.Limits = sandbox.Limits{Memory: 32 << 30} // looked at each time, and in each process
		if out, status := w.sh("for i in $(seq 200); do sleep 3 & done; wait"); status != 0 {
			t.Errorf("status %d: %s", status, out)
		}
	})
}

func BenchmarkTrue(b *testing.B) {
	for kind := range found {
		w := newWorldOf(b, kind)
		b.Run(string(kind), func(b *testing.B) {
			for b.Loop() {
				if status, err := w.e.Run(b.Context(), w.command("true")); status != 0 || err != nil {
					b.Fatal(status, err)
				}
			}
		})
	}
	b.Run("bubblewrap alone", func(b *testing.B) {
		for b.Loop() {
			err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
				"true").Run()
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A package manager replaces what it installed, whatever the packages bring along.
func TestReplacesDependencies(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"node_modules/x/.envrc", "deps/y/.git/config"} {
		w.write("home/src/shop/"+name, "x")
	}
	found, err := sandbox.Survey(w.project, isSecret, isGuarded)
	if err != nil {
		t.Fatal(err)
	}
	w.profile.Keep, w.profile.Hide = found.Keep, append(w.profile.Hide, found.Hide...)
	out, status := w.sh("rm -r node_modules deps && mkdir -p node_modules/x deps/y/.git && echo y >node_modules/x/.envrc")
	if status != 0 || w.read("home/src/shop/node_modules/x/.envrc") != "y\n" {
		t.Errorf("status %d: %s", status, out)
	}
	if moved, err := sandbox.Expel(&w.profile, isGuarded); err != nil || len(moved) > 0 {
		t.Errorf("moved %q, %v", moved, err)
	}
}
