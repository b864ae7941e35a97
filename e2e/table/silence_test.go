package main

import (
	"strings"
	"testing"

	"nod/agents/registry"
)

// printedRow is a line that a test prints.
func printedRow(version, mode, second, again string) string {
	return `    silence_test.go:1: silence: {"Agent":"codex","Version":"` + version + `","Mode":"` + mode +
		`","Silences":["x","y"],"Cells":["1","` + second + `"],"Again":[0,` + again + `,0]}` + "\n"
}

func TestSilenceTable(t *testing.T) {
	printed := printedRow("1", "a, terminal", "2", "1") + printedRow("2", "a, terminal", "2", "1") +
		printedRow("1", "b", "2", "1") +
		printedRow("2", "b", "2", "1") + strings.Replace(printedRow("1", "c", "3", "0"), `"1","3"`, `"3","3"`, 1) +
		`    cost_test.go:1: cost: {"Agent":"codex","Version":"2","With":[30.2,40],"Without":[10.1,15]}` + "\n"
	rows, costs, err := readSilence(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	const want = `
- Codex 1, 2: a (T); b → 1; y: 2; asked again after Deny: 1
- Codex 1: c → 3
`
	if got := silenceTable(registry.All(), rows); !strings.HasSuffix(got, want) || !strings.Contains(got, "then: x, y.") {
		t.Errorf("got %s\nwant %s", got, want)
	}
	const cost = `
| agent | with nod's hook | without |
|---|---:|---:|
| Codex 2 | 30, 40 | 10, 15 |
`
	if got := costTable(registry.All(), costs); !strings.HasSuffix(got, cost) {
		t.Errorf("got %s\nwant %s", got, cost)
	}
}
