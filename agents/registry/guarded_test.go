package registry

import (
	"testing"

	"nod/agents/agent"
	"nod/policy"
)

// No agent changes the files that make itself or another one ask nod.
func TestOwnFilesAreGuarded(t *testing.T) {
	m := machine(t)
	isGuarded, _ := policy.GuardedIn(m.Home)
	for _, a := range Installable() {
		files := []agent.File{a.Settings(m)}
		if a.Needs != nil {
			files = append(files, a.Needs(m)...)
		}
		for _, more := range []func(agent.Machine) agent.File{a.Gate, a.Shell} {
			if more != nil {
				files = append(files, more(m))
			}
		}
		for _, file := range files {
			if !isGuarded(file.Path, false) {
				t.Errorf("%s: %s is not guarded", a.Name, file.Path)
			}
		}
	}
}

// Advice about an agent's own rules names the agent as its title does.
func TestOwnRulesNameTheirAgent(t *testing.T) {
	for _, a := range All() {
		if a.Own != nil && (a.Own.Agent != a.Name || a.Own.Title != a.Title) {
			t.Errorf("the own rules of %s (%s) are those of %q (%q)", a.Name, a.Title, a.Own.Agent, a.Own.Title)
		}
	}
}
