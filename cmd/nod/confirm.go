package main

import (
	"context"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// confirm returns the command that asks a yes/no question.
func (c *console) confirm() *cobra.Command {
	var q interact.Confirm
	var silence string
	cmd := &cobra.Command{
		Use:   "confirm MESSAGE",
		Short: "Ask a yes/no question and print yes or no",
		Long: `Ask a yes/no question, print yes or no, and exit with 0 or 1.

When nobody answers in time the answer is the default, and so is the exit status; --json tells such an
answer apart by "defaulted": true. A prompt that is closed is no answer: exit status 4.`,
		Example: `  nod confirm "Deploy now?" --timeout 2m && ./deploy`,
		Args:    oneArg("message"),
	}
	cmd.Flags().StringVar(&silence, "default", "no", "what silence means: `yes|no`")
	cmd.Flags().StringVar(&q.YesLabel, "yes-label", "", "label of the button for yes")
	cmd.Flags().StringVar(&q.NoLabel, "no-label", "", "label of the button for no")
	complete(cmd, "default", "yes", "no")
	f := newRequestFlags(cmd)
	cmd.RunE = runs(func(ctx context.Context, args []string) error {
		if silence != "yes" && silence != "no" {
			return wrongUsage("--default: want yes or no, not %q", silence)
		}
		q.Message, q.Default = args[0], silence == "yes"
		return c.request(ctx, f, func(ctx context.Context, cl *client.Client, o client.Options) (answer, error) {
			r, err := cl.Confirm(ctx, q, o)
			return confirmAnswer(r), err
		})
	})
	return cmd
}

func confirmAnswer(r client.ConfirmReply) answer {
	if r.Confirmed {
		return answer{raw: r.Raw, text: "yes\n"}
	}
	return answer{raw: r.Raw, text: "no\n", status: exitNo}
}

// complete makes the shell offer these values for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag exists: whoever calls this has made it
	}
}
