package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

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
	ctx, stop := waiting.WhileAgentRuns(ctx)
	defer stop()
	cwd, _ := os.Getwd() // a folder that was removed under us has no name
	proxy := mcp.NewProxy(func() (mcp.Desktop, error) { return discoverMCP(cwd) }, version.Number())
	proxy.AddReceivingMiddleware(endsWhenHung)
	err := proxy.Run(ctx, &sdk.StdioTransport{})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) { // a client that closes our input is done
		return fmt.Errorf("speak MCP: %w", err)
	}
	return nil
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
			var stop context.CancelFunc
			ctx, stop = waiting.WhileAlive(ctx, cl.Health)
			defer stop()
		}
		return next(ctx, method, r)
	}
}
