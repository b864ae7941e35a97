package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"nod/ipc/client"
	"nod/ipc/client/waiting"
	"nod/ipc/endpoint"
	"nod/ipc/mcp"
	"nod/version"
)

func (c *console) mcp() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Offer nod's questions and approvals as MCP tools on standard input and output",
		Long: `Speak the Model Context Protocol on standard input and output, for clients that start their servers.
nod-desktop offers the same tools over HTTP at /mcp. While nod-desktop isn't running, the tools are still listed, and a
call says that it isn't running.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return serveMCP(ctx) }),
	}
}

func serveMCP(ctx context.Context) error {
	ctx = waiting.WhileAgentRuns(ctx)
	cwd, _ := os.Getwd() // a folder that was removed under us has no name
	proxy := mcp.NewProxy(func() (mcp.Desktop, error) { return discoverMCP(cwd) }, version.Number())
	proxy.AddReceivingMiddleware(endsWhenHung)
	out := &lines{File: os.Stdout}
	err := proxy.Run(ctx, &sdk.IOTransport{Reader: messages(os.Stdin, out), Writer: out})
	// A client that closes our input is done, also while a call is under way.
	isOver := errors.Is(err, io.EOF) || err != nil && strings.HasSuffix(err.Error(), ": EOF")
	if err != nil && ctx.Err() == nil && !isOver {
		return fmt.Errorf("speak MCP: %w", err)
	}
	return nil
}

// lines is a file to which several goroutines write whole lines.
type lines struct {
	sync.Mutex
	*os.File
}

func (l *lines) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.File.Write(line)
}

// messages reads lines, and refuses those that are no messages, with which the session would end. An id that is still
// in use passes: then the client gets one reply for two requests.
func messages(r io.Reader, refusals io.Writer) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		input := bufio.NewReader(r)
		for {
			line, err := input.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				if why := flawOf(line); why != "" {
					fmt.Fprintf(refusals, `{"jsonrpc":"2.0","id":null,"error":{%s}}`+"\n", why)
				} else {
					_, _ = in.Write(append(line, '\n')) // fails when nobody reads any more
				}
			}
			if err != nil {
				in.CloseWithError(err)
				return
			}
		}
	}()
	return out
}

// flawOf returns the error that a line is refused with, if any. The library rounds ids that are not exact integers.
func flawOf(line []byte) string {
	var fields map[string]json.RawMessage
	if _, isNoJSON := errors.AsType[*json.SyntaxError](json.Unmarshal(line, &fields)); isNoJSON {
		return `"code":-32700,"message":"want one line of JSON"`
	}
	_, wrong := jsonrpc.DecodeMessage(line)
	id, hasID := fields["id"]
	n, notInteger := strconv.ParseInt(string(id), 10, 64)
	isExact := notInteger == nil && n >= -1<<53 && n <= 1<<53 || bytes.HasPrefix(id, []byte{'"'})
	if wrong != nil || hasID && !isExact {
		return `"code":-32600,"message":"want a JSON-RPC 2.0 message, whose id is a string or an integer up to 2^53"`
	}
	return ""
}

// mcpDesktop is nod-desktop for the calls of an MCP client in the folder cwd.
type mcpDesktop struct {
	*client.Client
	cwd string
}

func discoverMCP(cwd string) (mcp.Desktop, error) {
	cl, err := client.Discover()
	if errors.Is(err, client.ErrNotRunning) {
		return nil, fmt.Errorf("%w; the user can start it with: nod %s", err, starts)
	}
	return mcpDesktop{cl, cwd}, err
}

func (d mcpDesktop) Connect(ctx context.Context, s mcp.Session) (*sdk.ClientSession, error) {
	at := d.Current()
	transport := &sdk.StreamableClientTransport{
		Endpoint: at.URL + "/mcp",
		HTTPClient: httpClient(at, map[string]string{
			"Authorization": "Bearer " + at.Token, "User-Agent": s.Client, "Nod-Cwd": d.cwd,
			"Idempotency-Key": strconv.Quote(s.Key),
			"Nod-Waited":      strconv.FormatFloat(s.Waited.Seconds(), 'f', -1, 64),
		}),
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}
	me := sdk.NewClient(&sdk.Implementation{Name: s.Client, Version: version.Number()}, s.Options)
	session, err := me.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("reach nod-desktop: %w", err)
	}
	return session, nil
}

// httpClient reaches only the nod-desktop at an endpoint, without redirects and proxies, with these headers.
func httpClient(at endpoint.Endpoint, headers map[string]string) *http.Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return client.DialAt(ctx, at)
		},
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			for name, value := range headers {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			return transport.RoundTrip(r)
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endsWhenHung ends a call when nod-desktop runs but no longer answers.
func endsWhenHung(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if cl, err := client.Discover(); err == nil && method == "tools/call" {
			call, end := context.WithCancel(ctx)
			defer end()
			ctx = waiting.WhileAlive(call, cl.Health)
		}
		return next(ctx, method, r)
	}
}
