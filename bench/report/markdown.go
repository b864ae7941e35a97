package report

import (
	"fmt"
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

// Table writes the figures of a group, a line for each peer.
func (g Group) Table() string {
	var b strings.Builder
	p99, peers := g.columns()
	row := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	pick := func(name, value, worst, peer, beside, ratio string) {
		cells := []string{name, value}
		if p99 {
			cells = append(cells, worst)
		}
		if peers {
			cells = append(cells, peer, beside, ratio)
		}
		row(cells...)
	}
	pick("", "nod", "p99", "beside", "", "ratio")
	pick("---", "---:", "---:", "---", "---:", "---:")
	for _, f := range g.Figures {
		name, value, worst := cell(f.Name), f.Unit.Format(f.Value), ""
		if f.P99 != 0 {
			worst = f.Unit.Format(f.P99)
		}
		if len(f.Peers) == 0 {
			pick(name, value, worst, "", "", "")
		}
		for _, p := range f.Peers {
			pick(name, value, worst, cell(p.Name), f.Unit.Format(p.Value), p.times())
			name, value, worst = "", "", "" // once is enough
		}
	}
	return b.String()
}

// columns reports whether any figure has a p99 and whether any has a peer.
func (g Group) columns() (p99, peers bool) {
	for _, f := range g.Figures {
		p99 = p99 || f.P99 != 0
		peers = peers || len(f.Peers) > 0
	}
	return p99, peers
}

// Headlines writes the figures for the README in one table.
func (r Report) Headlines() string {
	var b strings.Builder
	b.WriteString("| | nod | beside it, in the same run |\n|---|---:|---|\n")
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if f.Headline == "" {
				continue
			}
			var beside []string
			for _, p := range f.Peers {
				what := cell(p.Name) + " " + f.Unit.Format(p.Value)
				if p.Ratio != 0 {
					what += " (" + p.times() + ")"
				}
				beside = append(beside, what)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(f.Headline), f.Unit.Format(f.Value), strings.Join(beside, ", "))
		}
	}
	return b.String()
}

func (p Peer) times() string {
	if p.Ratio == 0 {
		return "" // of nothing
	}
	return times(p.Ratio)
}

// cell makes a text fit into one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
