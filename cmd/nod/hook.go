package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"nod/agents/registry"
	"nod/ipc/client"
	"nod/ipc/hooks"
	"nod/policy/config"
)

// maxPayload is the most bytes that a hook reads from its agent.
const maxPayload = 1 << 20

// hook returns the command that agents run.
func (c *console) hook() *cobra.Command {
	return &cobra.Command{
		Use:   "hook AGENT [EVENT]",
		Short: "Answer a coding agent's hook: what nod agents install makes the agent run",
		Long: `Read a hook's payload from standard input, pass it on to nod-desktop, and print the agent's own reply:
one JSON object, or nothing, which means "no decision". The exit status is always 0: an agent would show
anything else as an error.

While nod-desktop is away the hook says nothing, and the agent asks in its own way. For the agents listed
under agents.strict in the configuration it denies instead, with a reason that says how to start nod.
When the agent ends, so does the hook, and what it asked is withdrawn.

EVENT names what happened for an agent whose payloads do not.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			return c.answerHook(ctx, args[0], args[1:]...)
		}),
	}
}

// answerHook never fails: whatever goes wrong is no decision, or what strict makes of one.
func (c *console) answerHook(ctx context.Context, agent string, named ...string) error {
	ctx, stop := whileAgentRuns(ctx)
	defer stop()
	payload, err := io.ReadAll(io.LimitReader(c.in, maxPayload+1))
	event := cmp.Or(cmp.Or(named...), eventOf(payload))
	if err != nil || len(payload) > maxPayload {
		return c.away(agent, event, errors.New("the payload could not be read"))
	}
	reply, err := passOn(ctx, agent, event, payload)
	if context.Cause(ctx) == errCallerGone {
		return nil // nobody reads it
	}
	if err != nil {
		return c.away(agent, event, err)
	}
	return c.printHook(reply)
}

func passOn(ctx context.Context, agent, event string, payload []byte) ([]byte, error) {
	cl, err := client.Discover()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, hooks.MaxWait+grace, errHung)
	defer cancel()
	ctx, stop := whileAlive(ctx, cl.Health)
	defer stop()
	// Claude Code says in its hooks' environment how it was started ("cli" is its terminal), and which release it is:
	// claude-code_2-1-330_harness.
	entry := os.Getenv("CLAUDE_CODE_ENTRYPOINT")
	version, _, _ := strings.Cut(strings.TrimPrefix(os.Getenv("AI_AGENT"), "claude-code_"), "_")
	return cl.Hook(ctx, client.HookCall{
		Agent: agent, Event: event, Payload: payload, Version: strings.ReplaceAll(version, "-", "."),
		Headless: entry != "" && entry != "cli", Gate: isGate(agent),
	})
}

// eventOf reads the event's name from the payload, or from as much of it as can be read: agents put it in one of
// three fields, in front of what a model writes.
func eventOf(payload []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(payload), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	texts := map[string]string{}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		field := name.String()
		if d.PeekKind() != '"' {
			err = d.SkipValue()
			continue
		}
		var text jsontext.Token
		if text, err = d.ReadToken(); err == nil {
			texts[field] = text.String()
		}
	}
	return cmp.Or(texts["hook_event_name"], texts["event"], texts["type"], "unknown")
}

// isGate reports whether the agent's own prompt is switched off, so that nod alone decides.
func isGate(agent string) bool {
	a, err := registry.Find(registry.All(), agent)
	if err != nil {
		return false
	}
	m, err := machine()
	return err == nil && a.GateIsOn(m)
}

// away is what the agent reads when nod-desktop cannot be asked.
func (c *console) away(agent, event string, cause error) error {
	a, err := registry.Find(registry.All(), agent)
	if err != nil || !isGate(agent) && !isStrict(agent) {
		return nil
	}
	reason := "nod-desktop cannot be asked, so this is denied. The person has not refused. To start it: nod start"
	if !errors.Is(cause, client.ErrNotRunning) {
		reason = fmt.Sprintf("nod-desktop gave no answer (%v), so this is denied. The person has not refused.", cause)
	}
	reply, err := a.Hooks.Refuse(event, reason)
	if err != nil || reply == nil {
		return err
	}
	return c.printHook(reply)
}

// isStrict reads the configuration only when it matters. One that cannot be read makes nobody stricter than
// the agent's own prompt, which is what decides then.
func isStrict(agent string) bool {
	path, err := config.DefaultPath()
	if err != nil {
		return false
	}
	cfg, err := config.Check(path)
	return err == nil && slices.Contains(cfg.Agents.Strict, agent)
}

// printHook prints exactly one JSON object, or nothing.
func (c *console) printHook(reply []byte) error {
	if len(reply) == 0 {
		return nil
	}
	_, err := c.out.Write(append(bytes.TrimSpace(reply), '\n'))
	return err
}
