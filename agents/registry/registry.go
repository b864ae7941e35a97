// Package registry lists the agents that nod knows. A new agent is a folder next to this one and a line in [All].
package registry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/agents/agent"
	"nod/agents/amp"
	"nod/agents/claude"
	"nod/agents/cline"
	"nod/agents/codex"
	"nod/agents/copilot"
	"nod/agents/crush"
	"nod/agents/cursor"
	"nod/agents/gemini"
	"nod/agents/generic"
	"nod/agents/goose"
	"nod/agents/kimi"
	"nod/agents/letta"
	"nod/agents/opencode"
	"nod/agents/qwen"
	"nod/agents/vscode"
	"nod/api"
	"nod/ipc/hooks"
	"nod/ipc/peer"
)

// All lists the agents in the order in which they are shown.
func All() []agent.Agent {
	return []agent.Agent{
		claude.Agent, codex.Agent, gemini.Agent, opencode.Agent, qwen.Agent, copilot.Agent, kimi.Agent, letta.Agent,
		amp.Agent, cline.Agent, cursor.Agent, vscode.Agent, crush.Agent, goose.Agent,
		generic.Agent,
	}
}

// Installable lists the agents that nod can install its hooks into.
func Installable() []agent.Agent { return with(func(a agent.Agent) bool { return a.Settings != nil }) }

func with(wanted func(agent.Agent) bool) []agent.Agent {
	return slices.DeleteFunc(All(), func(a agent.Agent) bool { return !wanted(a) })
}

// Find returns the agent of that name, or the only one whose name begins with it and a dash: claude-code for "claude".
func Find(agents []agent.Agent, name string) (agent.Agent, error) {
	called := slices.DeleteFunc(slices.Clone(agents), func(a agent.Agent) bool {
		return !strings.HasPrefix(a.Name+"-", name+"-")
	})
	if len(called) == 1 {
		return called[0], nil
	}
	return agent.Agent{}, fmt.Errorf("no agent named %q: want %s", name, strings.Join(Names(agents), ", "))
}

// Title returns the name of an agent as users know it, or the name itself if nod does not know the agent.
func Title(name string) string {
	known := All()
	if i := slices.IndexFunc(known, func(a agent.Agent) bool { return a.Name == name }); i >= 0 {
		return known[i].Title
	}
	return name
}

// IsAgent reports whether a program on this machine is that of the named agent.
func IsAgent(name string, program api.Parent) bool {
	return isInstalled(name, program) && peer.Runs(program)
}

func isInstalled(name string, program api.Parent) bool {
	what := installed{name, program.Exe}
	looked.Lock()
	defer looked.Unlock()
	found, isKnown := looked.at[what]
	if !isKnown || time.Since(found.at) > lookAgain {
		if len(looked.at) >= maxLooked {
			clear(looked.at)
		}
		found = look{time.Now(), what.look()}
		looked.at[what] = found
	}
	return found.is
}

// Finding an agent's program takes longer than everything else in an allowed call.
const (
	lookAgain = 10 * time.Second // what is installed may have changed by then
	maxLooked = 256              // programs; callers can name any agent
)

type installed struct{ agent, exe string }

type look struct {
	at time.Time
	is bool
}

var looked = struct {
	sync.Mutex
	at map[installed]look
}{at: map[installed]look{}}

func (i installed) look() bool {
	a, err := Find(All(), i.agent)
	if err != nil {
		return false
	}
	m, err := agent.Here()
	return err == nil && a.Is(m, i.exe)
}

// Names lists the names of agents.
func Names(agents []agent.Agent) []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// Protocols returns the hooks of all agents, by name.
func Protocols() map[string]hooks.Protocol {
	all := map[string]hooks.Protocol{}
	for _, a := range All() {
		all[a.Name] = a.Hooks
	}
	return all
}

// Settings reports whether the settings of the named agent, in an environment, switch its own prompt off, and how long
// they let it wait for nod's hook; 0 if that is unknown. HOME is the home folder on every platform.
func Settings(name string, env func(string) string) (gate bool, limit time.Duration) {
	a, err := Find(All(), name)
	if err != nil {
		return false, 0
	}
	return a.HookSettings(agent.Machine{Home: env("HOME"), Env: env})
}
