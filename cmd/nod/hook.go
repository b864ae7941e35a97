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

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"nod/agents/agent"
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
anything else as an error. To Amp and Letta Code, which go by the exit status and standard error, 0 allows,
1 is "no decision", and 2 denies.

While nod-desktop isn't running the hook says nothing, and the agent asks in its own way. For the agents listed
under agents.strict in the configuration it denies instead, with a reason that says how to start nod.
When the agent ends, so does the hook, and what it asked is withdrawn.

EVENT names what happened for an agent whose payloads do not.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			return c.answerHook(ctx, args[0], strings.Join(args[1:], ""))
		}),
	}
}

// answerHook never fails: whatever goes wrong is no decision, or what strict makes of one.
func (c *console) answerHook(ctx context.Context, name, event string) error {
	a, err := registry.Find(registry.All(), name)
	if err != nil {
		return nil
	}
	ctx, stop := whileAgentRuns(ctx)
	defer stop()
	return c.endHook(a.Hooks, replyOf(ctx, a, event, c.in))
}

// replyOf is the agent's own reply; nil is no decision. The event is in the payload when it is not named.
func replyOf(ctx context.Context, a agent.Agent, event string, in io.Reader) []byte {
	payload, err := io.ReadAll(io.LimitReader(in, maxPayload+1))
	if err != nil || len(payload) > maxPayload {
		return away(a, cmp.Or(event, eventOf(payload)), errors.New("the payload could not be read"))
	}
	if a.Hooks.Payload != nil {
		if payload, err = a.Hooks.Payload(payload, os.Getenv); err != nil {
			return away(a, "", err)
		}
	}
	event = cmp.Or(event, eventOf(payload))
	reply, err := passOn(ctx, a.Name, event, payload)
	switch {
	case context.Cause(ctx) == errCallerGone:
		return nil // nobody reads it
	case err != nil:
		return away(a, event, err)
	}
	return reply
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

// eventOf reads the event's name from the payload, or from as much of it as can be read: agents put it in a field in
// front of what a model writes.
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
	for _, field := range eventFields {
		if texts[field] != "" {
			return texts[field]
		}
	}
	return "unknown"
}

// eventFields are those in which agents put the name of an event.
var eventFields = []string{"hook_event_name", "type", "event_type", "hookEventName", "event", "hookName"}

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
func away(a agent.Agent, event string, cause error) []byte {
	if !isGate(a.Name) && !isStrict(a.Name) {
		return nil
	}
	reason := "nod-desktop cannot be asked, so this is denied. The person has not refused. To start it: nod start"
	if !errors.Is(cause, client.ErrNotRunning) {
		reason = fmt.Sprintf("nod-desktop gave no answer (%v), so this is denied. The person has not refused.", cause)
	}
	reply, err := a.Hooks.Refuse(event, reason)
	if err != nil {
		return nil
	}
	return reply
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

// endHook prints exactly one JSON object, or nothing; or it ends nod as the agent wants to have it: with status 0 only
// where that is the reply.
func (c *console) endHook(p hooks.Protocol, reply []byte) error {
	if p.Abstain != 0 {
		var exit struct {
			Status *int   `json:"status"`
			Stderr string `json:"stderr"`
		}
		if strict.Unmarshal(reply, &exit) != nil || exit.Status == nil {
			return &verdict{status(p.Abstain), ""}
		}
		if exit.Stderr != "" {
			fmt.Fprintln(c.err, exit.Stderr)
		}
		return &verdict{status(*exit.Status), ""}
	}
	if len(reply) == 0 {
		return nil
	}
	_, err := c.out.Write(append(bytes.TrimSpace(reply), '\n'))
	return err
}
