package hooks_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"nod/agents/registry"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc/hooks"
	"nod/policy"
)

// edited is a sandbox that notes the tools of the calls that may change files.
type edited struct {
	tools, ended  []string
	undoes, taken bool
	err           error
}

func (e *edited) Contains(interact.Requester, string) (bool, bool) { return false, false }

func (e *edited) Expect(interact.Requester, interact.ID, string, policy.Confinement) error {
	return nil
}

func (e *edited) Undoes(context.Context, interact.Requester, interact.Approve) bool { return e.undoes }

func (e *edited) Edits(_ context.Context, _ interact.Requester, _ interact.ID, call interact.Approve) (bool, error) {
	e.tools = append(e.tools, call.Tool)
	return e.taken, e.err
}

func (e *edited) Edited(_ context.Context, _ interact.Requester, call interact.Approve) {
	e.ended = append(e.ended, call.Tool)
}

// classes lets calls pass that only read, by their class, and others by a rule.
type classes struct{ *interacttest.Policy }

func (classes) Decide(c policy.Call) policy.Decision {
	if c.Tool == "Read" {
		return policy.Decision{Effect: policy.Allow, Rule: policy.ClassRule(policy.ReadOnly)}
	}
	return policy.Decision{Effect: policy.Allow, Rule: "edits"}
}

// Nobody looks into the project for a snapshot before a call that only reads.
func TestOnlyWhatMayChangeFilesIsAnEdit(t *testing.T) {
	var told edited
	broker := interacttest.Broker(&interacttest.Prompter{}, classes{&interacttest.Policy{}})
	t.Cleanup(broker.Close)
	h := hooks.New(hooks.Config{
		Agents: registry.Protocols(), Broker: broker, Log: slog.New(slog.DiscardHandler), Sandbox: &told,
		Timeout: func() time.Duration { return time.Hour },
	})
	for _, tool := range []string{"Read", "Write"} {
		c := claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", map[string]any{
			"tool_name": tool, "tool_input": map[string]any{"file_path": "/a"},
		})
		c.Version = "2.1.197"
		if got := handle(t, &rig{Hooks: h}, c); !strings.Contains(got, `"allow"`) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	handle(t, &rig{Hooks: h}, claudeCall(t, "06-PreToolUse-Bash", "PostToolUse", map[string]any{
		"tool_name": "Write", "tool_input": map[string]any{"file_path": "/a"},
	}))
	if !slices.Equal(told.tools, []string{"Write"}) || !slices.Equal(told.ended, []string{"Write"}) {
		t.Errorf("told of %q, and that %q ended", told.tools, told.ended)
	}
}

// undoable lets edits pass that can be taken back.
type undoable struct{ *interacttest.Policy }

func (undoable) Decide(c policy.Call) policy.Decision {
	if c.Undoes {
		return policy.Decision{Effect: policy.Allow, Rule: policy.EditsRule}
	}
	return policy.Decision{Effect: policy.Deny}
}

// An edit that passes because it can be taken back does not when no snapshot could be taken.
func TestEditNeedsSnapshot(t *testing.T) {
	for name, tt := range map[string]struct {
		sandbox edited
		want    string
	}{
		"kept":        {edited{undoes: true, taken: true}, "allow"},
		"not kept":    {edited{undoes: true}, "deny"},
		"failed":      {edited{undoes: true, err: errors.New("the disk is full")}, "deny"},
		"no snapshot": {edited{taken: true}, "deny"},
	} {
		t.Run(name, func(t *testing.T) {
			broker := interacttest.Broker(&interacttest.Prompter{}, undoable{&interacttest.Policy{}})
			t.Cleanup(broker.Close)
			h := hooks.New(hooks.Config{
				Agents: registry.Protocols(), Broker: broker, Log: slog.New(slog.DiscardHandler), Sandbox: &tt.sandbox,
				Timeout: func() time.Duration { return time.Hour },
			})
			c := claudeCall(t, "06-PreToolUse-Bash", "PreToolUse", map[string]any{
				"tool_name": "Write", "tool_input": map[string]any{"file_path": "/a"},
			})
			if got := handle(t, &rig{Hooks: h}, c); !strings.Contains(got, `"`+tt.want+`"`) {
				t.Error(got)
			}
		})
	}
}
