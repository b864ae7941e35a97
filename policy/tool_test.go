package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestParseTools(t *testing.T) {
	agents, tools, err := parseTools(
		"# words\nagents: a b\npaths: trimmed\n\nread_only Grep p:tree=here g:only n -A e.x\nposix Sh c:command d:folder\n",
	)
	if err != nil || !slices.Equal(agents, []string{"a", "b"}) || len(tools) != 2 {
		t.Fatalf("%v: %v, %+v", err, agents, tools)
	}
	grep, sh := tools["Grep"], tools["Sh"]
	if grep.class != ReadOnly || grep.here == nil || !grep.paths.trimmed || grep.fields["g"] != onlyField ||
		grep.fields["-A"] != plainField ||
		grep.fields["e.x"] != plainField || grep.fields["e"] != unlisted ||
		grep.isShell {
		t.Errorf("Grep is %+v", grep)
	}
	if sh.class != Unknown || !sh.isShell || !sh.isPosix || sh.fields["d"] != folderField {
		t.Errorf("Sh is %+v", sh)
	}
	for text, want := range map[string]string{
		"read_only":                       "names no tool",
		"harmless Read p:read":            "unknown class",
		"read_only Read p:reed":           `"reed" is no meaning of a field`,
		"paths: odd":                      `"odd" is nothing that an agent does to a path`,
		"read_only A\nwrite B\nwrite A":   "A is there twice",
		"read_only Read p:read\nposix X:": "",
	} {
		if _, _, err := parseTools(text); (want == "") != (err == nil) ||
			(err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Every agent's tools can be looked up by each of its names, and what reads or writes a file says where.
func TestToolFiles(t *testing.T) {
	for agent, want := range map[string][]string{
		"claude-code": {"Read", "Bash", "WebFetch"}, "claude": {"Read"}, "codex": {"apply_patch", "exec_command"},
		"gemini-cli": {"read_many_files", "replace"}, "gemini": {"run_shell_command"}, "opencode": {"patch", "lsp"},
	} {
		for _, name := range want {
			if known, ok := lookup(agent, name); !ok || len(known.fields) == 0 {
				t.Errorf("%s %s: %+v", agent, name, known)
			}
		}
	}
}

func TestSpellings(t *testing.T) {
	for _, tt := range []struct {
		how  spelling
		path string
		want []string
	}{
		{spelling{}, "a", []string{"a"}},
		{spelling{}, " a", []string{"a", " a"}},
		{spelling{trimmed: true}, "\ta\n", []string{"a"}},
		{spelling{marked: true}, "@/a", []string{"@/a", "a"}},
		{spelling{encoded: true}, "%61", []string{"%61", "a"}},
		{spelling{encoded: true}, "100%", []string{"100%"}},
		{spelling{escaped: true}, `\~/a\ b\c`, []string{`\~/a\ b\c`, `~/a b\c`}},
		{spelling{marked: true, encoded: true}, "@%61", []string{"@%61", "%61", "@a", "a"}},
	} {
		if got := tt.how.of(tt.path); !slices.Equal(got, tt.want) {
			t.Errorf("%+v of %q: %q, want %q", tt.how, tt.path, got, tt.want)
		}
	}
}
