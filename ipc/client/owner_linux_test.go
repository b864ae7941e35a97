package client

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nod/ipc/endpoint"
)

// nobody is a user that owns nothing.
const nobody = 65534

// TestMain is also the fake nod-desktop that TestForeignServer runs as another user.
func TestMain(m *testing.M) {
	if address, fake := os.LookupEnv("NOD_TEST_FAKE"); fake {
		serveFake(address)
		return
	}
	os.Exit(m.Run())
}

// serveFake says where it listens, allows everything, and reports what it is asked on standard output.
func serveFake(address string) {
	network := "tcp"
	if strings.HasPrefix(address, "/") {
		network = "unix"
	}
	l, err := net.Listen(network, address)
	if err != nil {
		os.Stdout.WriteString("failed: " + err.Error() + "\n")
		return
	}
	os.Stdout.WriteString(l.Addr().String() + "\n")
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		os.Stdout.WriteString("asked " + r.URL.Path + "\n")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok","version":"1","pending":0}`)
	}))
	io.Copy(io.Discard, os.Stdin) // until the test is over
}

// startFake runs the fake as user uid and returns where it listens, and how to stop it and hear what it was
// asked.
func startFake(t *testing.T, address string, uid uint32) (at string, stop func() string) {
	t.Helper()
	// The link is followed by the kernel: the test's binary may lie where uid cannot go.
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"NOD_TEST_FAKE=" + address}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, NoSetGroups: true}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("cannot run a program as user %d: %v", uid, err)
	}
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err != nil || strings.HasPrefix(line, "failed") {
		t.Fatalf("the fake does not start: %q, %v", line, err)
	}
	return strings.TrimSpace(line), func() string {
		stdin.Close()
		asked, _ := io.ReadAll(out)
		cmd.Wait()
		return string(asked)
	}
}

// TestForeignServer: a server of another user that sits on nod's socket or port is not even asked.
func TestForeignServer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	dir, err := os.MkdirTemp("", "nod")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		address string
		uid     uint32
		want    error
	}{
		"socket, foreign": {filepath.Join(dir, "a"), nobody, ErrForeign},
		"socket, ours":    {filepath.Join(dir, "b"), 0, nil},
		"port, foreign":   {"127.0.0.1:0", nobody, ErrForeign},
		"port, ours":      {"127.0.0.1:0", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			at, stop := startFake(t, test.address, test.uid)
			c := &Client{Endpoint: endpoint.Endpoint{URL: "http://127.0.0.1:7463", Socket: at, Token: "secret"}}
			if !strings.HasPrefix(at, "/") {
				c.Endpoint.URL, c.Endpoint.Socket = "http://"+at, ""
			}
			_, err := c.Health(t.Context())
			asked := stop()
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if wasAsked := asked != ""; wasAsked != (test.want == nil) {
				t.Errorf("it was asked: %q", asked)
			}
		})
	}
}
