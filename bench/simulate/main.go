//go:build linux

// Command simulate has thousands of relays and desks work on a NATS cluster of three nodes, pushes until something
// gives way, and writes down what that took. It asserts nothing.
//
// Every relay and every desk is the real end of a line, with keys, credentials and a TLS connection of its own. All of
// them live in this process; the nodes are processes of their own. Persons answer at once.
//
//	simulate [-relays 10000] [-desks 100] [-rates 50,100,200] [-for 20s] [-out FILE.md]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nod/e2e/clustertest"
)

func main() {
	clustertest.Main()
	var s simulation
	flag.IntVar(&s.relays, "relays", 10_000, "how many relays there are")
	flag.IntVar(&s.desks, "desks", 100, "… and desks, over which they are spread")
	flag.DurationVar(&s.lasts, "for", 20*time.Second, "how long each rate lasts")
	rates := flag.String("rates", "25,50,100,200,400", "how many requests a second there are, one rate after another")
	out := flag.String("out", "../build/simulate.md", "the `file` for the report")
	flag.Parse()
	if err := run(&s, *rates, *out); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(s *simulation, rates, out string) (err error) {
	for text := range strings.SplitSeq(rates, ",") {
		rate, err := strconv.Atoi(text)
		if err != nil || rate <= 0 {
			return fmt.Errorf("-rates: %q is not a rate", text)
		}
		s.rates = append(s.rates, rate)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "nod-simulate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = s.run(ctx, dir)
	return errors.Join(err, os.WriteFile(out, []byte(s.report.String()), 0o644))
}

// simulation is one run.
type simulation struct {
	relays, desks int
	rates         []int
	lasts         time.Duration

	cluster *clustertest.Cluster
	fleet   *fleet
	atRest  rate
	report  report
}

func (s *simulation) run(ctx context.Context, dir string) (err error) {
	if s.cluster, err = clustertest.Start(ctx, clustertest.Options{Dir: dir, Auth: true, TLS: true}); err != nil {
		return err
	}
	defer s.cluster.Close()
	s.report.begin(s)
	before, err := s.usage()
	if err != nil {
		return err
	}
	s.fleet = &fleet{cluster: s.cluster, seen: map[string]bool{}, stop: func() {}}
	defer s.fleet.stop() // its ends need not say goodbye to each other: all are in this process
	for _, phase := range []func(context.Context, usage) error{s.connect, s.rest, s.load, s.kill} {
		if err := phase(ctx, before); err != nil {
			return err
		}
	}
	return nil
}

// connect has everybody connect.
func (s *simulation) connect(ctx context.Context, before usage) error {
	began := time.Now()
	if err := s.fleet.start(ctx, s.relays, s.desks); err != nil {
		return err
	}
	s.awaitAll(ctx)
	took := time.Since(began)
	after, err := s.usage()
	if err != nil {
		return err
	}
	s.report.connected(s, took, before, after)
	return nil
}

// patience is how long the relays may take to connect.
const patience = 10 * time.Minute

// awaitAll waits until all relays have met their desk, and says meanwhile how many have.
func (s *simulation) awaitAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said := time.Now()
	for ctx.Err() == nil && s.fleet.joined() < s.relays {
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			fmt.Printf("%d of %d relays have met their desk\n", s.fleet.joined(), s.relays)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// rest has nobody ask: what is left is the cost of being there.
func (s *simulation) rest(ctx context.Context, _ usage) error {
	before, err := s.usage()
	if err != nil {
		return err
	}
	begin := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(2*s.lasts, 30*time.Second)):
	}
	after, err := s.usage()
	if err != nil {
		return err
	}
	s.atRest = after.since(before, time.Since(begin))
	s.report.rested(s.atRest, float64(s.relays+s.desks))
	return nil
}

// load has the relays ask at one rate after another, until most requests are not answered in time.
func (s *simulation) load(ctx context.Context, _ usage) error {
	for _, rate := range s.rates {
		before, err := s.usage()
		if err != nil {
			return err
		}
		begin := time.Now()
		got := s.fleet.ask(ctx, rate, s.lasts)
		took := time.Since(begin)
		after, err := s.usage()
		if err != nil {
			return err
		}
		s.report.loaded(rate, got, after.since(before, took), s.atRest, s.fleet.up())
		if ctx.Err() != nil || got.late() {
			break
		}
	}
	return nil
}

// kill kills a node, and has the relays ask on.
func (s *simulation) kill(ctx context.Context, _ usage) error {
	s.cluster.Kill(0)
	got := s.fleet.ask(ctx, 20, s.lasts)
	s.report.killed(got, s.fleet.up())
	return ctx.Err()
}
