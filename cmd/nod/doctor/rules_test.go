package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"nod/api"
	"nod/interact"
	"nod/interact/journal"
	"nod/policy"
	"nod/policy/config"
)

// rule is a configuration with one rule that allows, with a line more.
func rule(id, more string) string {
	return fmt.Sprintf("policy:\n  rules:\n    - id: %s\n      effect: allow\n      tool: Build\n      %s\n", id, more)
}

// settle journals a call that a rule allowed.
func (f *fake) settle(rule string, at time.Time) {
	f.t.Helper()
	j := journal.Open(f.historyPath(), journal.Options{Log: slog.New(slog.DiscardHandler),
		Config: func() config.History { return config.History{Keep: 36500 * 24 * time.Hour, MaxSize: 100} }})
	f.must(j.Settle(context.Background(), interact.Record{
		Request: interact.Request{
			ID: interact.ID(uuid.Must(uuid.NewV7()).String()), Created: at,
			Body: interact.Approve{Tool: "Build", Input: []byte(`{}`)},
		},
		Why:    policy.Decision{Effect: policy.Allow, Rule: rule},
		Answer: interact.Answer{Outcome: api.Allowed, By: api.ByPolicy, Rule: rule, At: at},
	}))
	f.must(j.Close())
}

// A history that takes too long is not called damaged.
func TestHistoryInNoTime(t *testing.T) {
	f := newFake(t)
	f.settle("any", f.Now())
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	got := begin(t.Context(), f.host).verifyHistory(late)
	if got.Status != Warning || got.Fix.Command != "nod history verify" {
		t.Errorf("%+v", got)
	}
}

// A rule counts as unused only where the history can tell.
func TestUnusedRules(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		used    []int // days ago, of the rule
		other   int   // days ago, of another
		written int   // days ago, the file
		unused  bool
	}{
		"used today":                         {used: []int{0}, other: 60, written: 90},
		"used long ago":                      {used: []int{40}, other: 60, written: 1, unused: true},
		"used long ago and today":            {used: []int{40, 0}, other: 60, written: 90},
		"never used, and the file is old":    {other: 60, written: 90, unused: true},
		"never used, but it may be new":      {other: 60, written: 1},
		"the history does not go back far":   {other: 3, written: 90},
		"used just within, as far as it can": {used: []int{29}, other: 60, written: 90},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			ago := func(days int) time.Time { return f.Now().Add(-time.Duration(days) * day) }
			f.settle("other", ago(tt.other))
			for _, days := range tt.used {
				f.settle("build", ago(days))
			}
			f.write(f.configPath(), rule("build", "class: execute"))
			f.must(os.Chtimes(f.configPath(), ago(tt.written), ago(tt.written)))
			var wanted map[string]want
			if tt.unused {
				wanted = map[string]want{"rules": {Warning, "unused for 30 days: build", "nod settings"}}
			}
			f.finds(wanted)
		})
	}
}
