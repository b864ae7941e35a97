package main

import (
	"context"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
)

func (c *console) ask() *cobra.Command {
	var q api.AskRequest
	var noOther bool
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Ask a question and print the answer",
		Example: `  nod ask "What should the branch be called?"
  nod ask "Which database?" --option SQLite --option Postgres`,
		Args: oneArg("a question"),
	}
	cmd.Flags().StringArrayVar(&q.Ask.Options, "option", nil, "offer this `answer`; repeatable")
	cmd.Flags().BoolVar(&noOther, "no-other", false, "with options: accept no other answer")
	cmd.Flags().BoolVar(&q.Multiline, "multiline", false, "offer a text field of several lines")
	cmd.Flags().StringVar(&q.Placeholder, "placeholder", "", "hint in the empty text field")
	f := c.newRequestFlags(cmd, &q.Common)
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		q.Question = args[0]
		if noOther {
			q.AllowOther = new(bool)
		}
		return request(ctx, c, f, &q, (*client.Client).Ask)
	})
	return cmd
}

func (c *console) confirm() *cobra.Command {
	var q api.ConfirmRequest
	var silence string
	cmd := &cobra.Command{
		Use:   "confirm MESSAGE",
		Short: "Ask a yes/no question and print yes or no",
		Long: `Ask a yes/no question, print yes or no, and exit with 0 or 1.

If nobody answers in time, it prints the default and exits accordingly; --json then says "defaulted": true. Closing the
prompt is no answer: exit status 4.`,
		Example: `  nod confirm "Deploy now?" --timeout 2m && ./deploy`,
		Args:    oneArg("a message"),
	}
	cmd.Flags().StringVar(&silence, "default", "no", "the answer if nobody answers: `yes|no`")
	cmd.Flags().StringVar(&q.YesLabel, "yes-label", "", "label of the button for yes")
	cmd.Flags().StringVar(&q.NoLabel, "no-label", "", "label of the button for no")
	complete(cmd, "default", "yes", "no")
	f := c.newRequestFlags(cmd, &q.Common)
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		if silence != "yes" && silence != "no" {
			return wrongUsage("--default must be yes or no, not %q", silence)
		}
		q.Message, q.Confirm.Default = args[0], silence == "yes"
		return request(ctx, c, f, &q, (*client.Client).Confirm)
	})
	return cmd
}

func (c *console) notify() *cobra.Command {
	var n api.NotifyRequest
	cmd := &cobra.Command{
		Use:   "notify MESSAGE",
		Short: "Show a desktop notification",
		Long: `Show a desktop notification and print nothing. The exit status is 1 if the desktop did not show it, for
example because it has no notification service.`,
		Example: `  make all; nod notify "Build finished" --level info`,
		Args:    oneArg("a message"),
	}
	cmd.Flags().StringVar(&n.Title, "title", "", "title of the notification")
	cmd.Flags().StringVar(&n.Level, "level", "info", "how urgent it is: `info|warning|error`")
	complete(cmd, "level", "info", "warning", "error")
	f := c.newSenderFlags(cmd, &n.Common)
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		n.Message = args[0]
		return request(ctx, c, f, &n, (*client.Client).Notify)
	})
	return cmd
}

func complete(cmd *cobra.Command, flag string, values ...string) {
	fixed := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, fixed); err != nil {
		panic(err) // the flag exists: the caller has made it
	}
}
