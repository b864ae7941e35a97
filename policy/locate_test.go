package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNamedFiles(t *testing.T) {
	tests := map[string]struct {
		agent, tool, input string
		want               []namedFile
	}{
		"a change":      {"claude-code", "Edit", `{"file_path":"a b","old_string":"/x","new_string":"y"}`, change("a b")},
		"a read":        {"claude-code", "Read", `{"file_path":"/etc/hosts"}`, []namedFile{{Path: "/etc/hosts"}}},
		"a command":     {"claude-code", "Bash", `{"command":"rm /etc/hosts","description":"/x"}`, nil},
		"nobody's tool": {"", "save", `{"target_path":" a","text":"/etc/hosts","path":7}`, change(" a")},
		"twice":         {"", "save", `{"path":"a","file":"a"}`, change("a")},
		"a list":        {"", "save", `{"files":["a","b",""]}`, []namedFile{{"a", true}, {"b", true}}},
		"no object":     {"", "save", `"path"`, nil},
	}
	for name, tt := range tests {
		call := Call{Agent: tt.agent, Tool: tt.tool, Input: ReadInput([]byte(tt.input))}
		if got := NamedFiles(call); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	var many []string
	for i := range 2 * maxNamedFiles {
		many = append(many, fmt.Sprintf("%q", fmt.Sprint(i)))
	}
	flood := Call{Tool: "save", Input: ReadInput([]byte(`{"files":[` + strings.Join(many, ",") + `]}`))}
	if n := len(NamedFiles(flood)); n != maxNamedFiles {
		t.Errorf("%d files, want %d", n, maxNamedFiles)
	}
}

func change(path string) []namedFile { return []namedFile{{Path: path, Changes: true}} }
