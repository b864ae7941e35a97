// Command table turns what the tests of the agents print into two files: agents/tests.tsv, with the result of each
// scenario, and agents/README.md, with the outcome of calls that nobody decided and the cost of the hooks.
//
//	go test -v -run 'TestAgent|TestSilence' ./e2e | table agents
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nod/agents/agent"
	"nod/agents/registry"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// write writes both files into a folder.
func write(folder string, r io.Reader) error {
	printed, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	seen, err := read(bytes.NewReader(printed))
	if err != nil {
		return err
	}
	silences, costs, err := readSilence(bytes.NewReader(printed))
	if err != nil {
		return err
	}
	agents := registry.All()
	page := summary(agents, seen) + silenceTable(agents, silences) + costTable(agents, costs)
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "tests.tsv"), []byte(table(agents, seen)), 0o600),
		os.WriteFile(filepath.Join(folder, "README.md"), []byte(page), 0o600))
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
	{"ask rules and guards", regexp.MustCompile(`CodeModes|ask_rule|rule_asks|rule_that_asks|asks_by_a_rule`)},
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
	passed, err := outcomes(r)
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

// outcomes says of every test without parts whether it passed.
func outcomes(r io.Reader) (map[string]bool, error) {
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

const intro = `# Tests with released agents

` + "`make test-agents`" + ` writes this page. It drives each agent as released, with a scripted model and real keys
in nod's windows. [tests.tsv](tests.tsv) has the result of each scenario.

`

// summary says how many scenarios have passed, names those that failed, and the agents that no test drives.
func summary(agents []agent.Agent, seen map[row]map[string]bool) string {
	var documented, failed []string
	passed := 0
	for _, a := range agents {
		if len(a.Tested) == 0 && a.Settings != nil {
			documented = append(documented, a.Title)
		}
		for _, at := range rowsOf(a, seen) {
			for _, s := range scenarios {
				if ok, driven := seen[at][s.name]; ok {
					passed++
				} else if driven {
					failed = append(failed, fmt.Sprintf("%s %s, %s: %s", at.agent, at.version, at.mode, s.name))
				}
			}
		}
	}
	text := fmt.Sprintf("%sPassed: %d. Failed: %s.", intro, passed, cmp.Or(strings.Join(failed, "; "), "none"))
	if len(documented) > 0 {
		text += " Built from their documents and not run: " + strings.Join(documented, ", ") + "."
	}
	return text + "\n"
}

// table has a row for each scenario that was driven, in the agents' order.
func table(agents []agent.Agent, seen map[row]map[string]bool) string {
	var b strings.Builder
	b.WriteString("agent\tversion\tmode\tscenario\tresult\n")
	for _, a := range agents {
		for _, at := range rowsOf(a, seen) {
			for _, s := range scenarios {
				if ok, driven := seen[at][s.name]; driven {
					result := map[bool]string{true: "passed", false: "failed"}[ok]
					b.WriteString(strings.Join([]string{a.Name, at.version, at.mode, s.name, result}, "\t") + "\n")
				}
			}
		}
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

// A line holds for some versions and modes of an agent.
type line struct {
	versions, modes []string
	cells           string
}

func (l line) String() string {
	return fmt.Sprintf("%s: %s → %s", strings.Join(l.versions, ", "), short(l.modes), l.cells)
}

// merged joins the lines of an agent that say the same: those of one mode in several versions, then those of several
// modes.
func merged(lines []line) []line {
	join := func(same func(a, b line) bool, into func(l *line, more line)) {
		var joined []line
		for _, l := range lines {
			i := slices.IndexFunc(joined, func(o line) bool { return o.cells == l.cells && same(o, l) })
			if i < 0 {
				joined = append(joined, l)
				continue
			}
			into(&joined[i], l)
		}
		lines = joined
	}
	join(func(a, b line) bool { return slices.Equal(a.modes, b.modes) },
		func(l *line, more line) { l.versions = append(l.versions, more.versions...) })
	join(func(a, b line) bool { return slices.Equal(a.versions, b.versions) },
		func(l *line, more line) { l.modes = append(l.modes, more.modes...) })
	return lines
}

// short writes modes with how they were run: "auto, headless" and "auto, terminal" are "auto (H, T)"; with "auto" it is
// "auto (also H, T)".
func short(modes []string) string {
	var names []string
	how := map[string][]string{}
	for _, m := range modes {
		mark := "" // the tests do not say
		if rest, ok := strings.CutSuffix(m, "headless"); ok {
			m, mark = rest, "H"
		} else if rest, ok := strings.CutSuffix(m, "terminal"); ok {
			m, mark = rest, "T"
		}
		m = strings.TrimSuffix(m, ", ")
		if !slices.Contains(names, m) {
			names = append(names, m)
		}
		how[m] = append(how[m], mark)
	}
	for i, n := range names {
		marks, also := slices.DeleteFunc(how[n], func(m string) bool { return m == "" }), ""
		if len(marks) < len(how[n]) {
			also = "also "
		}
		if len(marks) > 0 {
			names[i] = strings.TrimSpace(fmt.Sprintf("%s (%s%s)", n, also, strings.Join(marks, ", ")))
		}
	}
	return strings.Join(names, "; ")
}
