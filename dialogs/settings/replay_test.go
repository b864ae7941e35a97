package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"nod/policy"
	"nod/policy/config"
	"nod/policy/replay"
)

const lookAtThePast = "See what your agents did"

// Transcripts are read only if the user agrees, and a suggested rule is added only if they agree again.
func TestTranscriptsAreReplayed(t *testing.T) {
	w, o := few(t)
	w.tabs.selectIndex(onSuggestions)
	card := w.suggestions.replay
	if card.found != nil {
		t.Fatal("they were read unasked")
	}
	test.Tap(buttonIn(t, card.content, lookAtThePast))
	if card.found == nil || len(card.found.Rules.Rules) != 2 {
		t.Fatalf("found %+v", card.found)
	}
	o.isAs(t, fewRules())
	markup := test.RenderObjectToMarkup(card.content)
	for _, want := range []string{"310 of 4,210", "offered: 48", "Saves 171 prompts", "cart.ex"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	test.Tap(buttonIn(t, card.content, "Add"))
	if got := o.rule(t, "allow-mix-test").Run; strings.Join(got, "|") != "mix test|mix format" || len(o.rules()) != 2 {
		t.Errorf("rules %+v", o.rules())
	}
	if left := card.found.Rules.Rules; len(left) != 1 || left[0].Rule.ID != "allow-edits" {
		t.Errorf("left %+v", left)
	}
}

func TestTranscriptsCannotBeReplayed(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	card := w.suggestions.replay
	answer := func(r *replay.Report, err error) {
		card.run = func(context.Context, policy.Policy, func(float64)) (*replay.Report, error) { return r, err }
		test.Tap(buttonIn(t, card.content, lookAtThePast))
	}
	answer(nil, errors.New("disk on fire"))
	if card.problem.Label.Text != "disk on fire" || !card.problem.Content.Visible() {
		t.Errorf("says %q", card.problem.Label.Text)
	}
	card.state.Problem = "the policy file has an error"
	answer(nil, nil)
	if card.problem.Label.Text != "the policy file has an error" {
		t.Errorf("says %q", card.problem.Label.Text)
	}
	card.state.Problem = ""
	answer(&replay.Report{Rules: &replay.Rules{}}, nil)
	if markup := test.RenderObjectToMarkup(card.content); !strings.Contains(markup, "has no transcripts") {
		t.Errorf("shows %s", markup)
	}
}

// A cancelled replay ends, and can start again.
func TestAReplayIsStopped(t *testing.T) {
	w := openWindow(t, somebody(), "light")
	card := w.suggestions.replay
	var run func()
	card.work.Aside = func(f func()) { run = f }
	var ended error
	card.run = func(ctx context.Context, _ policy.Policy, _ func(float64)) (*replay.Report, error) {
		ended = ctx.Err()
		return nil, ended
	}
	test.Tap(buttonIn(t, card.content, lookAtThePast))
	w.suggestions.refresh(w.state) // must not begin again
	test.Tap(buttonIn(t, card.content, "Stop"))
	run()
	if !errors.Is(ended, context.Canceled) || card.found != nil || card.problem.Content.Visible() {
		t.Errorf("ended %v, found %+v, says %q", ended, card.found, card.problem.Label.Text)
	}
	buttonIn(t, card.content, lookAtThePast)
}

// withTranscript puts one transcript of Claude Code where it is found.
func withTranscript(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, "claude"))
	t.Setenv("CODEX_HOME", filepath.Join(dir, "codex"))
	folder := filepath.Join(dir, "claude", "projects", "shop")
	text, err := os.ReadFile("../../policy/replay/testdata/claude-python.jsonl")
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "session.jsonl"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReplayAll(t *testing.T) {
	withTranscript(t)
	last, cfg := 0.0, config.Default()
	r, err := replayAll(t.Context(), cfg.Policy, func(part float64) {
		if part < last || part > 1 {
			t.Errorf("progress %v after %v", part, last)
		}
		last = part
	})
	if err != nil || last != 1 {
		t.Fatalf("progress ends at %v: %v", last, err)
	}
	if r.Files != 1 || r.Calls == 0 || r.Asked == 0 || r.Always > r.Asked || r.Rules.Asked > r.Asked {
		t.Errorf("replayed %+v", r)
	}
	for _, s := range r.Rules.Rules {
		cfg.Policy.Rules = append(cfg.Policy.Rules, s.Rule)
		if err := cfg.Validate(); err != nil || s.Spares == 0 {
			t.Errorf("%+v cannot be added: %v", s, err)
		}
	}
}

func TestReplayAllEnds(t *testing.T) {
	withTranscript(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replayAll(ctx, policy.Policy{}, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReplayAllOfNothing(t *testing.T) {
	withTranscript(t)
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	if r, err := replayAll(t.Context(), policy.Policy{}, func(float64) {}); err != nil || r.Calls != 0 {
		t.Errorf("replayed %+v: %v", r, err)
	}
}
