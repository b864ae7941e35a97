package ipc

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nod/interact"
)

// stranger is a user that is neither us nor root.
const stranger = 12345

// callerVariable makes the test program a caller: it sends the request that the variable describes
// ("method url token socket body", one to a line), prints status and reply, and ends.
const callerVariable = "NOD_TEST_CALLER"

func TestMain(m *testing.M) {
	if order := os.Getenv(callerVariable); order != "" {
		if err := call(strings.SplitN(order, "\n", 5)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func call(order []string) error {
	method, url, token, socket, body := order[0], order[1], order[2], order[3], order[4]
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	client := http.DefaultClient
	if socket != "" {
		client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}

// another is this program under another name.
func another(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), name)
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(program, os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return program
}

// callFrom has program send a request, and returns status and reply.
func (d *door) callFrom(program, socket, method, path, body string) string {
	d.t.Helper()
	c := exec.Command(program)
	c.Dir = d.t.TempDir()
	c.Env = append(os.Environ(), callerVariable+"="+strings.Join([]string{method, d.endpoint.URL + path, d.endpoint.Token, socket, body}, "\n"))
	out, err := c.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// Who asks is what the kernel says, whatever the caller says of itself.
func TestRequesterIsVerified(t *testing.T) {
	d := open(t)
	evil := another(t, "evil")
	for name, socket := range map[string]string{"socket": d.endpoint.Socket, "port": ""} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf(`{"question":"%s?","agent":"claude-code","cwd":"/home/claude","detach":true}`, name)
			d.callFrom(evil, socket, "POST", "/v1/ask", body)
			pending := d.broker.Pending()
			who := pending[len(pending)-1].Requester
			if who.Agent != "claude-code" || who.CWD != "/home/claude" {
				t.Errorf("claims: %+v", who)
			}
			p := who.Process
			if p.Exe != evil || p.UID != os.Getuid() || p.PID == int32(os.Getpid()) || p.CWD == "" || p.CWD == who.CWD {
				t.Errorf("verified: %+v, want %s", p, evil)
			}
			self, _ := os.Executable()
			if len(p.Parents) == 0 || p.Parents[0].PID != int32(os.Getpid()) || p.Parents[0].Exe != self {
				t.Errorf("parents: %+v, want this test first", p.Parents)
			}
		})
	}
}

// The requests of one program are none of another's business, token or not.
func TestRequestsOfAnotherProgram(t *testing.T) {
	d := open(t)
	id := d.post("/v1/ask", `{"question":"Which?","agent":"claude-code","detach":true}`).body["id"].(string)
	evil := another(t, "evil")
	for _, method := range []string{"GET", "DELETE"} {
		if out := d.callFrom(evil, d.endpoint.Socket, method, "/v1/requests/"+id, ""); !strings.HasPrefix(out, "404") {
			t.Errorf("%s: %s", method, out)
		}
	}
	if out := d.callFrom(evil, d.endpoint.Socket, "GET", "/v1/requests", ""); !strings.Contains(out, `"requests":[]`) {
		t.Errorf("list: %s", out)
	}
	if pending := d.broker.Pending(); len(pending) != 1 || string(pending[0].ID) != id {
		t.Errorf("pending: %v", pending)
	}
}

// A program that was replaced on disk is not the one that has its name now.
func TestDeletedProgram(t *testing.T) {
	program := another(t, "agent")
	c := exec.Command(program, "-test.run=^$")
	c.Env = append(os.Environ(), callerVariable+"=GET\nhttp://127.0.0.1:1\n\n"+blockingSocket(t)+"\n")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if exe := readLink(int32(c.Process.Pid), "exe"); exe != program+" (deleted)" {
		t.Errorf("executable %q, want it marked as deleted", exe)
	}
}

// blockingSocket is a socket that takes connections and says nothing.
func blockingSocket(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return path
}

// asStranger runs f on a thread that acts as another user.
func asStranger(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, stranger, stranger, stranger)
		if errno != 0 {
			done <- errno
			return
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// openTo opens the way to the socket for everybody, so that what refuses is the check of who is there.
func openTo(t *testing.T, path string) {
	t.Helper()
	for p := filepath.Dir(path); p != "/" && p != "/tmp"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(path), 0o700) }) // or the endpoint could not be taken back
}

func TestAnotherUserOnTheSocket(t *testing.T) {
	d := open(t)
	asStranger(t, func() {
		if _, err := net.Dial("unix", d.endpoint.Socket); err == nil {
			t.Error("another user can connect to the socket")
		}
	})
	openTo(t, d.endpoint.Socket)
	asStranger(t, func() {
		c, err := net.Dial("unix", d.endpoint.Socket)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		d.request("GET", "/v1/health", "").Write(c) // as if the token had leaked
		if reply, _ := io.ReadAll(c); len(reply) != 0 {
			t.Errorf("another user gets %q", reply)
		}
	})
	if log := d.log.String(); !strings.Contains(log, fmt.Sprintf("user %d", stranger)) {
		t.Errorf("the log does not say who was refused:\n%s", log)
	}
	d.get("/v1/health").want(t, 200, nil)
}

func TestAnotherUserOnThePort(t *testing.T) {
	d := open(t)
	asStranger(t, func() {
		c, err := net.Dial("tcp", strings.TrimPrefix(d.endpoint.URL, "http://"))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		r := d.request("POST", "/v1/approve", samples["/v1/approve"])
		r.Close = true
		r.Write(c) // as if the token had leaked
		reply, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(reply), "HTTP/1.1 403 ") || !strings.Contains(string(reply), "another user") {
			t.Errorf("another user gets %q", reply)
		}
	})
	d.wantNothing()
}

// A connection is found in the kernel's tables by both its ends, whichever kind of socket the client used.
func TestFindTCP(t *testing.T) {
	v4, v6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	for name, c := range map[string]struct {
		listen netip.Addr
		dial   netip.Addr
	}{
		"IPv4":                 {v4, v4},
		"IPv6":                 {v6, v6},
		"IPv4 on IPv6 sockets": {v4, netip.AddrFrom16(v4.As16())},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", netip.AddrPortFrom(c.listen, 0).String())
			if err != nil {
				t.Skip(err)
			}
			defer l.Close()
			fd := dialRaw(t, netip.AddrPortFrom(c.dial, addrPort(l.Addr()).Port()))
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			who := newTCPPeer(server)
			if got := who.credentials(); !got.known || got.uid != os.Getuid() || got.inode == 0 {
				t.Fatalf("credentials %+v", got)
			}
			if p := who.processFacts(); p.PID != int32(os.Getpid()) {
				t.Errorf("process %+v, want %d", p, os.Getpid())
			}
			unix.Close(fd)
			if s, ok := findTCP(who.remote, who.local); ok {
				t.Errorf("a closed connection is still somebody's: %+v", s)
			}
		})
	}
}

// dialRaw connects without the help of package net, which would not reach IPv4 through an IPv6 socket.
func dialRaw(t *testing.T, to netip.AddrPort) int {
	t.Helper()
	var fd int
	var err error
	if to.Addr().Is4() {
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
		}
	} else {
		if fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestOwnership(t *testing.T) {
	for _, c := range []struct {
		who  credentials
		want bool
	}{
		{credentials{uid: 1000, known: true}, true},
		{credentials{uid: 0, known: true}, true},
		{credentials{uid: 1001, known: true}, false},
		{credentials{uid: 65534, known: true}, false},
		{credentials{}, true}, // the token decides
	} {
		if got := c.who.mayAsk(1000); got != c.want {
			t.Errorf("%+v may ask: %v, want %v", c.who, got, c.want)
		}
	}
}

func TestPeerOfNoConnection(t *testing.T) {
	if p := peerOf(t.Context()).processFacts(); !isUnverified(p) {
		t.Errorf("facts about nobody: %+v", p)
	}
}

func isUnverified(p interact.Process) bool { return p.PID == 0 && p.Exe == "" && p.Parents == nil }
