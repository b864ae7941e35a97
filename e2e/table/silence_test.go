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
	printed := printedRow("1", "a", "2", "1") + printedRow("2", "a", "2", "1") + printedRow("1", "b", "2", "1") +
		printedRow("2", "b", "2", "1") + printedRow("1", "c", "3", "0") +
		`    cost_test.go:1: cost: {"Agent":"codex","Version":"2","With":[30.2,40],"Without":[10.1,15]}` + "\n"
	rows, costs, err := readSilence(strings.NewReader(printed))
	if err != nil {
		t.Fatal(err)
	}
	const want = `
| agent | version | mode | x | y | asked again after Allow, Deny, neither |
|---|---|---|---|---|---|
| Codex | 1, 2 | a; b | 1 | 2 | 0, 1, 0 |
| Codex | 1 | c | 1 | 3 | 0, 0, 0 |
`
	if got := silenceTable(registry.All(), rows); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	const cost = `
How long one of twenty reads took, from the model's call to what the model read of it:

| agent | version | with nod's hook: least, median | without: least, median | more |
|---|---|---|---|---|
| Codex | 2 | 30, 40 ms | 10, 15 ms | 20, 25 ms |
`
	if got := costTable(registry.All(), costs); got != cost {
		t.Errorf("got %s\nwant %s", got, cost)
	}
}
