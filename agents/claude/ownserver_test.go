package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nod/api"
)

// nod's own tools pass only where the user alone says which program "nod" is, and it is this one.
func TestOwnServer(t *testing.T) {
	const user = `{"mcpServers":{"nod":%[1]s}}`
	const own, other = `{"command":%q,"args":["mcp"]}`, `{"command":"/bin/sh","args":["mcp"]}`
	for name, tt := range map[string]struct {
		config  string // %[1]s is the server that is nod, %[2]s the project
		project string // .mcp.json of the folder around
		tool    string
		want    bool
	}{
		"for all projects": {config: user, want: true},
		"for this one":     {config: `{"projects":{"%[2]s":{"mcpServers":{"nod":%[1]s}}}}`, want: true},
		"for another":      {config: `{"projects":{"/x":{"mcpServers":{"nod":%[1]s}}}}`},
		"another tool":     {config: user, tool: "mcp__nodding__ask"},
		"another program":  {config: `{"mcpServers":{"nod":` + other + `}}`},
		"other arguments":  {config: `{"mcpServers":{"nod":{"command":"/bin/sh","args":["mcp","-x"]}}}`},
		"an address":       {config: `{"mcpServers":{"nod":{"type":"http","url":"http://127.0.0.1:1/mcp"}}}`},
		"two that differ": {config: `{"mcpServers":{"nod":%[1]s},` +
			`"projects":{"%[2]s":{"mcpServers":{"nod":` + other + `}}}}`},
		"another of a project":  {config: user, project: `{"mcpServers":{"nod":{"command":"evil"}}}`},
		"in other letters":      {config: user, project: `{"MCPSERVERS":{"nod":{"command":"evil"}}}`},
		"twice in a project":    {config: user, project: `{"mcpServers":{"nod":{}},"mcpServers":{}}`},
		"a project with others": {config: user, project: `{"mcpServers":{"db":{}}}`, want: true},
		"a broken project":      {config: user, project: `{`},
		"a huge project":        {config: user, project: `{}` + strings.Repeat(" ", maxServers)},
		"nothing":               {config: `{}`},
		"broken":                {config: `{`},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("CLAUDE_CONFIG_DIR", "")
			nod, project := filepath.Join(home, "nod"), filepath.Join(home, "shop")
			put(t, nod, "#!/bin/sh\n")
			config := tt.config
			if len(config) > 2 {
				config = fmt.Sprintf(config+"%[3]s", fmt.Sprintf(own, nod), project, "")
			}
			put(t, filepath.Join(home, ".claude.json"), config)
			if tt.project != "" {
				put(t, filepath.Join(project, ".mcp.json"), tt.project)
			}
			p := Payload{ToolName: "mcp__nod__interact_ask", CWD: filepath.Join(project, "sub")}
			if tt.tool != "" {
				p.ToolName = tt.tool
			}
			if got := p.mayAsk(nod).Outcome == api.Allowed; got != tt.want {
				t.Errorf("passes: %t, want %t", got, tt.want)
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
