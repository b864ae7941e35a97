package policy

import "strings"

// catalogue knows the tools of the agents it lists, by the exact names that those agents send. An agent
// may not be here, and a tool may be missing: then nod knows nothing and asks. Names that only look alike
// (another case, a space, a Cyrillic letter) are other names.
var catalogue = readTools()

// stranger is what nod takes for granted of a tool that it does not know: what might be a command line, and
// what may stand beside one. What else is in its input may be anything.
var stranger = tool{class: Unknown, fields: map[string]meaning{"command": commandField, "cmd": commandField}}

// strangeShell is a shell of an agent that nod does not know.
var strangeShell = tool{class: Unknown, isShell: true, fields: map[string]meaning{
	"command": commandField, "cmd": commandField,
	"workdir": folderField, "cwd": folderField, "directory": folderField, "dir_path": folderField, "working_directory": folderField,
	"description": plainField, "justification": plainField, "timeout": plainField, "timeout_ms": plainField,
	"yield_time_ms": plainField, "max_output_tokens": plainField, "run_in_background": plainField, "is_background": plainField,
}}

// shells, questions and fetchers hold what the catalogue says of any agent: whoever sends a tool of that name,
// nod does not take it for anything more harmless.
var (
	shells    = namesOf(func(t tool) bool { return t.isShell })
	questions = namesOf(func(t tool) bool { return t.isQuestion })
	fetchers  = namesOf(func(t tool) bool { return t.fetches })
)

func namesOf(is func(tool) bool) map[string]bool {
	names := map[string]bool{}
	for _, tools := range catalogue {
		for name, t := range tools {
			if is(t) {
				names[strings.ToLower(name)] = true
			}
		}
	}
	return names
}

// lookup finds a tool by the exact names of agent and tool.
func lookup(agent, name string) (tool, bool) {
	if !isMCP(name) {
		if t, ok := catalogue[agent][name]; ok {
			return t, true
		}
	}
	if isShell(name) {
		return strangeShell, false
	}
	return stranger, false
}

// isMCP reports whether the name has one of the forms in which agents pass on the tools of MCP servers.
func isMCP(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:")
}

// isShell reports whether the tool runs a command line, going by its name, whoever sends it.
func isShell(name string) bool {
	return shells[strings.ToLower(strings.TrimSpace(name))]
}

// isQuestion reports whether the tool puts a question to the human, whoever sends it.
func isQuestion(name string) bool {
	return questions[strings.ToLower(strings.TrimSpace(name))]
}

// isFetcher reports whether the tool fetches addresses, going by its name, whoever sends it.
func isFetcher(name string) bool { return fetchers[strings.ToLower(name)] }
