package app

import (
	"slices"
	"strings"
	"sync/atomic"

	"fyne.io/fyne/v2/lang"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/changes"
	"nod/interact"
	"nod/ipc/programs"
)

// agentHooks checks which program agents' hooks run: without a nod command they ask no user.
type agentHooks struct {
	nod     string // path of the nod command; may be empty
	machine func() (agent.Machine, error)
	screens changes.Signal           // look again: what is on screen has changed, and the user may have repaired them
	dead    atomic.Pointer[[]string] // titles of the agents whose hooks run no nod; nil: not checked yet
}

func newAgentHooks(nod string) *agentHooks {
	return &agentHooks{nod: nod, machine: agent.Here, screens: changes.NewSignal()}
}

// refresh updates the copy of nod that hooks run, or restores it.
func (h *agentHooks) refresh() error {
	if h.nod == "" {
		return nil
	}
	if err := programs.Refresh(h.nod); err != nil {
		return err
	}
	for _, s := range h.look() {
		runsCopy := func(r agent.Run) bool { return programs.IsKept(r.Nod) }
		if s.Dead != nil && slices.ContainsFunc(s.Runs, runsCopy) {
			return programs.Keep(h.nod)
		}
	}
	return nil
}

// look returns the state of all agents' hooks without running a program. The settings report what cannot be read.
func (h *agentHooks) look() map[string]agent.Status {
	m, err := h.machine()
	if err != nil {
		return nil
	}
	m.Run = nil
	found := map[string]agent.Status{}
	for _, a := range registry.Installable() {
		if s, err := a.Status(m); err == nil {
			found[a.Title] = s
		}
	}
	return found
}

func (h *agentHooks) check() (dead []string) {
	for title, s := range h.look() {
		if s.Dead != nil {
			dead = append(dead, title)
		}
	}
	slices.Sort(dead)
	h.dead.Store(&dead)
	return dead
}

// problem says in a sentence which hooks do not run nod; it is empty if all do.
func (h *agentHooks) problem() string {
	dead := h.dead.Load()
	if dead == nil || len(*dead) == 0 {
		return ""
	}
	return lang.L("Hooks that don't reach nod: {{.Agents}}. See Agents in the settings",
		map[string]any{"Agents": strings.Join(*dead, ", ")})
}

// checkHooks updates the copy of nod that hooks run, and tells the user about hooks that do not run nod. It checks
// again after each change on screen until they are repaired.
func (p *program) checkHooks() {
	if err := p.agentHooks.refresh(); err != nil {
		p.log.Warn("hooks run an earlier nod, or none", "err", err)
	}
	dead := p.agentHooks.check()
	if len(dead) == 0 {
		return
	}
	p.log.Warn("agents' hooks are broken", "agents", dead)
	p.desk.Say(interact.Warning, lang.L("{{.Agents}}: the hooks run a nod command that doesn't exist, so they don't ask "+
		"nod. Repair them in nod's settings, under Agents.", map[string]any{"Agents": strings.Join(dead, ", ")}))
	p.desk.Refresh()
	for len(dead) > 0 {
		select {
		case <-p.ctx.Done():
			return
		case <-p.agentHooks.screens:
		}
		dead = p.agentHooks.check()
		p.desk.Refresh()
	}
}
