package interact_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
	"nod/policy/config"
)

// An approval that the policy lets through by itself, with a policy and a journal as nod has them.
func BenchmarkAutoAllowed(b *testing.B) {
	dir := b.TempDir()
	s, err := config.Open(filepath.Join(dir, "config.yaml"), filepath.Join(dir, "grants.json"), nil)
	if err != nil {
		b.Fatal(err)
	}
	err = s.Update(func(c *config.Config) error {
		for i := range 200 {
			id := "rule-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			c.Policy.Rules = append(c.Policy.Rules, policy.Rule{ID: id, Effect: policy.Deny, Command: "run " + id})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	broker := interact.NewBroker(interact.BrokerConfig{
		Policy: s, Prompter: &interacttest.Prompter{}, Notify: interacttest.Notify,
		Journal: new(interacttest.Journal), Log: slog.New(slog.DiscardHandler),
		Timeout: s.Timeout,
	})
	defer broker.Close()
	r := interact.Request{
		Requester: interact.Requester{Agent: "claude-code", Session: "s", CWD: dir},
		Body: interact.Approve{Tool: "Read", Input: json.RawMessage(
			`{"file_path":"` + dir + `/README.md","offset":100,"limit":200}`)},
	}
	if d := s.Decide(r.Body.(interact.Approve).Call(r.Requester)); d.Effect != policy.Allow {
		b.Fatal(d)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a, err := broker.Do(b.Context(), r); err != nil || a.Outcome != api.Allowed {
			b.Fatal(a, err)
		}
	}
}
