package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"nod/agents/registry"
	"nod/policy"
	"nod/policy/replay"
)

// What is asked of 100 calls of the transcripts in testdata, at most: as installed, and by a person who answers
// "always" wherever it is offered; and the same where all commands run in the sandbox that can.
const (
	maxAsked, maxAlways                   = 57.0, 10.3
	maxAskedContained, maxAlwaysContained = 26.1, 2.9
)

// TestFigures prints how often nod would have asked in real work, and fails when it would more often than it did.
func TestFigures(t *testing.T) {
	t.Setenv("HOME", "/home/dev") // whose transcripts they are
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // of both agents
	for _, name := range []string{"projects", "sessions"} {
		if err := os.Symlink(filepath.Join(here, "testdata"), filepath.Join(folder, name)); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("CLAUDE_CONFIG_DIR", folder)
	t.Setenv("CODEX_HOME", folder)
	files, err := registry.Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		isContained   bool
		asked, always float64
	}{
		{"as installed", false, maxAsked, maxAlways},
		{"in the sandbox", true, maxAskedContained, maxAlwaysContained},
	} {
		sim, err := policy.NewSimulation(policy.Default(), policy.DefaultPlaces())
		if err != nil {
			t.Fatal(err)
		}
		if tt.isContained {
			sim.InSandbox()
		}
		r, err := replay.Run(t.Context(), files, sim, func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		if r.Files != 4 || r.Calls < 900 {
			t.Errorf("%d transcripts with %d calls; want 4 with at least 900", r.Files, r.Calls)
		}
		asked, always := 100*float64(r.Asked)/float64(r.Calls), 100*float64(r.Always)/float64(r.Calls)
		t.Logf("%s: of 100 calls %.1f are asked about, and %.1f with \"always\"", tt.name, asked, always)
		if asked > tt.asked || always > tt.always {
			t.Errorf("%s: of 100 calls %.1f are asked about, want at most %.1f; with \"always\" %.1f, want at most %.1f",
				tt.name, asked, tt.asked, always, tt.always)
		}
	}
}
