//go:build linux

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nod/ipc/endpoint"
)

// mcpClient speaks MCP as far as a test wants it to.
type mcpClient struct {
	t       *testing.T
	send    func(id int, message string) // sends a message; id is 0 where no reply follows
	leave   func()                       // closes the connection
	replies chan mcpReply
	last    int // id of the last request
}

// mcpReply is what came back for a request.
type mcpReply struct {
	ID     int
	Result struct {
		Content []struct{ Text string }
		IsError bool
	}
}

func (r mcpReply) text() string {
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

// shakeHands begins a session.
func (c *mcpClient) shakeHands() {
	c.t.Helper()
	c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	<-c.replies
	c.send(0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *mcpClient) request(method, params string) {
	c.t.Helper()
	c.last++
	c.send(c.last, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.last, method, params))
}

// asks calls a tool that waits for a user.
func (c *mcpClient) asks() {
	c.t.Helper()
	c.request("tools/call", `{"name":"interact_confirm","arguments":{"message":"Deploy now?"}}`)
}

// cancels takes the last call back.
func (c *mcpClient) cancels() {
	c.t.Helper()
	c.send(0, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.last))
}

// reply waits for the reply to the last call.
func (c *mcpClient) reply(ctx context.Context) mcpReply {
	c.t.Helper()
	for {
		select {
		case r := <-c.replies:
			if r.ID == c.last {
				return r
			}
		case <-ctx.Done():
			c.t.Fatal("no reply")
		}
	}
}

// hears passes on the replies among these lines, which may be those of an event stream.
func (c *mcpClient) hears(lines io.Reader) {
	for s := bufio.NewScanner(lines); s.Scan(); {
		var r mcpReply
		if json.Unmarshal([]byte(strings.TrimPrefix(s.Text(), "data: ")), &r) == nil && r.ID > 0 {
			c.replies <- r
		}
	}
}

// overStdio starts nod mcp, as an agent does.
func (n *nod) overStdio() *mcpClient {
	n.t.Helper()
	c := &mcpClient{t: n.t, replies: make(chan mcpReply, 100)}
	cmd := n.agent(filepath.Join(bin, "nod"), "mcp")
	in, err := cmd.StdinPipe()
	must(n.t, err)
	out, err := cmd.StdoutPipe()
	must(n.t, err)
	ended, err := n.Launch(cmd)
	must(n.t, err)
	go c.hears(out)
	c.send = func(_ int, message string) {
		_, err := fmt.Fprintln(in, message)
		must(n.t, err)
	}
	c.leave = func() {
		must(n.t, in.Close())
		<-ended
	}
	c.shakeHands()
	return c
}

// overHTTP connects to nod's own address.
func (n *nod) overHTTP() *mcpClient {
	n.t.Helper()
	ctx, hangUp := context.WithCancel(n.ctx)
	n.t.Cleanup(hangUp)
	c := &mcpClient{t: n.t, leave: hangUp, replies: make(chan mcpReply, 100)}
	var session string
	c.send = func(id int, message string) {
		where, err := endpoint.Read(filepath.Join(n.Runtime(), "nod")) // the token is new after a restart
		must(n.t, err)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, where.URL+"/mcp", strings.NewReader(message))
		must(n.t, err)
		r.Header = http.Header{
			"Authorization": {"Bearer " + where.Token}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session},
		}
		post := func() {
			resp, err := http.DefaultClient.Do(r)
			if err != nil { // nod went away, or we did
				c.replies <- mcpReply{ID: id}
				return
			}
			defer resp.Body.Close()
			if id == 1 {
				session = resp.Header.Get("Mcp-Session-Id")
			}
			c.hears(resp.Body)
		}
		if id > 1 { // which a user has to answer first
			go post()
		} else {
			post()
		}
	}
	c.shakeHands()
	return c
}

// mcpTransports are the ways to reach nod's tools.
var mcpTransports = map[string]func(*nod) *mcpClient{"stdio": (*nod).overStdio, "http": (*nod).overHTTP}

// A client takes its question off the screen by saying so, and by going.
func TestMCPWithdraws(t *testing.T) {
	t.Parallel()
	for transport, connect := range mcpTransports {
		for how, withdraw := range map[string]func(*mcpClient){
			"cancelled": (*mcpClient).cancels, "closed": func(c *mcpClient) { c.leave() },
		} {
			t.Run(transport+" "+how, func(t *testing.T) {
				n := start(t, settings)
				c := connect(n)
				c.asks()
				n.prompt()
				withdraw(c)
				n.noWindow()
				n.logs("outcome=cancelled")
			})
		}
	}
}

// nod is restarted while a client stays connected: the next call is asked as if nothing had been. A call that was under
// way ends with a nod that quits; of one that is killed, nod mcp asks the next again, where the prompt is still open.
func TestMCPRestart(t *testing.T) {
	t.Parallel()
	const quit = "INTERACT_NOT_SUPPORTED: nobody decided: nod is shutting down"
	tests := []struct {
		signal syscall.Signal
		lost   map[string]string // what the caller reads; a connection that breaks says it all
	}{
		{syscall.SIGTERM, map[string]string{"stdio": quit, "http": quit}},
		{syscall.SIGKILL, map[string]string{"http": ""}},
	}
	for transport, connect := range mcpTransports {
		for _, tt := range tests {
			t.Run(transport+" "+tt.signal.String(), func(t *testing.T) {
				t.Parallel()
				n := startDesktop(t)
				n.writeConfig(settings)
				free, err := net.Listen("tcp", "127.0.0.1:0")
				must(t, err)
				must(t, free.Close())
				restart := func() {
					cmd := n.program("nod-desktop", "--background")
					cmd.Env = append(cmd.Env, "NOD_IPC_ADDRESS="+free.Addr().String())
					n.startProgram(cmd)
				}
				restart()
				c := connect(n)
				c.asks()
				n.prompt()
				n.affirm()
				if r := c.reply(n.ctx); r.text() != `{"confirmed":true}` {
					t.Fatalf("before: %+v", r)
				}
				n.noWindow()

				c.asks()
				n.prompt()
				must(t, n.cmd.Process.Signal(tt.signal))
				<-n.ended
				lost, isLost := tt.lost[transport]
				if isLost {
					if r := c.reply(n.ctx); r.text() != lost {
						t.Errorf("under way: %+v, want %s", r, lost)
					}
				}
				n.noWindow()

				restart()
				if isLost {
					c.asks()
				}
				n.prompt()
				n.press("ctrl+d")
				if r := c.reply(n.ctx); r.text() != `{"confirmed":false}` {
					t.Errorf("after: %+v", r)
				}
				n.noWindow()
			})
		}
	}
}

// A call ends when nod-desktop is there but does nothing any more.
func TestMCPHangs(t *testing.T) {
	t.Parallel()
	n := start(t, settings)
	c := n.overStdio()
	c.asks()
	n.prompt()
	must(t, n.cmd.Process.Signal(syscall.SIGSTOP))
	defer func() { must(t, n.cmd.Process.Signal(syscall.SIGCONT)) }()
	const want = "INTERACT_NOT_SUPPORTED: nod-desktop hangs: quit it and run: nod start"
	if r := c.reply(n.ctx); r.text() != want {
		t.Errorf("got %+v, want %s", r, want)
	}
}
