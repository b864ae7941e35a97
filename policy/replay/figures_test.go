package replay_test

import (
	"encoding/json"
	"testing"

	"nod/agents/registry"
	"nod/policy"
	"nod/policy/replay"
)

// What is asked of 100 calls of the transcripts in testdata, at most: as installed, and by a user who answers
// "always" wherever it is offered; and the same where all commands run in the sandbox that can.
const (
	maxAsked, maxAlways                   = 57.0, 10.3
	maxAskedContained, maxAlwaysContained = 26.1, 2.9
)

// TestFigures prints how often nod would have asked in real work, and fails when it would more often than it did.
func TestFigures(t *testing.T) {
	t.Setenv("HOME", "/home/dev") // whose transcripts they are
	files, err := registry.Transcripts([]string{"testdata"})
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
		r, err := replay.Run(t.Context(), files, sim, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Files != 4 || r.Calls+r.Questions != 960 || r.Skipped != 0 {
			t.Errorf("%d transcripts with %d calls, %d lines skipped; want 4 with 960", r.Files, r.Calls+r.Questions,
				r.Skipped)
		}
		log := func(name string, c replay.Counts) {
			t.Logf("%s, %s: of 100 calls %.1f are asked about, and %.1f with \"always\"", tt.name, name,
				asked(c), c.PerHundred())
		}
		log("all", r.Counts)
		for _, p := range r.Projects {
			log(p.Name, p.Counts)
		}
		if asked(r.Counts) > tt.asked || r.PerHundred() > tt.always {
			t.Errorf("%s: of 100 calls %.1f are asked about, want at most %.1f; with \"always\" %.1f, want at most %.1f",
				tt.name, asked(r.Counts), tt.asked, r.PerHundred(), tt.always)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}

func asked(c replay.Counts) float64 { return 100 * float64(c.Asked) / float64(c.Calls) }
