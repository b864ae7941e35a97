package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Markdown writes the whole report for people.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What nod costs\n\n%s\n", r.head())
	for _, f := range r.Machine {
		fmt.Fprintf(&b, "- %s: %s\n", f.Name, f.Value)
	}
	fmt.Fprintf(&b, "\n%s\n", legend)
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", g.Name, g.How, g.Table())
	}
	return b.String()
}

// legend explains the tables.
const legend = "Each figure is the median of its samples. Each peer was measured in the same run, in turns with nod " +
	"where that can be; the ratio is nod's figure to the peer's. p99 is what 99 of 100 samples of nod's stay under."

// head says when the report was made, and how long that took.
func (r Report) head() string {
	took := time.Duration(r.Seconds * float64(time.Second)).Round(time.Second)
	head := fmt.Sprintf("Measured on %s, in %v.", r.Began.UTC().Format("2006-01-02 15:04 UTC"), took)
	if r.Quick {
		head += " A quick run: few samples, only to see that the measuring works."
	}
	return head + "\n"
}

// Table writes the figures of a group, a line for each.
func (g Group) Table() string {
	var b strings.Builder
	p99 := slices.ContainsFunc(g.Figures, func(f Figure) bool { return f.P99 != 0 })
	peers := slices.ContainsFunc(g.Figures, func(f Figure) bool { return len(f.Peers) > 0 })
	row := func(name, value, worst, beside string) {
		cells := []string{name, value}
		if p99 {
			cells = append(cells, worst)
		}
		if peers {
			cells = append(cells, beside)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	row("figure", "nod", "p99", "beside it")
	row("---", "---:", "---:", "---")
	for _, f := range g.Figures {
		worst := ""
		if f.P99 != 0 {
			worst = f.Unit.Format(f.P99)
		}
		row(cell(f.Name), f.Unit.Format(f.Value), worst, f.beside())
	}
	return b.String()
}

// Headlines writes the figures for the README in one table.
func (r Report) Headlines() string {
	var b strings.Builder
	b.WriteString("| | nod | beside it, in the same run |\n|---|---:|---|\n")
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if f.Headline != "" {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(f.Headline), f.Unit.Format(f.Value), f.beside())
			}
		}
	}
	return b.String()
}

// beside names the peers of a figure, with their values and how nod compares.
func (f Figure) beside() string {
	var all []string
	for _, p := range f.Peers {
		what := cell(p.Name) + " " + f.Unit.Format(p.Value)
		if p.Ratio != 0 {
			what += " (" + times(p.Ratio) + ")"
		}
		all = append(all, what)
	}
	return strings.Join(all, ", ")
}

// cell makes a text fit into one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
