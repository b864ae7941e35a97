package policy

import (
	"strings"
	"sync"
)

// catalogue knows the tools of the agents it lists, by the exact names that those agents send. An agent
// may not be here, and a tool may be missing: then nod knows nothing and asks. Names that only look alike
// (another case, a space, a Cyrillic letter) are other names.
var catalogue = sync.OnceValue(readTools)

// Script is the agent of a call from nod's command line that names none. Its tools are those of Claude Code.
const Script = "script"

// unknownTool is what nod takes for granted of a tool that it does not know: what might be a command line, and
// what may stand beside one. What else is in its input may be anything.
var unknownTool = tool{class: Unknown, fields: map[string]meaning{"command": commandField, "cmd": commandField}}

// unknownShell is a shell of an agent that nod does not know.
var unknownShell = tool{class: Unknown, isShell: true, fields: map[string]meaning{
	"command": commandField, "cmd": commandField,
	"workdir": folderField, "cwd": folderField, "directory": folderField, "dir_path": folderField,
	"working_directory": folderField,
	"description":       plainField, "justification": plainField, "timeout": plainField, "timeout_ms": plainField,
	"yield_time_ms": plainField, "max_output_tokens": plainField, "run_in_background": plainField,
	"is_background": plainField,
}}

// anybodys is what the catalogue says of a tool of any agent, by its name in small letters: whoever sends a tool of
// that name, nod does not take it for anything more harmless.
var anybodys = sync.OnceValue(func() map[string]tool {
	all := map[string]tool{}
	for _, tools := range catalogue() {
		for name, t := range tools {
			name = strings.ToLower(name)
			was := all[name]
			all[name] = tool{
				isShell: t.isShell || was.isShell, isQuestion: t.isQuestion || was.isQuestion, fetches: t.fetches || was.fetches,
			}
		}
	}
	return all
})

// lookup finds a tool by the exact names of agent and tool.
func lookup(agent, name string) (tool, bool) {
	if !isMCP(name) {
		if t, ok := catalogue()[agent][name]; ok {
			return t, true
		}
	}
	if isShell(name) {
		return unknownShell, false
	}
	return unknownTool, false
}

// isMCP reports whether the name has one of the forms in which agents pass on the tools of MCP servers.
func isMCP(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:")
}

// isShell reports whether the tool runs a command line, going by its name, whoever sends it.
func isShell(name string) bool { return anybodys()[strings.ToLower(strings.TrimSpace(name))].isShell }

// isQuestion reports whether the tool puts a question to the human, whoever sends it.
func isQuestion(name string) bool {
	return anybodys()[strings.ToLower(strings.TrimSpace(name))].isQuestion
}

// isFetcher reports whether the tool fetches addresses, going by its name, whoever sends it.
func isFetcher(name string) bool { return anybodys()[strings.ToLower(name)].fetches }
