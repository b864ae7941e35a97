//go:build linux

// Command bench measures what nod costs, beside other programs that do the same or the least that it can cost, and
// writes one report of it. It asserts nothing about times. It is a module of its own, so that nod depends on none of
// what it is compared with.
//
//	bench -bin FOLDER -out FOLDER [-quick] [-only GROUP,...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"nod/bench/report"
	"nod/bench/sample"
)

func main() {
	var b bench
	flag.StringVar(&b.bin, "bin", "../bin", "the `folder` with nod's programs")
	flag.StringVar(&b.out, "out", "../build", "the `folder` for the report, and for journals that take long to write")
	flag.BoolVar(&b.quick, "quick", false, "take few samples, only to see that the measuring works")
	only := flag.String("only", "", "measure these `groups` only, by their names in the report, with commas between")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second one ends the program on the spot
	b.ctx = ctx
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of the benchmarks.
type bench struct {
	ctx      context.Context
	bin, out string
	quick    bool
	peers    string // the folder with the programs that nod is compared with
}

// measurement measures one group of figures.
type measurement struct {
	name, how string
	measure   func(*bench) ([]report.Figure, error)
}

// measurements are all groups, in the order of the report.
var measurements = []measurement{
	{"Calls", callsHow, (*bench).calls},
	{"Hooks", hooksHow, (*bench).hooks},
	{"Windows", windowsHow, (*bench).windows},
	{"Rest", restHow, (*bench).rest},
	{"History", historyHow, (*bench).history},
	{"Sizes", sizesHow, (*bench).sizes},
}

func (b *bench) run(only string) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	if b.peers, err = os.MkdirTemp("", "nod-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.peers)
	if err := b.buildPeers(); err != nil {
		return err
	}
	r := report.Report{Began: time.Now(), Quick: b.quick, Machine: b.machine()}
	for _, m := range chosen {
		begin := time.Now()
		figures, failed := m.measure(b)
		if failed != nil { // the other groups are worth their while
			err = errors.Join(err, fmt.Errorf("%s: %w", m.name, failed))
			if b.ctx.Err() != nil {
				return err
			}
			continue
		}
		fmt.Printf("%-10s %6.1f s, %d figures\n", m.name, time.Since(begin).Seconds(), len(figures))
		r.Groups = append(r.Groups, report.Group{Name: m.name, How: m.how, Figures: figures})
	}
	r.Seconds = time.Since(r.Began).Seconds()
	return errors.Join(err, b.write(r))
}

// choose returns the measurements of those names; all without any.
func choose(only string) ([]measurement, error) {
	if only == "" {
		return measurements, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return strings.EqualFold(m.name, name) })
		if i < 0 {
			return nil, fmt.Errorf("no group %q: want some of %s", name, names())
		}
		chosen = append(chosen, measurements[i])
	}
	return chosen, nil
}

func names() string {
	var all []string
	for _, m := range measurements {
		all = append(all, strings.ToLower(m.name))
	}
	return strings.Join(all, ",")
}

func (b *bench) write(r report.Report) error {
	if err := r.WriteJSON(filepath.Join(b.out, "bench.json")); err != nil {
		return err
	}
	path := filepath.Join(b.out, "bench.md")
	if err := os.WriteFile(path, []byte(r.Markdown()), 0o644); err != nil {
		return err
	}
	fmt.Printf("%v in all: see %s\n", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), path)
	return nil
}

// times is how often something is measured: few times when the run is only to see that it works.
func (b *bench) times(n int) int {
	if b.quick {
		return max(2, n/20)
	}
	return n
}

// compare measures nod and its peers in turns. The first subject is nod; the figure is named after what both do.
func compare(what string, turns int, nod sample.Subject, peers ...sample.Subject) (report.Figure, error) {
	all, err := sample.InTurns(turns, append([]sample.Subject{nod}, peers...)...)
	if err != nil {
		return report.Figure{}, fmt.Errorf("%s: %w", what, err)
	}
	f := report.Figure{
		Name: what, Unit: report.Seconds, Value: all[0].Median(), P99: all[0].P99(), Samples: len(all[0]),
	}
	for i, p := range peers {
		f = f.Beside(p.Name, all[i+1].Median(), all[i+1].P99())
	}
	return f, nil
}
