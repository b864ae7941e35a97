// Package report holds what was measured of nod and of what it is compared with, and writes it down: as JSON for
// programs, as Markdown for people, and into the documents that quote it.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// Report is all that one run of the benchmarks measured.
type Report struct {
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"` // how long it took
	Quick   bool      `json:"quick"`   // measured only to see that the measuring works
	Machine []Fact    `json:"machine"`
	Groups  []Group   `json:"groups"`
}

// Fact is something of the machine or of a program that the figures depend on.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Group is what was measured in one way.
type Group struct {
	Name    string   `json:"name"`
	How     string   `json:"how"` // it was measured, in a sentence or two
	Figures []Figure `json:"figures"`
}

// Figure is one quantity: of nod, and of its peers in the same run.
type Figure struct {
	Name     string  `json:"name"`
	Headline string  `json:"headline,omitzero"` // what the README calls it; empty: it does not quote it
	Unit     Unit    `json:"unit"`
	Value    float64 `json:"value"`
	P99      float64 `json:"p99,omitzero"` // which 99 of 100 samples stay under; zero where it says nothing
	Samples  int     `json:"samples,omitzero"`
	Peers    []Peer  `json:"peers,omitzero"`
}

// Peer is what a figure stands beside: another program that does the same, or the least that it can cost.
type Peer struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	P99   float64 `json:"p99,omitzero"`
	Ratio float64 `json:"ratio"` // of nod's value to this one
}

// Beside adds a peer to the figure.
func (f Figure) Beside(name string, value, p99 float64) Figure {
	p := Peer{Name: name, Value: value, P99: p99}
	if value != 0 {
		p.Ratio = f.Value / value
	}
	f.Peers = append(f.Peers[:len(f.Peers):len(f.Peers)], p)
	return f
}

// Group finds a group by its name, in whatever case.
func (r Report) Group(name string) (Group, bool) {
	for _, g := range r.Groups {
		if strings.EqualFold(g.Name, name) {
			return g, true
		}
	}
	return Group{}, false
}

// Read reads a report that [Report.WriteJSON] has written.
func Read(path string) (r Report, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("read the report of make bench: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("read the report of make bench in %s: %w", path, err)
	}
	return r, nil
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
