package doctor

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"nod/agents/agent"
)

func checkAgents(ctx context.Context, e *exam) []Finding {
	m, err := e.Machine()
	if err != nil {
		return []Finding{failure(run("nod agents list"), "nod can't look for agents: %v", err)}
	}
	if e.configErr == nil {
		m.Wait = e.config.Prompt.Timeout
	}
	m.Run = func(name string, args ...string) (string, error) {
		return e.Run(ctx, e.Environ, append([]string{name}, args...)...)
	}
	states := make([]agentState, len(e.Agents))
	var all sync.WaitGroup
	for i, a := range e.Agents {
		all.Go(func() { states[i] = e.checkAgent(ctx, a, m) })
	}
	all.Wait()
	var found []Finding
	var without []string
	for _, s := range states {
		switch {
		case s.finding != nil:
			found = append(found, *s.finding)
		case s.isThere:
			without = append(without, s.name)
		}
	}
	return append(found, others(found, without)...)
}

type agentState struct {
	name    string
	isThere bool     // its program exists
	finding *Finding // nil: its settings do not mention nod
}

func others(found []Finding, without []string) []Finding {
	names := strings.Join(without, ", ")
	switch {
	case len(without) == 0 && len(found) == 0:
		return []Finding{ok("no coding agent that nod knows is in PATH")}
	case len(without) == 0:
		return nil
	case len(found) == 0:
		install := run("nod agents install %s", without[0])
		return []Finding{warning(install, "no agent asks through nod yet; found: %s", names)}
	}
	return []Finding{ok("not set up: %s (nod agents install NAME)", names)}
}

func (e *exam) checkAgent(ctx context.Context, a agent.Agent, m agent.Machine) agentState {
	_, err := m.Look(a.Program)
	state := agentState{name: a.Name, isThere: err == nil}
	quiet := m
	quiet.Run = nil // the check has asked for the version
	status, err := a.Status(quiet)
	if !state.isThere && err != nil || err == nil && !status.Installed && !status.Partly {
		return state // leftovers of a removed agent do not matter
	}
	var steps []agent.Step
	if e.isRunning() && state.isThere && err == nil {
		status, steps = a.Check(ctx, m)
	}
	f := failure(run("${EDITOR:-vi} %s", quote(status.File)), "%v", err)
	if err == nil {
		f = e.judge(ctx, a, status, steps)
	}
	f.ID, f.Title = "agent-"+a.Name, a.Title
	state.finding = &f
	return state
}

// judge turns the results of the steps into a finding. Without steps the way to nod-desktop was not tested.
func (e *exam) judge(ctx context.Context, a agent.Agent, s agent.Status, steps []agent.Step) Finding {
	switch {
	case s.Dead != nil:
		return failure(repair(a), "%s", withoutCure(a.DeadHooks(s)))
	case !s.Installed:
		return failure(repair(a), "some of its hooks are missing in %s", s.File)
	case s.Off != nil:
		return failure(run("nod agents check %s", a.Name), "%s", oneLine(errors.Join(s.Off...)))
	case s.CutOff != nil:
		return failure(repair(a), "%s", withoutCure(s.CutOff))
	}
	for _, step := range steps {
		switch {
		case step.Err != nil && step.Hooks:
			return failure(repair(a), "%s: %s", step.What, withoutCure(step.Err))
		case step.Err != nil:
			return failure(run("nod agents check %s", a.Name), "%s: %s", step.What, withoutCure(step.Err))
		}
	}
	switch other, path := e.otherVersion(ctx, s.Runs); {
	case other != "":
		return warning(repair(a), "its hooks run %s, which is version %s", path, other)
	case steps == nil:
		return ok("its hooks are in %s, but were not tested", s.File)
	case s.Untested != "":
		return ok("a test call went through its hooks. %s", s.Untested)
	}
	return ok("a test call went through its hooks (version %s)", cmp.Or(s.Version, "not known"))
}

func withoutCure(err error) string {
	what, _, _ := strings.Cut(oneLine(err), ": run: ")
	return what
}

func (e *exam) otherVersion(ctx context.Context, runs []agent.Run) (number, path string) {
	for _, r := range runs {
		said, err := e.Run(ctx, e.Environ, "/bin/sh", "-c", "exec "+r.Program+" --version")
		number := firstWord(strings.TrimPrefix(said, "nod "))
		if err == nil && number != e.Version {
			return number, r.Nod
		}
	}
	return "", ""
}

func repair(a agent.Agent) *cure { return run("nod agents install %s", a.Name) }
