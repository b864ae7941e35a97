//go:build linux

package main

import (
	"fmt"
	"os"
	"time"

	"nod/bench/report"
	"nod/bench/sample"
	"nod/policy"
)

const decisionsHow = "One decision about a call that has been read, in this process, by 10 to 10,000 rules of " +
	"the kinds that people write, said alike in Cedar and in Rego; all must agree before they are measured. The " +
	"peers compare texts. nod also reads a command as a shell would, follows the links of paths, and looks for what " +
	"is always asked about. A sample is the mean over at least 2 ms."

// An engine decides by rules. It returns what decides about one call, over and over.
type engine func(toolCall) (decide func() (allow bool, err error), err error)

// engines make the engines that are compared, nod first.
var engines = []struct {
	name string
	make func(rules int, home string) (engine, error)
}{
	{"nod", nodEngine}, {"cedar-go", cedarEngine}, {"OPA", regoEngine},
}

func nodEngine(rules int, home string) (engine, error) {
	compiled, err := compile(rules, home)
	if err != nil {
		return nil, err
	}
	return func(c toolCall) (func() (bool, error), error) {
		return func() (bool, error) {
			return policy.Decide(c.Call, compiled, time.Now()).Effect == policy.Allow, nil
		}, nil
	}, nil
}

// decisions measures decisions by more and more rules.
func (b *bench) decisions() (figures []report.Figure, err error) {
	home, err := os.MkdirTemp("", "nod-home-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	calls, err := toolCalls(home)
	if err != nil {
		return nil, err
	}
	for _, rules := range []int{10, 100, 1000, 10_000} {
		some, err := b.decide(rules, home, calls)
		if err != nil {
			return nil, fmt.Errorf("%d rules: %w", rules, err)
		}
		figures = append(figures, some...)
	}
	return figures, nil
}

// decide measures decisions about each call by so many rules.
func (b *bench) decide(rules int, home string, calls []toolCall) (figures []report.Figure, err error) {
	var all []engine
	for _, e := range engines {
		made, err := e.make(rules, home)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		all = append(all, made)
	}
	for _, c := range calls {
		subjects, err := deciders(all, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		what := fmt.Sprintf("%s, %s rules", c.name, thousands(rules))
		f, err := compare(what, b.times(60), subjects[0], subjects[1:]...)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// deciders are the engines with one call to decide about, on which they agree.
func deciders(all []engine, c toolCall) (subjects []sample.Subject, err error) {
	var first bool
	for i, e := range all {
		name := engines[i].name
		decide, err := e(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		allow, err := decide()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			first = allow
		}
		if allow != first {
			return nil, fmt.Errorf("%s says %v, %s %v: they decide by different rules", engines[0].name, first, name, allow)
		}
		subjects = append(subjects, sample.Mean(name, func() error {
			_, err := decide()
			return err
		}))
	}
	return subjects, nil
}
