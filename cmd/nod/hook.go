package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
	"nod/ipc/hooks"
	"nod/ipc/programs"
	"nod/policy/config"
)

const hookName = "hook"

func (c *console) hook() *cobra.Command {
	var h hookRun
	cmd := &cobra.Command{
		Use:   hookName + " AGENT [EVENT]",
		Short: "Answer a coding agent's hook (nod agents install sets this up)",
		Long: `Read a hook's payload from standard input, pass it to nod-desktop, and print the agent's own reply: one JSON
object, or nothing, which means "no decision". The exit status is 0, because an agent would show anything else as an
error, or 2 if nod does not know AGENT, the payload does not end or the reply can't be printed: then most agents deny.
For Amp and Letta Code, which go by the exit status and standard error, 0 allows, 1 means "no decision", and 2 denies.

While nod-desktop isn't running, the hook prints nothing, and the agent asks in its own way. For agents listed under
agents.strict in the configuration, and for every agent if the configuration is broken, it denies instead, with a reason
that says how to start nod. It also denies calls that nod-desktop accepted but never answered, if the agent would
continue without asking you.
When the agent ends, the hook ends too, and nod withdraws its request.

EVENT names the event for agents whose payloads don't.

With --debug, or with NOD_LOG=debug in the environment, the hook writes its payload, reply, exit status, time and
errors, with any secrets, to a file that only you can read (nod log --hooks prints it).
Delete the file when you are done. The reply stays the same.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			return c.answerHook(ctx, args[0], strings.Join(args[1:], ""), h)
		}),
	}
	cmd.Flags().BoolVar(&h.debug, "debug", false, "log the hook's payload and reply")
	cmd.Flags().StringVar(&h.failed, client.FailedFlag, "", "why nod-desktop gave no answer")
	_ = cmd.Flags().MarkHidden(client.FailedFlag) // the flag exists: it is made above
	return cmd
}

// maxSkipped is how many bytes of a payload that is too long are searched for the event's name.
const maxSkipped = 64 << 20

type hookRun struct {
	debug  bool
	failed string // why nod-desktop, which was asked already, gave no answer; empty: it was not asked
}

// answerHook answers a hook. It fails only if it does not know the agent or cannot reply: on any other error it makes
// no decision, or denies if nod is strict.
func (c *console) answerHook(ctx context.Context, name, event string, h hookRun) error {
	log := newHookLog(h.debug, name, event)
	a, err := registry.Find(registry.All(), name)
	if err != nil { // the user's own setup names it: silence would be "no decision" about every call
		err = &verdict{exitUsage, err.Error()}
		log.end(nil, err)
		return err
	}
	reply := replyOf(ctx, a, event, c.in, h, log)
	err = c.endHook(a.Hooks, reply)
	log.end(reply, err)
	return err
}

// replyOf returns the reply in the agent's format; nil is no decision. Without a named event it reads the event from
// the payload.
func replyOf(ctx context.Context, a agent.Agent, event string, in io.Reader, run hookRun, log *hookLog) []byte {
	payload, err := waiting.Payload(in)
	log.Debug("read", "payload", log.text(payload), "bytes", len(payload), "err", err)
	eventOf := func() string { // its name may be after the part that is too long
		return cmp.Or(event, client.EventOf(io.MultiReader(bytes.NewReader(payload), io.LimitReader(in, maxSkipped))))
	}
	m, _ := agent.Here() // without a home folder the settings are unknown
	gate, limit := a.HookSettings(m)
	away := func(event string, cause error) []byte { return away(a, event, gate, cause) }
	switch {
	case len(payload) > client.MaxPayload: // the model controls the length: no rule applies
		return denies(a, eventOf(), fmt.Sprintf("the call is longer than the %d bytes that nod reads", client.MaxPayload))
	case err != nil:
		return away(eventOf(), fmt.Errorf("read the payload: %w", err))
	}
	if a.Hooks.Payload != nil {
		if payload, err = a.Hooks.Payload(payload, os.Getenv); err != nil {
			return away("", err)
		}
	}
	h := client.NewHookCall(a.Name, eventOf(), payload)
	h.Gate, h.Limit = gate, limit
	var reply []byte
	if err = errors.New(run.failed); run.failed == "" {
		reply, err = waiting.Hook(ctx, h)
	}
	log.Debug("passed on", "event", h.Event, "err", err)
	switch {
	case errors.Is(err, waiting.ErrCallerGone):
		return nil // the agent has gone
	case err != nil && !errors.Is(err, client.ErrNotRunning) && deniesSilence(a.Hooks, h):
		return denies(a, h.Event, noAnswer(err))
	case err != nil:
		return away(h.Event, err)
	}
	return reply
}

// deniesSilence reports whether a call must be denied if nod-desktop gives no answer, or because it cannot be read.
func deniesSilence(p hooks.Protocol, h client.HookCall) bool {
	s, err := p.Read(hooks.Call{
		Agent: h.Agent, Event: h.Event, Payload: h.Payload, Headless: h.Headless, Version: h.Version, Gate: h.Gate,
	})
	return err != nil || s.DeniesSilence()
}

// away returns the reply for the agent when nod-desktop cannot be asked.
func away(a agent.Agent, event string, gate bool, cause error) []byte {
	strict, broken := isStrict(a.Name)
	if !gate && !strict {
		return nil
	}
	because := program + " cannot be asked. To start it: " + startCommand()
	if !errors.Is(cause, client.ErrNotRunning) {
		because = noAnswer(cause)
	}
	if broken != nil {
		because += ". " + strictWhileBroken(broken)
	}
	return denies(a, event, because)
}

// noAnswer says that nod-desktop was asked but gave no answer.
func noAnswer(cause error) string { return fmt.Sprintf("%s gave no answer (%v)", program, cause) }

// denies returns the reply with which the hook denies without nod-desktop.
func denies(a agent.Agent, event, because string) []byte {
	reply, err := a.Hooks.Refuse(event, "nod denied this, not the user: "+because)
	if err != nil {
		return nil
	}
	return reply
}

// startCommand returns what a user types to start nod-desktop, with a path if nod is not in PATH.
func startCommand() string {
	self, err := programs.Self()
	if _, notInPath := exec.LookPath("nod"); err != nil || notInPath == nil {
		return "nod " + starts
	}
	return agent.Quote(self) + " " + starts
}

// isStrict reports whether nod is strict for an agent. It reads the configuration, so call it only when it matters. If
// that is broken, which it may be where it names the agent, nod is strict, and isStrict also returns what is wrong.
func isStrict(agent string) (is bool, broken error) {
	path, err := config.DefaultPath()
	if err != nil {
		return false, nil
	}
	cfg, err := config.Check(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err != nil || slices.ContainsFunc(cfg.Agents.Strict, func(name string) bool {
		known, _ := registry.Find(registry.All(), name) // an editor's agent, which has any name, is not there
		return agent == name || agent == known.Name
	}), err
}

func strictWhileBroken(broken error) string {
	return "nod is strict with every agent while its configuration is broken: " + oneLine(broken.Error())
}

// endHook prints one JSON object or nothing, or ends nod with the status that the agent expects, which is 0 only if the
// reply says so.
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
	if _, err := c.out.Write(append(bytes.TrimSpace(reply), '\n')); err != nil {
		return &withStatus{err, exitUsage} // most agents deny at 2
	}
	return nil
}
