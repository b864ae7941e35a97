package registry

import (
	"testing"

	"nod/agents/agent"
	"nod/policy"
)

// No agent changes the files that make itself or another one ask nod.
func TestOwnFilesAreGuarded(t *testing.T) {
	m := machine(t)
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
			if !policy.IsGuarded(file.Path, false) {
				t.Errorf("%s: %s is not guarded", a.Name, file.Path)
			}
		}
	}
}
