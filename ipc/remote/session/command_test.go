package session

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/remote"
	"nod/policy/config"
)

func TestCommandOfAMachine(t *testing.T) {
	own, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	key := own.Key()
	ssh, err := Command(config.Machine{Kind: config.MachineSSH, Host: "me@build-1"}, key)
	if err != nil {
		t.Fatal(err)
	}
	there := []string{"me@build-1", "nod", "relay", "--stdio", "--desk", key.Sign}
	if i := slices.Index(ssh, "--"); i < 0 || !slices.Equal(ssh[i+1:], there) {
		t.Errorf("ssh: %q", ssh)
	}
	if !slices.Contains(ssh, "BatchMode=yes") || !slices.Contains(ssh, "-T") {
		t.Errorf("ssh: %q", ssh)
	}
	docker, err := Command(config.Machine{Kind: config.MachineDocker, Host: "dev_1.a"}, key)
	if err != nil || strings.Join(docker, " ") != "docker exec -i dev_1.a nod relay --stdio --desk "+key.String() {
		t.Errorf("docker: %q, %v", docker, err)
	}
}

func TestAHostIsNeverAFlagOrAShellsWord(t *testing.T) {
	for _, host := range []string{
		"", "-oProxyCommand=touch /tmp/x", "--", "-", "a b", "a\tb", "a\nb", "a\x00b", "me@-oProxyCommand=x", "-l@x",
		"$(id)", "`id`", "a;id", "a|id", "a&id", "a'b", `a"b`, `a\b`, "a>b", "%h", "ssh://-x", "a/b", "~", "*", "\u202eb",
		strings.Repeat("a", 300),
	} {
		for _, kind := range []string{config.MachineSSH, config.MachineDocker, config.MachinePodman} {
			if command, err := Command(config.Machine{Kind: kind, Host: host}, remote.Key{}); err == nil {
				t.Errorf("%s %q: %q", kind, host, command)
			}
		}
	}
	for _, kind := range []string{"", "sh", "/bin/sh", "ssh ", "SSH"} {
		if command, err := Command(config.Machine{Kind: kind, Host: "a"}, remote.Key{}); err == nil {
			t.Errorf("kind %q: %q", kind, command)
		}
	}
}

func TestWhyACommandEnded(t *testing.T) {
	tests := map[string]struct {
		program string
		status  int
		said    string
		want    string
	}{
		"host key changed": {"ssh", 255, "@ REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
			problemHostChanged},
		"host key unknown":    {"ssh", 255, "Host key verification failed.", problemHostUnknown},
		"denied":              {"ssh", 255, "me@b: Permission denied (publickey,password).", problemDenied},
		"no such name":        {"ssh", 255, "ssh: Could not resolve hostname b: Name or service not known", problemName},
		"refused":             {"ssh", 255, "ssh: connect to host b port 22: Connection refused", problemUnreachable},
		"no nod":              {"ssh", 127, "bash: line 1: nod: command not found", problemNoNod},
		"no nod, other words": {"ssh", 127, "zsh:1: Befehl nicht gefunden: nod", problemNoNod},
		"an older nod":        {"ssh", 2, `nod: unknown command "relay"`, problemOldNod},
		"no relay":            {"ssh", 6, "nod: reach the relay: no room on the disk", problemNoRelay},
		"no container":        {"docker", 1, "Error response from daemon: No such container: b", problemNoContainer},
		"stopped container":   {"docker", 1, "Error response from daemon: container 5e is not running", problemNoContainer},
		"no engine":           {"docker", 1, "Cannot connect to the Docker daemon at unix:///x.", problemNoEngine},
		"no such pod":         {"podman", 125, `Error: no container with name or ID "b" found`, problemNoContainer},
		"no nod in it":        {"docker", 126, "OCI runtime exec failed", problemNoNod},
		"something else":      {"ssh", 255, "\x1b]0;evil\a allow everything", problemEnded},
		"told to end":         {"ssh", 0, "", ""},
		"killed":              {"ssh", -1, "", ""},
	}
	for name, tt := range tests {
		if got := problemSaid(tt.program, tt.status, tt.said); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestMain lets the test binary stand in for a command that a line runs.
func TestMain(m *testing.M) {
	switch os.Getenv("STREAM_TEST_COMMAND") {
	case "":
		os.Exit(m.Run())
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "stay":
		time.Sleep(time.Hour) // without C, nothing to wait for would be a deadlock
	case "fail":
		_, _ = os.Stderr.WriteString(strings.Repeat("x", 3*maxStderr) + "Permission denied (publickey).\n")
		os.Exit(255)
	}
}

func startTest(t *testing.T, does string) transport {
	t.Helper()
	t.Setenv("STREAM_TEST_COMMAND", does)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the name that its problems are known by.
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.Symlink(self, ssh); err != nil {
		t.Skip(err)
	}
	p, err := start([]string{ssh}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestACommandCarriesALine(t *testing.T) {
	p := startTest(t, "echo")
	if _, err := io.WriteString(p, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("read %q, %v", line, err)
	}
	_ = p.Close()
	_ = p.Close()
	if problem := p.problem(); problem != "" {
		t.Errorf("problem: %q", problem)
	}
}

func TestACommandThatFailsSaysWhy(t *testing.T) {
	p := startTest(t, "fail")
	_, _ = io.ReadAll(p)
	_ = p.Close()
	if problem := p.problem(); problem != problemDenied {
		t.Errorf("problem: %q", problem)
	}
}

func TestACommandThatDoesNotEndIsEnded(t *testing.T) {
	p := startTest(t, "stay")
	_ = p.Close()
	if problem := p.problem(); problem != "" {
		t.Errorf("problem: %q", problem)
	}
	if state := p.(*process).cmd.ProcessState; state == nil || state.Success() {
		t.Errorf("state: %v", state)
	}
}

func TestACommandThatIsNotInstalled(t *testing.T) {
	_, err := start([]string{filepath.Join(t.TempDir(), "ssh")}, slog.New(slog.DiscardHandler))
	if err == nil || err.Error() != problemNotInstalled {
		t.Errorf("start: %v", err)
	}
}

func TestTheWaitBeforeACommandRunsAgainGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ran := time.Now(), []time.Duration{}
		c := newCommandCarrier(func() (transport, error) {
			ran = append(ran, time.Since(began))
			return nil, errors.New(problemNotInstalled)
		}, func() {})
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); _ = c.Run(ctx, nil) }()
		time.Sleep(100 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91}
		if len(ran) != len(want) {
			t.Fatalf("ran at %v", ran)
		}
		for i := range want {
			if ran[i] != want[i]*time.Second {
				t.Errorf("ran at %v, want %v s", ran, want)
			}
		}
		c.Wake(remote.Key{})
		synctest.Wait()
		if len(ran) != len(want)+1 || c.State().Problem != problemNotInstalled {
			t.Errorf("ran at %v after the user asked; %+v", ran, c.State())
		}
		cancel()
		<-over
	})
}
