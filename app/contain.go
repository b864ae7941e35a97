package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/adrg/xdg"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/app/contain"
	"nod/interact"
	"nod/ipc/peer"
	"nod/policy"
	"nod/policy/config"
	"nod/sandbox"
	"nod/sandbox/snapshot"
)

// openRuns prepares to run commands in the sandbox, including those that an earlier nod-desktop expected.
func (p *program) openRuns() {
	var err error
	p.runs, err = contain.New(contain.Config{
		Folder: p.dir, Cache: filepath.Join(xdg.CacheHome, "nod", "sandbox"),
		Snapshots: snapshot.DefaultFolder(), Home: xdg.Home, Processes: peer.Table{}, Log: p.log,
		Sandbox: func() policy.Containment {
			s := p.store.Config().Policy.Sandbox
			s.Hosts = p.store.SandboxHosts() // not those of a change that the user has not accepted
			return s
		},
		Forbids: p.store.Forbids, Entry: p.journal.Entry,
	})
	if err != nil {
		p.log.Warn("the last run's sandbox commands were not read", "err", err)
	}
}

// followSandbox tries this machine's sandbox. If it works, agents hand nod their commands while the sandbox is on for a
// project.
func (p *program) followSandbox() {
	if err := p.runs.Finish(p.ctx); err != nil {
		p.log.Error("nod ended during an undo or a command, and could not finish it", "err", err)
	}
	found, err := trySandbox(p.ctx, p.agentHooks.nod)
	if err != nil {
		p.log.Info("this machine has no sandbox", "err", err)
		p.noSandbox.Store(new(err.Error()))
		return
	}
	if p.log.Info("this machine has a sandbox", "by", found.Engine, "why", found.Why); found.Engine.OnlyReads() {
		p.noSandbox.Store(&found.Why)
	}
	p.runs.Ready(found.Engine)
	changes, stop := p.store.Changes()
	defer stop()
	var projects []string
	var prepared time.Time
	problems := map[string]string{} // by agent: each is told once
	for {
		c := p.store.Config()
		p.setShell(len(c.Policy.Sandbox.Projects) > 0, problems)
		if !slices.Equal(c.Policy.Sandbox.Projects, projects) || time.Since(prepared) > 24*time.Hour {
			projects, prepared = c.Policy.Sandbox.Projects, time.Now()
			p.prepare(c.History)
		}
		var look <-chan time.Time // hooks may be installed meanwhile; while the sandbox is off, nod sleeps
		if len(projects) > 0 {
			look = time.After(time.Minute)
		}
		select {
		case <-p.ctx.Done():
			return
		case <-changes:
		case <-look:
		}
	}
}

// trySandbox makes the program nod find out what can contain commands here, because nod also runs them.
func trySandbox(ctx context.Context, nod string) (found sandbox.Trial, err error) {
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, nod, "run", "--"+sandbox.TryFlag)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if text := strings.TrimSpace(complaint.String()); err != nil && text != "" {
		err = errors.New(text)
	}
	return found, err
}

// prepare takes the first snapshots of projects, and deletes those beyond the history's limits.
func (p *program) prepare(h config.History) {
	err := p.runs.Prepare(p.ctx, h.Keep, int64(h.MaxSize)<<20)
	if err != nil && p.ctx.Err() == nil {
		p.log.Warn("snapshots of projects", "err", err)
	}
}

// contains reports whether an agent's commands run in the sandbox once that is on for the project.
func (p *program) contains(who interact.Requester) bool {
	a, err := registry.Find(registry.All(), who.Agent)
	if err != nil || a.Shell == nil || !who.IsAgent {
		return false
	}
	contains, onlyReads := p.runs.Contains(who, "")
	return contains && !onlyReads
}

// setShell makes the agents that ask nod hand it their commands, or stop doing so. It tells the user about problems
// that are not in reported.
func (p *program) setShell(on bool, reported map[string]string) {
	m, err := agent.ThisMachine(p.agentHooks.nod)
	if err != nil {
		p.log.Warn("agents can't run their commands through nod", "err", err)
		return
	}
	m.Run = nil
	for _, a := range registry.Installable() {
		all, err := a.Contain(m, on)
		for _, c := range all {
			if err == nil {
				err = c.Apply()
			}
		}
		switch {
		case err == nil:
			delete(reported, a.Name)
		case reported[a.Name] != err.Error():
			reported[a.Name] = err.Error()
			p.log.Warn("an agent does not run its commands through nod", "agent", a.Name, "on", on, "err", err)
			p.desk.Say(interact.Warning, lang.L("{{.Agent}}: commands can't run in the sandbox: {{.Problem}}",
				map[string]any{"Agent": a.Title, "Problem": err.Error()}))
		}
		if err == nil && len(all) > 0 {
			p.log.Info("agent's settings changed", "agent", a.Name, "hands over its commands", on)
		}
	}
}
