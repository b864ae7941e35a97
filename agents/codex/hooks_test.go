package codex

import (
	"os"
	"testing"
	"time"

	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// What Codex asks about leaves its sandbox: no such command passes as one that only reads.
func TestNothingOutsideTheSandboxOnlyReads(t *testing.T) {
	rules, err := policy.Compile(policy.Default(), policy.DefaultPlaces())
	if err != nil {
		t.Fatal(err)
	}
	for file, class := range map[string]policy.Class{
		"05-PermissionRequest-Bash":                policy.Unknown,
		"08-PermissionRequest-Bash-escalated-read": policy.Execute,
		"09-PermissionRequest-Bash-network":        policy.Unknown,
	} {
		payload, err := os.ReadFile("testdata/hooks/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Agent.Hooks.Read(hooks.Call{Event: "PermissionRequest", Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		asked := s.Ask.(interact.Approve)
		d := policy.Decide(asked.Call(interact.Requester{Agent: name, CWD: s.CWD}), rules, time.Now())
		if d.Effect != policy.Ask || d.Class != class {
			t.Errorf("%s: %+v, want ask and class %s", file, d, class)
		}
	}
}
