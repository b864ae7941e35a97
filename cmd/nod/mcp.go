package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"nod/ipc/client"
	"nod/ipc/mcp"
)

// mcp returns the command that MCP clients run.
func (c *console) mcp() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Offer nod's questions and approvals as MCP tools on standard input and output",
		Long: `Speak the Model Context Protocol on standard input and output, for clients that start their servers.
The same tools are at /mcp of nod-desktop's own address. While nod-desktop isn't running the tools are still there,
and say so when they are called.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return serveMCP(ctx) }),
	}
}

func serveMCP(ctx context.Context) error {
	ctx, stop := whileAgentRuns(ctx)
	defer stop()
	cwd, _ := os.Getwd() // a folder that was removed under us has no name
	connect := func(ctx context.Context, name string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
		return connectMCP(ctx, name, cwd, o)
	}
	proxy := mcp.NewProxy(connect, buildVersion())
	proxy.AddReceivingMiddleware(endsWhenHung)
	err := proxy.Run(ctx, &sdk.StdioTransport{})
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) { // a client that closes our input is done
		return fmt.Errorf("speak MCP: %w", err)
	}
	return nil
}

// connectMCP opens a session with the running nod-desktop.
func connectMCP(ctx context.Context, name, cwd string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
	cl, err := client.Discover()
	if errors.Is(err, client.ErrNotRunning) {
		return nil, fmt.Errorf("%w: the person can start it with: nod start", err)
	}
	if err != nil {
		return nil, err
	}
	transport := &sdk.StreamableClientTransport{
		Endpoint:             cl.Endpoint.URL + "/mcp",
		HTTPClient:           cl.HTTPClient(map[string]string{"User-Agent": name, "Nod-Cwd": cwd}),
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: name, Version: buildVersion()}, o).Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("nod-desktop cannot be asked: %w", err)
	}
	return session, nil
}

// endsWhenHung ends a call when nod-desktop is there but answers nothing any more.
func endsWhenHung(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if cl, err := client.Discover(); err == nil && method == "tools/call" {
			var stop context.CancelFunc
			ctx, stop = whileAlive(ctx, cl.Health)
			defer stop()
		}
		return next(ctx, method, r)
	}
}
