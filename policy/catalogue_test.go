package policy

import (
	"slices"
	"strings"
	"testing"

	"nod/policy/invisible"
)

func TestClassify(t *testing.T) {
	const known = "claude-code"
	tests := []struct {
		name        string
		agent, tool string
		declared    Class
		trusted     bool
		want        Class
	}{
		{"a tool that looks", known, "Read", "", false, ReadOnly},
		{"the same under the agent's other name", "claude", "Read", "", false, ReadOnly},
		{"a tool that writes", known, "Write", "", false, Write},
		{"a tool that goes out", known, "WebFetch", "", false, Network},
		{"a tool that runs", known, "Agent", "", false, Execute},
		{"a tool that destroys", known, "ExitWorktree", "", false, Destructive},
		{"a shell, whose command nobody has read", known, "Bash", "", false, Unknown},
		{"a question to the human", known, "AskUserQuestion", "", false, Unknown},
		{"a caller makes its call stricter", known, "Read", Destructive, false, Destructive},
		{"a caller cannot make it laxer", known, "Write", ReadOnly, false, Write},
		{"trust does not make a known tool laxer", known, "Write", ReadOnly, true, Write},
		{"mutating means write", known, "Read", "mutating", false, Write},
		{"a class that is none", known, "Read", "harmless", false, Unknown},
		{"Codex", "codex", "apply_patch", "", false, Write},
		{"Gemini CLI", "gemini-cli", "grep_search", "", false, ReadOnly},
		{"Gemini CLI's shell", "gemini", "run_shell_command", "", false, Unknown},
		{"opencode", "opencode", "read", "", false, ReadOnly},

		{"a tool that nod doesn't know", known, "Peek", "", false, Unknown},
		{"its word is not enough", known, "Peek", ReadOnly, false, Unknown},
		{"but the human trusts it to classify", known, "Peek", ReadOnly, true, ReadOnly},
		{"which says mutating", known, "Peek", "mutating", true, Write},
		{"an agent that nod doesn't know", "bot", "Read", "", false, Unknown},
		{"whose word is not enough", "bot", "Read", ReadOnly, false, Unknown},
		{"but is trusted", "bot", "Read", ReadOnly, true, ReadOnly},
		{"no agent at all", "", "Read", "", false, Unknown},
		{"a shell stays a shell whoever trusts whom", "bot", "Bash", ReadOnly, true, Unknown},
		{"a shell in other letters", "bot", " BASH", ReadOnly, true, Unknown},
		{"an MCP tool whose server calls it read-only", known, "mcp__x__Read", ReadOnly, true, Unknown},
		{"an MCP tool of Gemini CLI", "gemini-cli", "mcp_x_read_file", ReadOnly, true, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := classify(tt.agent, tt.tool, tt.declared, tt.trusted); got != tt.want {
				t.Errorf("classify(%q, %q, %q, %v) = %s, want %s", tt.agent, tt.tool, tt.declared, tt.trusted, got, tt.want)
			}
		})
	}
}

// Names that are not exactly a tool's name are not that tool.
func TestSpoofedToolNames(t *testing.T) {
	names := []string{
		"", "read", "READ", "Read ", " Read", "Read\n", "Read\x00", "Read\u200b", "Re\u0430d", // Cyrillic а
		"Ｒead", "Read()", "Read(*)", "mcp__x__Read", "mcp__Read", "mcp_Read", "MCP:Read", "x__Read", "plugin:Read",
		"Read/../Write",
	}
	for _, agent := range []string{"claude-code", "claude", "codex", "gemini-cli", "gemini"} {
		for _, name := range names {
			call := Call{Agent: agent, Tool: name, Declared: ReadOnly, Input: ReadInput([]byte(`{"file_path":"/srv/x"}`))}
			if d := Decide(call, compiled(t, Default()), testNow); d.Effect != Ask || d.Class != Unknown {
				t.Errorf("%s %q: %s as %s, want ask as unknown", agent, name, d.Effect, d.Class)
			}
		}
	}
}

// Look-alikes of agents have no catalogue.
func TestSpoofedAgentNames(t *testing.T) {
	for _, agent := range []string{"", "Claude", "CLAUDE-CODE", "claude-code ", "claude_code", "clаude", "codex\u200b"} {
		call := Call{Agent: agent, Tool: "Read", Input: ReadInput([]byte(`{"file_path":"/srv/x"}`))}
		if d := Decide(call, compiled(t, Default()), testNow); d.Effect != Ask {
			t.Errorf("agent %q: %+v, want ask", agent, d)
		}
	}
}

// The catalogue holds together: shells and questions are never of a class that a user lets pass lightly.
func TestCatalogue(t *testing.T) {
	for agent, tools := range catalogue() {
		for name, known := range tools {
			if !slices.Contains(Classes, known.class) {
				t.Errorf("%s %s: class %q", agent, name, known.class)
			}
			if (known.isShell || known.isQuestion) && known.class != Unknown {
				t.Errorf("%s %s: a shell or a question of class %s", agent, name, known.class)
			}
			if isMCP(name) || strings.TrimSpace(name) != name || invisible.In(name) {
				t.Errorf("%s %q: no name for a built-in tool", agent, name)
			}
		}
	}
}

func TestStricter(t *testing.T) {
	for i, a := range Classes {
		for j, b := range Classes {
			if got := stricter(a, b); got != Classes[max(i, j)] {
				t.Errorf("Stricter(%s, %s) = %s", a, b, got)
			}
		}
		if got := stricter(a, "nonsense"); got != Unknown {
			t.Errorf("Stricter(%s, nonsense) = %s, want unknown", a, got)
		}
	}
}

func TestHidden(t *testing.T) {
	hidden := []rune{
		0, 7, '\b', '\r', 0x1b, 0x7f, 0x85, 0x9b, // control
		0xa0, 0x2003, 0x202f, 0x205f, // spaces that are not the space
		0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, // nothing to see
		0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0x061c, // order of letters
		0x2028, 0x2029, 0xe0001, 0xe0041, 0xfe0f, 0xe0100, 0x180e, 0x034f, // lines, tags, variations
		0x115f, 0x3164, 0xffa0, 0x2800, 0xfffd, 0xfffe, // fillers, blanks, what could not be read
	}
	for _, r := range hidden {
		if !invisible.Hidden(r) {
			t.Errorf("invisible.Hidden(%U) = false", r)
		}
	}
	for _, r := range "a~ \n\té中　😀’—Ω" {
		if invisible.Hidden(r) {
			t.Errorf("invisible.Hidden(%U) = true", r)
		}
	}
}
