package ipc

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nod/api"
	"nod/interact"
)

// stranger is a user that is neither us nor root.
const stranger = 12345

// callerVariable makes the test program a caller: it sends the request that the variable describes
// ("method url token socket body", one to a line), prints status and reply, and ends.
const callerVariable = "NOD_TEST_CALLER"

// heirVariable makes the test program a caller whose connection outlives it: it sends the request that the variable
// describes ("socket token body", one to a line), hands the connection to cat, says so, and waits.
const heirVariable = "NOD_TEST_HEIR"

func TestMain(m *testing.M) {
	if order := os.Getenv(heirVariable); order != "" {
		if err := bequeath(strings.SplitN(order, "\n", 3)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
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
		client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
			error) {
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

func bequeath(order []string) error {
	socket, token, body := order[0], order[1], order[2]
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c, "POST /v1/approve HTTP/1.1\r\nHost: nod\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	if err != nil {
		return err
	}
	file, err := c.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	heir := exec.Command("cat") // until its input ends, which is this program's
	heir.Stdin, heir.ExtraFiles = os.Stdin, []*os.File{file}
	if err := heir.Start(); err != nil {
		return err
	}
	fmt.Println("bequeathed")
	return heir.Wait()
}

// A connection that another process has inherited keeps nothing open.
func TestCallerEndsBeforeItsConnection(t *testing.T) {
	d := open(t)
	caller := exec.Command(another(t, "agent"))
	caller.Env = append(os.Environ(), heirVariable+"="+strings.Join(
		[]string{d.endpoint.Socket, d.endpoint.Token, samples["/v1/approve"]}, "\n"))
	in, err := caller.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := caller.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	defer caller.Wait()
	defer caller.Process.Kill()
	if _, err := io.ReadFull(out, make([]byte, len("bequeathed"))); err != nil {
		t.Fatal(err)
	}
	changes, stop := d.broker.Changes()
	defer stop()
	for len(d.broker.Pending()) == 0 {
		<-changes
	}
	asked := d.broker.Pending()[0].Requester.Process
	if asked.PID != int32(caller.Process.Pid) {
		t.Fatalf("asked by %+v, want process %d", asked, caller.Process.Pid)
	}
	if err := caller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-d.closed
	for len(d.broker.Pending()) > 0 {
		<-changes
	}
	for _, own := range d.broker.Own(interact.Requester{Process: asked}) {
		if own.Answer.Outcome != api.Cancelled {
			t.Errorf("%+v", own.Answer)
		}
	}
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
func (d *fixture) callFrom(program, socket, method, path, body string) string {
	d.t.Helper()
	c := exec.Command(program)
	c.Dir = d.t.TempDir()
	c.Env = append(
		os.Environ(),
		callerVariable+"="+strings.Join([]string{method, d.endpoint.URL + path, d.endpoint.Token, socket, body}, "\n"),
	)
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

func TestPeerOfNoConnection(t *testing.T) {
	who := peerOf(t.Context())
	if p := who.Process(); p.PID != 0 || p.Exe != "" || p.Parents != nil {
		t.Errorf("facts about nobody: %+v", p)
	}
	if !mayAsk(who.User, 1000) {
		t.Error("whom the operating system cannot identify the token lets in")
	}
}
