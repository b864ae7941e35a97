package interact_test

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"nod/api"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/policy"
)

// The journal has what the user saw, also when a rule has decided otherwise meanwhile.
func TestTheJournalHasWhatWasShown(t *testing.T) {
	shown := interact.Shown{At: time.Now(), Armed: time.Second, Decided: 2 * time.Second, With: interact.WithKeys,
		Facts: []string{"Deletes files"}, Diff: "+x\n"}
	for _, denied := range []bool{false, true} {
		journal, rules := &interacttest.Journal{}, &interacttest.Policy{}
		human := &interacttest.Prompter{Answer: func(interact.Request, policy.Decision) (interact.Answer, error) {
			if denied {
				rules.Set("Bash", policy.Deny)
			}
			return interact.Answer{Outcome: api.Allowed, Shown: shown}, nil
		}}
		b := interact.NewBroker(interact.BrokerConfig{
			Policy: rules, Prompter: human, Journal: journal, Timeout: func() time.Duration { return time.Minute },
			Log: slog.New(slog.DiscardHandler),
		})
		a := do(t, b, interact.Request{Body: interact.Approve{Tool: "Bash", Input: []byte(`{}`)}})
		b.Close()
		all := journal.Records()
		if len(all) != 1 || (a.Outcome == api.Denied) != denied || !reflect.DeepEqual(all[0].Answer.Shown, shown) {
			t.Errorf("%s: the journal has %+v", a.Outcome, all)
		}
	}
}
