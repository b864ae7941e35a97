// Package doctor finds out what prevents agents from asking through nod, and how to fix it.
//
// It starts, stops and changes nothing except for probes that decide nothing. Missing or broken parts are findings, not
// failures, and so is a check that exceeds its time.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"nod/agents/agent"
)

type status string

const (
	fine   status = "ok"
	warned status = "warning" // nod works, but with something missing
	failed status = "error"   // agents cannot ask, or nod cannot be relied on
)

// Finding is the result of one check.
type Finding struct {
	ID     string `json:"id"`    // for programs
	Title  string `json:"title"` // for people
	Status status `json:"status"`
	Detail string `json:"detail,omitempty"` // a sentence
	Fix    *cure  `json:"fix,omitempty"`
}

type cure struct {
	Command string `json:"command,omitempty"` // for a shell, or …
	Window  string `json:"window,omitempty"`  // … where to click
}

func run(format string, args ...any) *cure { return &cure{Command: fmt.Sprintf(format, args...)} }

func open(window string) *cure { return &cure{Window: window} }

func ok(format string, args ...any) Finding {
	return Finding{Status: fine, Detail: fmt.Sprintf(format, args...)}
}

func warning(fix *cure, format string, args ...any) Finding {
	return Finding{Status: warned, Fix: fix, Detail: fmt.Sprintf(format, args...)}
}

func failure(fix *cure, format string, args ...any) Finding {
	return Finding{Status: failed, Fix: fix, Detail: fmt.Sprintf(format, args...)}
}

type check struct {
	id, title string
	look      func(context.Context, *exam) []Finding
}

var checks = slices.Concat([]check{
	{"user", "user", checkUser},
	{"nod-desktop", "nod-desktop", checkDesktop},
	{"pause", "attention", checkAttention},
	{"versions", "versions", checkVersions},
}, sessionChecks, []check{
	{"windows", "windows", checkWindows},
	{"runtime", "runtime folder", checkRuntime},
	{"files", "files", checkFiles},
	{"disk", "disk", checkDisk},
	{"policy", "policy", checkPolicy},
	{"history", "history", checkHistory},
	{"agents", "agents", checkAgents},
	{"sandbox", "sandbox", checkSandbox},
	{"machines", "machines", checkMachines},
	{"autostart", "autostart", checkAutostart},
	{"crash", "crash", checkCrash},
})

const (
	patience = 30 * time.Second       // how long a check may take: that of the agents starts nod dozens of times
	grace    = 300 * time.Millisecond // until a cancelled check is abandoned
)

// Examine runs all checks concurrently, with hooks that run m's nod command. It returns the findings, the worst first,
// and how many of them are errors and warnings.
func Examine(ctx context.Context, m func() (agent.Machine, error)) (found []Finding, errors, warnings int) {
	found = examine(ctx, thisHost(m))
	for _, f := range found {
		switch f.Status {
		case failed:
			errors++
		case warned:
			warnings++
		}
	}
	return found, errors, warnings
}

func examine(ctx context.Context, h host) []Finding {
	e := begin(ctx, h)
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { found[i] = c.run(ctx, e) })
	}
	all.Wait()
	list := slices.Concat(found...)
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(weight[b.Status], weight[a.Status]) })
	return list
}

var weight = map[status]int{warned: 1, failed: 2}

func (c check) run(ctx context.Context, e *exam) []Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.look(ctx, e) }()
	var found []Finding
	select {
	case found = <-done:
	case <-time.After(patience + grace):
		found = []Finding{warning(nil, "this check took longer than %s", patience)}
	}
	for i := range found {
		found[i].ID = cmp.Or(found[i].ID, c.id)
		found[i].Title = cmp.Or(found[i].Title, c.title)
	}
	return found
}
