package acp

import (
	"cmp"
	"encoding/json"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
)

// toolCall is what an agent says about a tool call, in one message or several. The library's type is unsuitable: it
// decodes the input, and encoding it again yields other bytes.
type toolCall struct {
	ID        string             `json:"toolCallId"`
	Title     string             `json:"title"`
	Kind      sdk.ToolKind       `json:"kind"`
	Status    sdk.ToolCallStatus `json:"status"`
	RawInput  jsontext.Value     `json:"rawInput"`
	Content   jsontext.Value     `json:"content"`
	Locations jsontext.Value     `json:"locations"`
	Meta      struct {
		ClaudeCode struct {
			ToolName string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`
}

func (c toolCall) with(later toolCall) toolCall {
	c.ID, c.Title, c.Kind = later.ID, cmp.Or(later.Title, c.Title), cmp.Or(later.Kind, c.Kind)
	c.RawInput = latest(c.RawInput, later.RawInput)
	c.Content = latest(c.Content, later.Content)
	c.Locations = latest(c.Locations, later.Locations)
	c.Meta.ClaudeCode.ToolName = cmp.Or(later.Meta.ClaudeCode.ToolName, c.Meta.ClaudeCode.ToolName)
	return c
}

func latest(before, later jsontext.Value) jsontext.Value {
	if isThere(later) {
		return later
	}
	return before
}

func (c toolCall) hasEnded() bool {
	return c.Status == sdk.ToolCallStatusCompleted || c.Status == sdk.ToolCallStatusFailed
}

// agents maps what agents call themselves to nod's names for them.
var agents = map[string]string{
	"OpenCode":                              "opencode",
	"@zed-industries/claude-code-acp":       "claude-code",
	"@zed-industries/claude-agent-acp":      "claude-code",
	"@agentclientprotocol/claude-agent-acp": "claude-code",
}

// mapping gives the agent's name for the tool whose calls are of a kind and have a text in this field of their input.
type mapping struct {
	kind        sdk.ToolKind
	field, tool string
}

// tools are the mappings of agents that send the tool's input, for kinds that only their own tools have. Kinds that an
// MCP server's tool may have, too, are not mapped, because the server would choose the tool's name. Gemini CLI 0.61 is
// not mapped: it sends a title instead of the input, which for a command is the command, but for a tool of an MCP
// server whatever the model calls "command".
var tools = map[string][]mapping{
	"opencode": { // 1.18: the kind comes from the name of the permission
		{sdk.ToolKindExecute, "command", "bash"},
		{sdk.ToolKindEdit, "filepath", "edit"},
		{sdk.ToolKindRead, "filePath", "read"},
		{sdk.ToolKindFetch, "url", "webfetch"},
	},
	"qwen-code": { // 0.15: an MCP server's tool is of the kind read or other; a path to write loses its backslashes
		{sdk.ToolKindExecute, "command", "run_shell_command"},
		{sdk.ToolKindFetch, "url", "web_fetch"},
	},
}

// anyShell maps other agents' commands: rules about commands count, but no command passes because of what nod reads in
// it.
var anyShell = mapping{sdk.ToolKindExecute, "command", "shell"}

func (c toolCall) hasInput() bool { return isThere(c.RawInput) && c.RawInput.Kind() == '{' }

// tool returns the tool's name as the agent spells it, or the claimed kind under a name that no tool has.
func (c toolCall) tool(agent string) string {
	if name := c.Meta.ClaudeCode.ToolName; agent == "claude-code" && name != "" && c.hasInput() {
		return name
	}
	for _, m := range append(slices.Clone(tools[agent]), anyShell) {
		if _, ok := textIn(c.RawInput, m.field); ok && c.Kind == m.kind {
			return m.tool
		}
	}
	if slices.Contains(kinds, c.Kind) {
		return "acp:" + string(c.Kind)
	}
	return "acp:" + string(sdk.ToolKindOther)
}

var kinds = []sdk.ToolKind{
	sdk.ToolKindRead, sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove, sdk.ToolKindSearch, sdk.ToolKindExecute,
	sdk.ToolKindThink, sdk.ToolKindFetch, sdk.ToolKindSwitchMode, sdk.ToolKindOther,
}

// input returns the tool's input if the agent sends it, and otherwise what the agent does say about the call, under the
// names that other agents' tools use for a change of a file.
func (c toolCall) input() (json.RawMessage, error) {
	if c.hasInput() {
		return json.RawMessage(c.RawInput), nil
	}
	said := struct {
		Title     string         `json:"title,omitzero"`
		FilePath  string         `json:"file_path,omitzero"`
		Old       string         `json:"old_string,omitzero"`
		New       *string        `json:"new_string,omitzero"`
		RawInput  jsontext.Value `json:"rawInput,omitzero"`
		Content   any            `json:"content,omitzero"`
		Locations jsontext.Value `json:"locations,omitzero"`
	}{Title: c.Title, RawInput: c.RawInput}
	switch b := c.onlyBlock(); {
	case b.Type == "diff" && b.OldText != "":
		said.FilePath, said.Old, said.New = b.Path, b.OldText, &b.NewText
	case b.Type == "diff":
		said.FilePath, said.Content = b.Path, b.NewText
	case b.Type == "content" && b.Content.Type == "text":
		said.Content, said.Locations = b.Content.Text, c.Locations
	case isThere(c.Content):
		said.Content, said.Locations = c.Content, c.Locations
	default:
		said.Locations = c.Locations
	}
	return api.Encode(said)
}

type block struct {
	Type    string `json:"type"`
	Path    string `json:"path"`
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
	Content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

func (c toolCall) onlyBlock() block {
	var all []block
	if api.Decode(c.Content, &all) != nil || len(all) != 1 {
		return block{}
	}
	return all[0]
}

// asks reports whether the call asks the user questions, which an allow does not answer.
func (c toolCall) asks() bool {
	var fields map[string]jsontext.Value
	return c.hasInput() && api.Decode(c.RawInput, &fields) == nil && isThere(fields["questions"])
}

var folders = []string{"workdir", "cwd", "directory", "dir_path"}

// inFolder returns the call with the command's folder from an earlier message, because opencode gives it only once.
func (c toolCall) inFolder(earlier toolCall, cwd string) (toolCall, error) {
	if _, isCommand := textIn(c.RawInput, "command"); !isCommand {
		return c, nil
	}
	for _, name := range folders {
		if _, said := textIn(c.RawInput, name); said {
			return c, nil
		}
	}
	for _, name := range folders {
		folder, said := textIn(earlier.RawInput, name)
		if !said || folder == cwd {
			continue
		}
		field, err := api.Encode(map[string]string{name: folder})
		if err != nil {
			return c, err
		}
		// Insert it between the last field and the end of the object.
		c.RawInput = slices.Concat(c.RawInput[:len(c.RawInput)-1], jsontext.Value(","), field[1:])
	}
	return c, nil
}
