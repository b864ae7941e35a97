package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
	"nod/policy"
)

type callFlags struct {
	request api.ApproveRequest
	input   string
}

func newCallFlags(cmd *cobra.Command) *callFlags {
	f := new(callFlags)
	f.request.Agent = policy.Script
	cmd.Flags().StringVar(&f.request.Tool, "tool", "", "the tool's `name`, as the agent spells it")
	cmd.Flags().StringVar(&f.input, "input", "", "the tool's input: a `JSON` object, @FILE, or - for standard input")
	cmd.Flags().StringVar(&f.request.Class, "class", "", "the tool's `class`; relaxes nod only for policy.trusted_agents")
	for _, flag := range []string{"tool", "input"} {
		_ = cmd.MarkFlagRequired(flag) // the flag exists: it is made above
	}
	complete(cmd, "class", append([]string{"mutating"}, texts(policy.Classes)...)...)
	return f
}

func (f *callFlags) read(ctx context.Context, c *console) error {
	text := []byte(f.input)
	if name, isFile := strings.CutPrefix(f.input, "@"); isFile || f.input == "-" {
		var err error
		if text, err = c.readFile(ctx, name); err != nil {
			return err
		}
	}
	text = bytes.TrimSpace(text)
	if !json.Valid(text) || text[0] != '{' {
		return wrongUsage(`--input must be a JSON object, for example '{"command":"make all"}'`)
	}
	f.request.Input = text
	return nil
}

func (c *console) approve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve --tool NAME --input JSON",
		Short: "Request approval for a tool call and print allow or deny",
		Long: `Request approval for a tool call. Prints allow or deny, and the reason, if any, from the second line on.

Only exit status 0 means that the call may happen. 1 means that the user or a rule denied it. It also prints deny when
nobody answered (3: not in time, or nobody can be asked) and when the prompt was closed (4), but then nobody refused.

Without --agent, nod assumes Claude Code's tool of that name.`,
		Example: `  nod approve --tool Bash --input '{"command":"make all"}' && make all
  nod approve --tool Write --input @call.json --class write`,
		Args: noArgs,
	}
	call := newCallFlags(cmd)
	f := c.newRequestFlags(cmd, &call.request.Common)
	f.set.StringVar(&call.request.Description, "description", "", "why the agent wants this, in its own words")
	f.set.StringVar(&call.request.ToolUseID, "tool-use-id", "", "the agent's `id` of this call")
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		if err := call.read(ctx, c); err != nil {
			return err
		}
		err := request(ctx, c, f, &call.request, (*client.Client).Approve)
		if p, ok := errors.AsType[*client.Problem](err); ok && p.Outcome == api.Unavailable && !c.json {
			return c.give(answer{text: withReason(api.Deny, explainProblem(p)), status: exitUnanswered})
		}
		return err
	})
	return cmd
}

func withReason(d api.Decision, reason string) string {
	if reason == "" {
		return string(d) + "\n"
	}
	return string(d) + "\n" + strings.TrimSuffix(reason, "\n") + "\n"
}

func (c *console) evaluate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evaluate --tool NAME --input JSON",
		Short: "Print what the rules decide about a tool call, without asking anyone",
		Long: `Print allow, ask or deny, and the reason from the second line on. Asks nobody. The exit status is 0 for
allow, and 1 otherwise.`,
		Example: `  nod evaluate --tool Read --input '{"file_path":"README.md"}'`,
		Args:    noArgs,
	}
	call := newCallFlags(cmd)
	f := c.newSenderFlags(cmd, &call.request.Common)
	cmd.RunE = c.runs(func(ctx context.Context, _ []string) error {
		if err := call.read(ctx, c); err != nil {
			return err
		}
		return request(ctx, c, f, &call.request, (*client.Client).Evaluate)
	})
	return cmd
}
