package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"nod/agents/agent"
	"nod/agents/registry"
)

// A silenceRow is what the tests print of an agent in a mode: what came of a call in each way of not deciding, and how
// often it asked again after an allow, a denial and none of them.
type silenceRow struct {
	Agent, Version, Mode string
	Silences, Cells      []string
	Again                []int
}

// sameCells reports whether two rows say the same.
func (r silenceRow) sameCells(o silenceRow) bool {
	return r.Agent == o.Agent && slices.Equal(r.Cells, o.Cells) && slices.Equal(r.Again, o.Again)
}

// A hookCost is how long a call takes with nod's hook and without, in milliseconds: the least and the median.
type hookCost struct {
	Agent, Version string
	With, Without  [2]float64
}

// What stands before the tables in a document, and behind them.
const (
	begin = "<!-- silence: begin -->\n"
	end   = "<!-- silence: end -->\n"
)

// fill writes the tables that the tests print into a document, in the place of those that are there.
func fill(path string, printed io.Reader) error {
	rows, costs, err := readSilence(printed)
	if err != nil {
		return fmt.Errorf("read what the tests print: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the tables, between %q and %q", path, begin, end)
	}
	tables := silenceTable(registry.All(), rows) + costTable(registry.All(), costs)
	return os.WriteFile(path, []byte(before+begin+tables+end+after), 0o600)
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

// merged joins the rows that say the same: those of one mode in several versions, then those of several modes.
func merged(rows []silenceRow) []silenceRow {
	join := func(same func(a, b silenceRow) bool, into func(r *silenceRow, more silenceRow)) {
		var joined []silenceRow
		for _, r := range rows {
			i := slices.IndexFunc(joined, func(o silenceRow) bool { return o.sameCells(r) && same(o, r) })
			if i < 0 {
				joined = append(joined, r)
				continue
			}
			into(&joined[i], r)
		}
		rows = joined
	}
	join(func(a, b silenceRow) bool { return a.Mode == b.Mode },
		func(r *silenceRow, more silenceRow) { r.Version += ", " + more.Version })
	join(func(a, b silenceRow) bool { return a.Version == b.Version },
		func(r *silenceRow, more silenceRow) { r.Mode += "; " + more.Mode })
	return rows
}

// silenceTable has a row for all modes of an agent in which the same comes of the same.
func silenceTable(agents []agent.Agent, rows []silenceRow) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	head := append([]string{"agent", "version", "mode"}, rows[0].Silences...)
	head = append(head, "asked again after Allow, Deny, neither")
	b.WriteString("\n| " + strings.Join(head, " | ") + " |\n" + strings.Repeat("|---", len(head)) + "|\n")
	for _, a := range agents {
		for _, r := range merged(rows) {
			if r.Agent == a.Name {
				again := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Again), " ", ", "), "[]")
				cells := append([]string{a.Title, r.Version, r.Mode}, r.Cells...)
				b.WriteString("| " + strings.Join(append(cells, again), " | ") + " |\n")
			}
		}
	}
	return b.String()
}

// costTable says for each agent how long a call takes.
func costTable(agents []agent.Agent, costs []hookCost) string {
	if len(costs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nHow long one of twenty reads took, from the model's call to what the model read of it:\n")
	b.WriteString("\n| agent | version | with nod's hook: least, median | without: least, median | more |\n")
	b.WriteString("|---|---|---|---|---|\n")
	for _, a := range agents {
		for _, c := range costs {
			if c.Agent == a.Name {
				fmt.Fprintf(&b, "| %s | %s | %.0f, %.0f ms | %.0f, %.0f ms | %.0f, %.0f ms |\n", a.Title, c.Version, c.With[0],
					c.With[1], c.Without[0], c.Without[1], c.With[0]-c.Without[0], c.With[1]-c.Without[1])
			}
		}
	}
	return b.String()
}
