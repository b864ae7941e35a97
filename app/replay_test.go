package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"nod/policy"
)

// someProgram is one with a store of its own and one transcript of Claude Code.
func someProgram(t *testing.T) *program {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, "claude"))
	t.Setenv("CODEX_HOME", filepath.Join(dir, "codex"))
	folder := filepath.Join(dir, "claude", "projects", "shop")
	text, err := os.ReadFile("../policy/replay/testdata/claude-python.jsonl")
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "session.jsonl"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := policy.OpenStore(filepath.Join(dir, "config.yaml"), filepath.Join(dir, "grants.json"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &program{store: store}
}

func TestReplay(t *testing.T) {
	p := someProgram(t)
	last := 0.0
	past, err := p.replay(t.Context(), func(part float64) {
		if part < last || part > 1 {
			t.Errorf("progress %v after %v", part, last)
		}
		last = part
	})
	if err != nil || last != 1 {
		t.Fatalf("progress ends at %v: %v", last, err)
	}
	if past.Transcripts != 1 || past.Calls == 0 || past.Asked == 0 || past.Always > past.Asked || past.WithRules > past.Asked {
		t.Errorf("replayed %+v", past)
	}
	for _, s := range past.Rules {
		err := p.store.Update(func(c *policy.Config) error {
			c.Policy.Rules = append(c.Policy.Rules, s.Rule)
			return nil
		})
		if err != nil || s.Spares == 0 {
			t.Errorf("%+v cannot be added: %v", s, err)
		}
	}
}

func TestReplayEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := someProgram(t).replay(ctx, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReplayOfNothing(t *testing.T) {
	p := someProgram(t)
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	if past, err := p.replay(t.Context(), func(float64) {}); err != nil || past.Calls != 0 {
		t.Errorf("replayed %+v: %v", past, err)
	}
}
