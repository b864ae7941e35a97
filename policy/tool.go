package policy

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"nod/policy/shell"
)

// toolFiles describe the tools of the agents, one file per family of agents. A line has a class, a tool's exact name
// and the fields of its input, with their meanings:
//
//	name          text, a number or a switch: nothing that leads anywhere
//	name:look     a path of which the names are looked at
//	name:read     a path of a file that is read
//	name:tree     a path below which everything is read; :look=here and :tree=here are the current folder when missing
//	name:write    a path that is made or changed; name:delete one that is removed
//	name:glob     a pattern of the names that are looked at, below the tool's other paths; :glob=here: it has none
//	name:only     a pattern that narrows what the tool reads below its other paths
//	name:skip     a pattern of what it excludes
//	name:files    a pattern of the files that are read, below the current folder
//	name:patch    a text that names the files it changes, as for apply_patch
//	name:url      an address to fetch, or a text with such addresses
//	name:command  a command line
//	name:wrapped  a command line from which the agent removes a shell around it: sh -c 'x' runs as x
//	name:folder   the folder where the command line runs
//	name:word     a text that is a word of a command line: one that starts with - is a flag there
//	name:other    with it the call is not what the tool's name says
//	name:any      anything, like a field that is not listed: with it, nod does not know what the call does
//
// A dot leads into an object or a list of objects. Instead of a class, shell is a tool that runs commands,
// posix one that passes its command directly to bash, zsh or sh, and question one that asks the
// user something. Their class is unknown. A field that is not listed is one that nod does not know. After passes:
// come tools that the agent itself allows, so that nod is not asked about them.
//
//go:embed tools
var toolFiles embed.FS

type tool struct {
	class  Class
	fields map[string]meaning // by their names; fields of inner objects after a dot
	paths  spelling           // how the agent reads a path

	isShell, isPosix, isQuestion, fetches bool

	passes bool        // the agent itself lets it pass
	here   *shell.Kind // what it does here when its input names no folder; nil: nothing
}

func (t tool) commandField() string {
	for name, f := range t.fields {
		if f == commandField || f == wrappedField {
			return name
		}
	}
	return "command"
}

type meaning uint8

const (
	unlisted     meaning = iota
	plainField           // nothing that leads anywhere
	lookField            // these five are paths
	readField            //
	treeField            //
	writeField           //
	deleteField          //
	globField            // these four are patterns
	onlyField            //
	skipField            //
	filesField           //
	patchField           //
	urlField             //
	commandField         //
	wrappedField         //
	folderField          //
	wordField            //
	otherField           //
)

var meanings = map[string]meaning{
	"": plainField, "look": lookField, "read": readField, "tree": treeField, "write": writeField, "delete": deleteField,
	"glob": globField, "only": onlyField, "skip": skipField,
	"files": filesField, "patch": patchField, "url": urlField,
	"command": commandField, "wrapped": wrappedField, "folder": folderField, "word": wordField,
	"other": otherField, "any": unlisted,
}

func (f meaning) kind() shell.Kind {
	switch f {
	case lookField, globField:
		return shell.Look
	case readField:
		return shell.Read
	case treeField, onlyField, filesField:
		return shell.Tree
	case deleteField:
		return shell.Delete
	}
	return shell.Write
}

type spelling struct {
	trimmed bool // white space around it is removed
	marked  bool // "@" before it is removed
	encoded bool // %61 is read as a
	escaped bool // a backslash before what is special to a shell is removed
}

var spellings = map[string]func(*spelling){
	"trimmed": func(s *spelling) { s.trimmed = true },
	"marked":  func(s *spelling) { s.marked = true },
	"encoded": func(s *spelling) { s.encoded = true },
	"escaped": func(s *spelling) { s.escaped = true },
}

func readTools() map[string]map[string]tool {
	files, _ := toolFiles.ReadDir("tools")
	all := map[string]map[string]tool{}
	for _, file := range files {
		text, _ := toolFiles.ReadFile("tools/" + file.Name())
		names, tools, err := parseTools(string(text))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file.Name(), err))
		}
		for _, agent := range names {
			all[agent] = tools
		}
	}
	return all
}

func parseTools(text string) (agents []string, tools map[string]tool, err error) {
	tools = map[string]tool{}
	var paths spelling
	var passing []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case words[0] == "agents:":
			agents = words[1:]
		case words[0] == "passes:":
			passing = words[1:]
		case words[0] == "paths:":
			for _, word := range words[1:] {
				set, ok := spellings[word]
				if !ok {
					return nil, nil, fmt.Errorf("paths: %q is nothing that an agent does to a path", word)
				}
				set(&paths)
			}
		case len(words) < 2:
			return nil, nil, fmt.Errorf("%q names no tool", words[0])
		case tools[words[1]].fields != nil:
			return nil, nil, fmt.Errorf("%s appears twice", words[1])
		default:
			t, err := parseTool(words[0], words[2:])
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", words[1], err)
			}
			t.paths, t.passes = paths, slices.Contains(passing, words[1])
			tools[words[1]] = t
		}
	}
	return agents, tools, nil
}

func parseTool(class string, words []string) (tool, error) {
	t := tool{class: Unknown, fields: map[string]meaning{}}
	switch class {
	case "question":
		t.isQuestion = true
	case "shell", "posix":
		t.isShell, t.isPosix = true, class == "posix"
	default:
		if t.class = Class(class); !slices.Contains(Classes, t.class) {
			return t, fmt.Errorf("unknown class %q", class)
		}
	}
	for _, word := range words {
		name, means, _ := strings.Cut(word, ":")
		means, here := strings.CutSuffix(means, "=here")
		f, ok := meanings[means]
		if !ok {
			return t, fmt.Errorf("%q is not a meaning of a field", means)
		}
		if here {
			kind := f.kind()
			t.here = &kind
		}
		t.fetches = t.fetches || f == urlField
		t.fields[name] = f
	}
	return t, nil
}

// catalogue knows the tools of the agents it lists, by the exact names that those agents send. If an agent or a tool is
// missing, nod knows nothing of it and asks. Names that only look alike (another case, a space, a Cyrillic letter) are
// other names.
var catalogue = sync.OnceValue(readTools)

// Script is the agent of a call from nod's command line that names none. Its tools are those of Claude Code.
const Script = "script"

// unknownTool is what nod assumes of a tool that it does not know: which field might be a command line. Anything else
// in its input may have any meaning.
var unknownTool = tool{class: Unknown, fields: map[string]meaning{
	"command": commandField, "cmd": commandField, "command_line": commandField, "commandLine": commandField,
}}

var unknownShell = tool{class: Unknown, isShell: true, fields: map[string]meaning{
	"command": commandField, "cmd": commandField,
	"workdir": folderField, "cwd": folderField, "directory": folderField, "dir_path": folderField,
	"working_directory": folderField,
	"description":       plainField, "justification": plainField, "timeout": plainField, "timeout_ms": plainField,
	"yield_time_ms": plainField, "max_output_tokens": plainField, "run_in_background": plainField,
	"is_background": plainField,
}}

// anybodys is what the catalogue knows of a tool of any agent, by its lower-case name: nod treats a tool of that name
// as no less dangerous, whichever agent sends it.
var anybodys = sync.OnceValue(func() map[string]tool {
	all := map[string]tool{}
	for _, tools := range catalogue() {
		for name, t := range tools {
			name = strings.ToLower(name)
			was := all[name]
			all[name] = tool{
				isShell: t.isShell || was.isShell, isQuestion: t.isQuestion || was.isQuestion,
				fetches: was.fetches || t.fetches && t.class == Network,
			}
		}
	}
	return all
})

// NetworkTool is the tool with which nod asks, on behalf of any agent, whether its commands in the sandbox may reach a
// host. The input is {"url": "https://HOST[:PORT]"}, with the port unless it is one of the web's.
const NetworkTool = "network"

func lookup(agent, name string) (tool, bool) {
	if !isMCP(name) {
		for _, who := range []string{agent, "nod"} {
			if t, ok := catalogue()[who][name]; ok {
				return t, true
			}
		}
	}
	if isShell(name) {
		return unknownShell, false
	}
	return unknownTool, false
}

func isMCP(name string) bool {
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, "MCP:")
}

func isShell(name string) bool { return anybodys()[strings.ToLower(strings.TrimSpace(name))].isShell }

func isQuestion(name string) bool {
	return anybodys()[strings.ToLower(strings.TrimSpace(name))].isQuestion
}

func isFetcher(name string) bool { return anybodys()[strings.ToLower(name)].fetches }

// oldWrite is the old name of [Write], which callers and files may still use.
const oldWrite Class = "mutating"

// known returns the class by its current name; what is not a class is [Unknown].
func (c Class) known() Class {
	if c == oldWrite {
		return Write
	}
	return Classes[c.care()]
}

func stricter(a, b Class) Class {
	return Classes[max(a.care(), b.care())]
}

func (c Class) care() int {
	if i := slices.Index(Classes, c); i >= 0 {
		return i
	}
	return len(Classes) - 1
}

// Permits reports whether a call with this effect runs without a prompt.
func (e Effect) Permits() bool { return e == Allow || e == Sandbox }

// IsStricter reports whether an effect is stricter than another.
func (e Effect) IsStricter(than Effect) bool { return e.strictness() < than.strictness() }

func (e Effect) strictness() int { return max(slices.Index([]Effect{Deny, Ask, Sandbox, Allow}, e), 0) }

// classify returns the class that counts for a tool: the stricter of what the caller declares (empty: nothing) and what
// nod's catalogue knows. A caller makes its own call stricter, never laxer. Only if nod knows nothing of the tool, and
// the user trusts the agent to classify, does the declaration count alone; never for a shell, which runs whatever it is
// told, and never for an MCP tool, whose server chose both its name and its description.
func classify(agent, tool string, declared Class, trusted bool) Class {
	tells := declared != ""
	known, ok := lookup(agent, tool)
	switch {
	case ok && tells:
		return stricter(known.class, declared.known())
	case tells && trusted && !isMCP(tool) && !isShell(tool):
		return declared.known()
	}
	return known.class
}

// OrList reads "a, b or c", for a message about what is wanted.
func OrList[T ~string](items []T) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = string(item)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
