package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nod/agents/agent"
	"nod/agents/claude"
	"nod/agents/codex"
)

// Hooks of a nod that is gone are noticed, and so is that they were repaired.
func TestDeadHooksAreNoticed(t *testing.T) {
	home := t.TempDir()
	m := agent.Machine{
		Home: home, Nod: "/gone/bin/nod", Env: func(string) string { return "" },
		Look: func(string) (string, error) { return "", os.ErrNotExist },
		Runs: func(program string) error {
			if program == "/gone/bin/nod" {
				return errors.New("it is gone")
			}
			return nil
		},
		Run: func(string, ...string) (string, error) {
			t.Error("a program was run")
			return "", nil
		},
	}
	h := newAgentHooks("")
	h.machine = func() (agent.Machine, error) { return m, nil }
	install := func(agents ...agent.Agent) {
		t.Helper()
		for _, a := range agents {
			changes, err := a.Install(m, false)
			for _, c := range changes {
				err = errors.Join(err, c.Apply())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if dead := h.check(); len(dead) > 0 || h.problem() != "" {
		t.Fatalf("nothing is set up: %q, %q", dead, h.problem())
	}
	install(claude.Agent, codex.Agent)
	if dead := h.check(); !slices.Equal(dead, []string{"Claude Code", "Codex"}) {
		t.Errorf("dead: %q", dead)
	}
	if want := "Hooks that don't reach nod: Claude Code, Codex. See Agents in the settings"; h.problem() != want {
		t.Errorf("problem %q, want %q", h.problem(), want)
	}
	m.Nod = "/usr/bin/nod"
	install(claude.Agent)
	if dead := h.check(); !slices.Equal(dead, []string{"Codex"}) {
		t.Errorf("dead: %q", dead)
	}
	if err := os.WriteFile(filepath.Join(home, ".codex", "hooks.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if dead := h.check(); len(dead) > 0 || h.problem() != "" {
		t.Errorf("what cannot be read is not for the tray to say: %q", dead)
	}
}
