package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nod/agents/agent"
)

// A silenceRow is what the tests print of an agent in a mode: what came of a call in each way of not deciding, and how
// often it asked again after an allow, a denial and none of them.
type silenceRow struct {
	Agent, Version, Mode string
	Silences, Cells      []string
	Again                []int
}

// A hookCost is how long a call takes with nod's hook and without, in milliseconds: the least and the median.
type hookCost struct {
	Agent, Version string
	With, Without  [2]float64
}

// readSilence finds the rows in what the tests print.
func readSilence(r io.Reader) (rows []silenceRow, costs []hookCost, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && err == nil {
		if _, text, ok := strings.Cut(lines.Text(), ": silence: "); ok {
			rows = append(rows, silenceRow{})
			err = json.Unmarshal([]byte(text), &rows[len(rows)-1])
		}
		if _, text, ok := strings.Cut(lines.Text(), ": cost: "); ok {
			costs = append(costs, hookCost{})
			err = json.Unmarshal([]byte(text), &costs[len(costs)-1])
		}
	}
	return rows, costs, cmp.Or(err, lines.Err())
}

// silenceTable has a line for all modes of an agent in which the same comes of the same.
func silenceTable(agents []agent.Agent, rows []silenceRow) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
## What comes of a call that nobody decides

A rule asks, and then: %s.
*denied*: nod denies the call. *asks*: the agent asks in its own way, and the call runs only if allowed there. –: nod
does not ask, and the call does not run. (T) in a terminal, (H) headless.

`, strings.Join(rows[0].Silences, ", "))
	for _, a := range agents {
		var lines []line
		for _, r := range rows {
			if r.Agent == a.Name {
				lines = append(lines, line{[]string{r.Version}, []string{r.Mode}, r.result()})
			}
		}
		for _, l := range merged(lines) {
			fmt.Fprintf(&b, "- %s %s\n", a.Title, l)
		}
	}
	return b.String()
}

// result is what most silences come to, then those that come to something else, and whether the agent asked again.
func (r silenceRow) result() string {
	most := r.Cells[0]
	for _, cell := range r.Cells {
		if count(r.Cells, cell) > count(r.Cells, most) {
			most = cell
		}
	}
	parts := []string{most}
	for i, cell := range r.Cells {
		if cell != most {
			parts = append(parts, r.Silences[i]+": "+cell)
		}
	}
	for i, answer := range []string{"Allow", "Deny", "neither"} {
		if i < len(r.Again) && r.Again[i] > 0 {
			parts = append(parts, fmt.Sprintf("asked again after %s: %d", answer, r.Again[i]))
		}
	}
	return strings.Join(parts, "; ")
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// costTable says for each agent how long a call takes.
func costTable(agents []agent.Agent, costs []hookCost) string {
	if len(costs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## What a hook costs\n\nFrom the model's call of a read to the model's reading its result: " +
		"the least and the median of twenty, in ms.\n\n| agent | with nod's hook | without |\n|---|---:|---:|\n")
	for _, a := range agents {
		for _, c := range costs {
			if c.Agent == a.Name {
				fmt.Fprintf(&b, "| %s %s | %.0f, %.0f | %.0f, %.0f |\n", a.Title, c.Version, c.With[0], c.With[1],
					c.Without[0], c.Without[1])
			}
		}
	}
	return b.String()
}
