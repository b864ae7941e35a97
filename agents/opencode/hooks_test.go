package opencode

import (
	"testing"

	"nod/interact"
	"nod/ipc/hooks"
)

// opencode's patterns only repeat a command: without them the policy can tell that it only reads.
func TestOpencodeCommandIsAllOfTheInput(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"command":"ls -la"}`:     `{"command":"ls -la"}`,
		`{"filepath":"/src/x.go"}`: `{"filepath":"/src/x.go","patterns":["ls *"]}`,
	} {
		payload := `{"properties":{"id":"p","permission":"bash","patterns":["ls *"],"metadata":` + metadata + `}}`
		s, err := Agent.Hooks.Read(hooks.Call{Event: "permission.asked", Payload: []byte(payload)})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Ask.(interact.Approve).Input); got != want {
			t.Errorf("input %s, want %s", got, want)
		}
	}
}
