// Command table makes agents/README.md, the table of what the released agents were seen to do with nod, of what the
// tests of the agents print: "go test -v -run TestAgent ./e2e | table". What no test drives is told apart. With the
// path of a document it writes into that what came of calls that nobody decided, and what the hooks cost, instead.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"nod/agents/agent"
	"nod/agents/registry"
)

func main() {
	if len(os.Args) > 1 {
		if err := fill(os.Args[1], os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "table:", err)
			os.Exit(1)
		}
		return
	}
	seen, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "table: read what the tests print:", err)
		os.Exit(1)
	}
	fmt.Print(table(registry.All(), seen))
}

// A row is an agent in one of its modes.
type row struct{ agent, version, mode string }

// A scenario is a column, with the names of the tests that show it.
type scenario struct {
	name  string
	tests *regexp.Regexp
}

// scenarios are all of them. The first that fits a test counts.
var scenarios = []scenario{
	{"away and strict", regexp.MustCompile(`away_and_strict`)},
	{"away", regexp.MustCompile(`away`)},
	{"nod killed", regexp.MustCompile(`nod_killed`)},
	{"agent killed", regexp.MustCompile(`^TestAgentKilled`)},
	{"question", regexp.MustCompile(`(?i)question|Other|Form`)},
	{"plan", regexp.MustCompile(`CodePlan`)},
	{"elicitation", regexp.MustCompile(`Elicitation`)},
	{"subagent", regexp.MustCompile(`(?i)subagent`)},
	{"ask rule, guards", regexp.MustCompile(`CodeModes|ask_rule|rule_asks|rule_that_asks|asks_by_a_rule`)},
	{"deny rule", regexp.MustCompile(`denied_by_a_rule`)},
	{"always", regexp.MustCompile(`(?i)always|KeepsARule|Suggestion`)},
	{"answered elsewhere", regexp.MustCompile(`in_the_terminal|first$|cancelled_in`)},
	{"closed", regexp.MustCompile(`closed|dismissed`)},
	{"read-only", regexp.MustCompile(`reads`)},
	{"denied", regexp.MustCompile(`denied`)},
	{"allowed", regexp.MustCompile(`allowed`)},
}

var (
	result = regexp.MustCompile(`^\s*--- (PASS|FAIL): (TestAgent\S+)`)
	modes  = regexp.MustCompile(`acceptEdits|bypassPermissions|dontAsk|auto|plan|yolo`)
)

// read lists, by row, the scenarios that were driven, and whether every test of each has passed.
func read(r io.Reader) (map[row]map[string]bool, error) {
	passed, err := results(r)
	if err != nil {
		return nil, err
	}
	seen := map[row]map[string]bool{}
	for test, ok := range passed {
		at, known := place(test)
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.tests.MatchString(test) })
		if !known || i < 0 {
			continue
		}
		if seen[at] == nil {
			seen[at] = map[string]bool{}
		}
		name := scenarios[i].name
		others, driven := seen[at][name]
		seen[at][name] = ok && (others || !driven)
	}
	return seen, nil
}

// results says of every test without parts whether it passed.
func results(r io.Reader) (map[string]bool, error) {
	passed := map[string]bool{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := result.FindStringSubmatch(lines.Text()); m != nil {
			passed[m[2]] = m[1] == "PASS"
		}
	}
	for test := range passed {
		for whole := path.Dir(test); whole != "."; whole = path.Dir(whole) {
			delete(passed, whole)
		}
	}
	return passed, lines.Err()
}

// place tells by a test's name which agent it drives, in which version and mode.
func place(test string) (row, bool) {
	agents := registry.All()
	i := slices.IndexFunc(agents, func(a agent.Agent) bool {
		word, _, _ := strings.Cut(a.Title, " ")
		return strings.Contains(strings.ToLower(test), strings.ToLower(word))
	})
	if i < 0 || len(agents[i].Tested) == 0 {
		return row{}, false
	}
	tested := agents[i].Tested
	at := row{agents[i].Title, tested[len(tested)-1], "default"}
	if strings.Contains(test, "/oldest") {
		at.version = tested[0]
	}
	if mode := modes.FindString(test); mode != "" {
		at.mode = mode
	}
	switch {
	case strings.HasPrefix(test, "TestAgentACP"):
		at.mode = "behind nod acp"
	case strings.HasPrefix(test, "TestAgentGeminiGate"), strings.Contains(test, "Gate"):
		at.mode = "nod alone asks"
	case strings.Contains(strings.ToLower(test), "headless"), strings.HasPrefix(test, "TestAgentClaudeCode/"):
		at.mode += ", headless"
	}
	return at, true
}

const intro = `# What the released agents were seen to do with nod

Made by ` + "`make test-agents`" + `, which drives each agent as released, with a model that follows a script and real
keys in nod's windows. ✓ every test of it passed; ✗ one failed; an empty cell: no test drives it, or the agent has no
such thing.

`

// table writes the rows in the agents' order, and names the agents that no test drives.
func table(agents []agent.Agent, seen map[row]map[string]bool) string {
	var b strings.Builder
	b.WriteString(intro + "| agent | version | mode |")
	for _, s := range scenarios {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", 3+len(scenarios)) + "\n")
	var documented []string
	for _, a := range agents {
		if len(a.Tested) == 0 && a.Settings != nil {
			documented = append(documented, a.Title)
		}
		for _, at := range rowsOf(a, seen) {
			fmt.Fprintf(&b, "| %s | %s | %s |", at.agent, at.version, at.mode)
			for _, s := range scenarios {
				b.WriteString(" " + mark(seen[at], s.name) + " |")
			}
			b.WriteString("\n")
		}
	}
	if len(documented) > 0 {
		b.WriteString("\nBuilt from their documents and not run: " + strings.Join(documented, ", ") + ".\n")
	}
	return b.String()
}

// rowsOf lists an agent's rows by version and mode.
func rowsOf(a agent.Agent, seen map[row]map[string]bool) []row {
	var rows []row
	for at := range seen {
		if at.agent == a.Title {
			rows = append(rows, at)
		}
	}
	slices.SortFunc(rows, func(x, y row) int {
		return cmp.Or(cmp.Compare(x.version, y.version), cmp.Compare(x.mode, y.mode))
	})
	return rows
}

func mark(seen map[string]bool, scenario string) string {
	passed, driven := seen[scenario]
	switch {
	case !driven:
		return ""
	case passed:
		return "✓"
	}
	return "✗"
}
