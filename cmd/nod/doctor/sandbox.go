package doctor

import (
	"context"
	"errors"

	"nod/agents/agent"
	"nod/sandbox"
)

// checkSandbox checks whether commands can run in the sandbox. If not, nod asks about them.
func checkSandbox(ctx context.Context, e *exam) []Finding {
	if e.Sandbox == nil {
		return nil // not on this system
	}
	nod, err := e.Program("nod")
	var found sandbox.Trial
	if err == nil {
		found, err = e.Sandbox(ctx, nod)
	}
	by, why := found.Engine, inOneLine(found.Why)
	projects := len(e.config.Policy.Sandbox.Projects)
	switch {
	case err != nil && projects == 0:
		return []Finding{ok("off, and commands can't run in one: %s", oneLine(err))}
	case errors.Is(err, context.DeadlineExceeded):
		return []Finding{warning(run("nod doctor"), "testing it took longer than %s", patience)}
	case err != nil:
		return []Finding{failure(e.mendSandbox(), "it is on, but commands can't run in it: %s",
			oneLine(err))}
	case by.OnlyReads() && projects == 0:
		return []Finding{ok("off, and only commands that read can run in one, by %s: %s", by, why)}
	case by.OnlyReads():
		return append([]Finding{warning(e.mendSandbox(), "only commands that read run in one, by %s: %s", by,
			why)}, e.checkShells()...)
	case projects == 0:
		return []Finding{ok("commands can run in a sandbox, by %s; it is on for no project", by)}
	}
	return append([]Finding{ok("commands can run in a sandbox, by %s; projects with it: %d", by, projects)},
		e.checkShells()...)
}

func (e *exam) mendSandbox() *cure {
	if _, err := e.Look("bwrap"); err != nil {
		return e.install(bubblewrap)
	}
	return open(`docs/install.md, "For the sandbox"`)
}

func (e *exam) checkShells() []Finding {
	m, err := e.Machine()
	if err != nil {
		return nil // another check reports it
	}
	m.Run = nil
	var found []Finding
	for _, a := range e.Agents {
		found = append(found, e.checkShell(a, m)...)
	}
	return found
}

func (e *exam) checkShell(a agent.Agent, m agent.Machine) []Finding {
	changes, err := a.Contain(m, true)
	var f Finding
	switch {
	case err != nil:
		f = warning(run("${EDITOR:-vi} %s", quote(a.Shell(m).Path)), "%s's commands don't run in it: %s", a.Title,
			oneLine(err))
	case len(changes) == 0:
		return nil
	default:
		if now, err := a.Shell(m).Look(changes[0].Before); err == nil && now.Some {
			return nil // to nod-desktop's nod, which is not the one that looks
		}
		f = warning(start(), "%s's commands don't run in it yet: nod-desktop changes %s within a minute", a.Title,
			changes[0].Path)
		if e.isRunning() {
			f.Fix = run("nod log")
		}
	}
	f.ID = "sandbox-" + a.Name
	return []Finding{f}
}
