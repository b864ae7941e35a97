package copilot

import (
	"encoding/json"
	"slices"
	"testing"
)

// The file that nod writes is JSON, whatever the path of the nod command, and has a hook for every event.
func TestHookFile(t *testing.T) {
	text := hookFile(`/opt/my "own" $tools/nod`)
	var file struct {
		Version int                  `json:"version"`
		Hooks   map[string][]handler `json:"hooks"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Hooks) != len(events) {
		t.Errorf("%s", text)
	}
	for event, list := range file.Hooks {
		want := `'/opt/my "own" $tools/nod' hook copilot-cli ` + event
		if len(list) != 1 || list[0].Bash != want || list[0].Timeout != 600 || !slices.Contains(events, event) {
			t.Errorf("%s: %+v, want %s", event, list, want)
		}
	}
}
