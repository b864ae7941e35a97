package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"nod/api"
	"nod/interact"
	"nod/ipc/programs"
	"nod/ownfile"
)

// ownTools begins the names of the tools of nod's own MCP server, as README has it set up.
const ownTools = "mcp__nod__"

const serverName = "nod"

// maxServers is the limit in bytes of a file that names servers: a project's may be endless.
const maxServers = 16 << 20

// mayAsk allows the tools with which Claude Code asks the user through nod: asking whether to ask makes no sense. It
// returns the zero answer for other tools, and for another server of that name.
func (p Payload) mayAsk(nod string) interact.Answer {
	if !strings.HasPrefix(p.ToolName, ownTools) || nod == "" || !isOwnServer(p.CWD, nod) {
		return interact.Answer{}
	}
	return interact.Answer{
		Outcome: api.Allowed, By: api.ByPolicy, Rule: "builtin:nod", Reason: "it asks you, through nod itself",
	}
}

type server struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type servers struct {
	Servers map[string]server `json:"mcpServers"`
}

// isOwnServer reports whether the server named nod is this nod in every place where Claude Code, working in the folder,
// may find it. Only the user's own configuration counts: a project must not name a program nod.
func isOwnServer(folder, nod string) bool {
	own, found := personsServers(folder)
	if !found || !filepath.IsAbs(folder) {
		return false
	}
	for _, dir := range ancestors(folder) {
		text, err := ownfile.ReadBehind(filepath.Join(dir, ".mcp.json"), maxServers)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var project servers
		if err != nil || json.Unmarshal(text, &project) != nil {
			return false
		}
		if _, named := project.Servers[serverName]; named {
			return false
		}
	}
	return !slices.ContainsFunc(own, func(s server) bool { return !s.isNod(nod) })
}

// personsServers lists the servers named nod in the user's configuration, for projects around the folder and for all.
func personsServers(folder string) (own []server, found bool) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, false
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		home = dir
	}
	text, err := ownfile.ReadBehind(filepath.Join(home, ".claude.json"), maxServers)
	if err != nil {
		return nil, false
	}
	var config struct {
		servers
		Projects map[string]servers `json:"projects"`
	}
	if json.Unmarshal(text, &config) != nil {
		return nil, false
	}
	around := ancestors(folder)
	maps.DeleteFunc(config.Projects, func(dir string, _ servers) bool { return !slices.Contains(around, dir) })
	for _, place := range append(slices.Collect(maps.Values(config.Projects)), config.servers) {
		if s, named := place.Servers[serverName]; named {
			own = append(own, s)
		}
	}
	return own, len(own) > 0
}

// isNod reports whether the server is the nod command at this path, or the copy of it that agents' hooks run.
func (s server) isNod(nod string) bool {
	path, err := exec.LookPath(s.Command)
	if err != nil || s.Type != "" && s.Type != "stdio" || !slices.Equal(s.Args, []string{"mcp"}) {
		return false
	}
	if programs.IsKept(path) {
		return programs.CheckKept(path) == nil
	}
	return programs.IsSame(path, nod)
}

func ancestors(folder string) []string {
	var all []string
	for dir := filepath.Clean(folder); ; dir = filepath.Dir(dir) {
		all = append(all, dir)
		if dir == filepath.Dir(dir) {
			return all
		}
	}
}
