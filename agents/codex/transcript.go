package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"mvdan.cc/sh/v3/syntax"

	"nod/agents/jsonl"
	"nod/policy"
	"nod/policy/replay"
)

func isTranscript(text []byte) bool {
	kinds := []string{"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
	var l line
	return json.Unmarshal(text, &l) == nil && slices.Contains(kinds, l.Type) && len(l.Payload) > 0
}

// transcript reads the tool calls in one rollout, and presents them as Codex presents them to a hook. It reads what
// Codex has written since September 2025 (codex-rs/protocol/src/protocol.rs, RolloutLine).
type transcript struct {
	*jsonl.Reader
	session string
	cwd     string
	last    time.Time
}

func newTranscript(r io.Reader) replay.Reader { return &transcript{Reader: jsonl.NewReader(r)} }

type line struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"` // hooks name this one, also for a subagent
	CWD       string          `json:"cwd"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments json.RawMessage `json:"arguments"` // a text that holds JSON
	Input     string          `json:"input"`
	Action    struct {
		Command json.RawMessage `json:"command"`
	} `json:"action"`
}

// Calls yields the calls in order, with the time of each. It may be used once.
func (t *transcript) Calls() iter.Seq2[time.Time, policy.Call] {
	return func(yield func(time.Time, policy.Call) bool) {
		for text := t.Next(); text != nil; text = t.Next() {
			if call, ok := t.read(text); ok && !yield(t.last, call) {
				return
			}
		}
	}
}

// marks are texts of which every line that nod needs has one. The results of tools, which are most of a rollout, have
// none.
var marks = []string{`_call"`, `"session_meta"`, `"turn_context"`}

func (t *transcript) read(text []byte) (call policy.Call, ok bool) {
	isIn := func(mark string) bool { return bytes.Contains(text, []byte(mark)) }
	if !slices.ContainsFunc(marks, isIn) {
		return call, false
	}
	var l line
	if json.Unmarshal(text, &l) != nil {
		return call, false
	}
	if at, err := time.Parse(time.RFC3339, l.Timestamp); err == nil {
		t.last = at
	}
	if l.Type != "session_meta" && l.Type != "turn_context" && l.Type != "response_item" {
		return call, false
	}
	var it item
	if json.Unmarshal(l.Payload, &it) != nil {
		return call, false
	}
	if t.session == "" && l.Type == "session_meta" {
		t.session = cmp.Or(it.SessionID, it.ID) // a forked session continues the lines of its parent
	}
	t.cwd = cmp.Or(it.CWD, t.cwd)
	return t.call(it)
}

// call returns a call as a hook would get it: whatever runs a command is "Bash", with the command line as its only
// field, and a patch is the "command" of apply_patch (codex-rs/core/src/tools/hook_names.rs). Hooks do not learn in
// which folder the model wanted a command to run.
func (t *transcript) call(it item) (call policy.Call, ok bool) {
	call = policy.Call{Agent: name, Session: t.session, CWD: t.cwd, Tool: it.Name}
	var input json.RawMessage
	switch {
	case it.Type == "local_shell_call":
		call.Tool = "Bash"
		input, ok = command(it.Action.Command)
	case it.Type == "custom_tool_call" && it.Name == "apply_patch":
		input, ok = object("command", it.Input), true
	case it.Type == "custom_tool_call":
		input, ok = object("input", it.Input), it.Name != ""
	case it.Type == "function_call" && it.Name == "write_stdin":
		return call, false // hooks do not get it
	case it.Type == "function_call":
		call.Tool, input, ok = function(it)
	default:
		return call, false
	}
	call.Input = policy.ReadInput(input)
	return call, ok
}

func function(it item) (tool string, input json.RawMessage, ok bool) {
	arguments := it.Arguments
	var text string
	if json.Unmarshal(it.Arguments, &text) == nil {
		arguments = json.RawMessage(text)
	}
	var args struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
		Input   string          `json:"input"`
		Patch   string          `json:"patch"`
	}
	if it.Name == "" || json.Unmarshal(arguments, &args) != nil {
		return "", nil, false
	}
	switch it.Name {
	case "shell", "shell_command", "exec_command", "unified_exec", "local_shell", "container.exec":
		input, ok := command(append(args.Command, args.Cmd...))
		return "Bash", input, ok
	case "apply_patch":
		return it.Name, object("command", args.Input+args.Patch), true
	}
	return toolName(it), arguments, true
}

// toolName returns the name of a tool as hooks get it: those of MCP servers are mcp__SERVER__TOOL.
func toolName(it item) string {
	name := it.Name
	if strings.HasPrefix(it.Namespace, "mcp__") {
		name = strings.TrimSuffix(it.Namespace, "__") + "__" + name
	}
	if strings.Contains(name, "__") && !strings.HasPrefix(name, "mcp__") {
		name = "mcp__" + name
	}
	return name
}

func command(raw json.RawMessage) (json.RawMessage, bool) {
	var line string
	if json.Unmarshal(raw, &line) == nil {
		return object("command", line), line != ""
	}
	var argv []string
	if json.Unmarshal(raw, &argv) != nil || len(argv) == 0 {
		return nil, false
	}
	isShell := slices.Contains([]string{"bash", "sh", "zsh"}, filepath.Base(argv[0]))
	if len(argv) == 3 && isShell && (argv[1] == "-lc" || argv[1] == "-c") {
		return object("command", argv[2]), true
	}
	for i, word := range argv {
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return nil, false
		}
		argv[i] = quoted
	}
	return object("command", strings.Join(argv, " ")), true
}

func object(field, value string) json.RawMessage {
	text, _ := strict.Marshal(map[string]string{field: value}) // cannot fail: value was read from JSON
	return json.RawMessage(text)
}
