//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	reports "nod/bench/report"
)

// report is what the simulation found, for people.
type report struct{ strings.Builder }

func (r *report) say(format string, a ...any) {
	line := fmt.Sprintf(format, a...)
	fmt.Println(line)
	r.WriteString(line + "\n")
}

func (r *report) begin(s *simulation) {
	load, _ := os.ReadFile("/proc/loadavg") // only for who reads it
	r.say("# %d relays and %d desks on three nodes", s.relays, s.desks)
	r.say("\n%s, %d cores for the nodes and all relays and desks, %s; load at the start: %s",
		time.Now().UTC().Format(time.DateTime+" UTC"), runtime.NumCPU(), runtime.Version(), load)
}

func (r *report) connected(s *simulation, took time.Duration, before, after usage) {
	use := after.since(before, took)
	ends := float64(s.relays + s.desks)
	r.say("- connected: %d of %d relays met their desk within %s; processors: nodes %.2f, the others %.2f",
		s.fleet.joined(), s.relays, took.Round(10*time.Millisecond), use.nodes, use.others)
	var nodes float64
	for i, n := range after.nodes {
		nodes += n.memory - before.nodes[i].memory
	}
	r.say("- memory: the largest node %s, each connection %s there and %s at its own end",
		reports.Bytes.Format(use.largest), reports.Bytes.Format(nodes/ends),
		reports.Bytes.Format((after.others.memory-before.others.memory)/ends))
}

func (r *report) rested(use rate, ends float64) {
	r.say("- at rest: processors: nodes %.3f, the others %.3f: that is %s and %s a second for each end; memory of the "+
		"largest node %s\n", use.nodes, use.others, reports.Seconds.Format(use.nodes/ends),
		reports.Seconds.Format(use.others/ends), reports.Bytes.Format(use.largest))
	r.say("| asked | answered | ask to prompt | p99 | answer to agent | p99 | whole | p99 | lost | processors: nodes | " +
		"others | processor time of a request: nodes | others | links up |")
	r.say("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
}

func (r *report) loaded(asked int, g *got, use, atRest rate, up int) {
	s := reports.Seconds.Format
	answered := float64(len(g.whole)) / g.took.Seconds()
	r.say("| %d/s | %.0f/s | %s | %s | %s | %s | %s | %s | %d | %.2f | %.2f | %s | %s | %d |",
		asked, answered, s(g.prompt.Median()), s(g.prompt.P99()), s(g.answer.Median()), s(g.answer.P99()),
		s(g.whole.Median()), s(g.whole.P99()), g.failed, use.nodes, use.others,
		s(max(0, use.nodes-atRest.nodes)/answered), s(max(0, use.others-atRest.others)/answered), up)
}

func (r *report) killed(g *got, up int) {
	r.say("\n- after a node was killed, of %d requests %d were not answered; half took up to %s, the slowest %s; "+
		"links up: %d",
		g.asked, g.failed, reports.Seconds.Format(g.whole.Median()), reports.Seconds.Format(g.slowest().Seconds()), up)
}
