package main

import (
	"context"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// ask returns the command that asks a question.
func (c *console) ask() *cobra.Command {
	var q interact.Ask
	var noOther bool
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Ask a question and print the answer",
		Example: `  nod ask "What should the branch be called?"
  nod ask "Which database?" --option SQLite --option Postgres`,
		Args: oneArg("question"),
	}
	cmd.Flags().StringArrayVar(&q.Options, "option", nil, "offer this `answer`; repeat it for each")
	cmd.Flags().BoolVar(&noOther, "no-other", false, "with options: take no other answer")
	cmd.Flags().BoolVar(&q.Multiline, "multiline", false, "offer a text field of several lines")
	cmd.Flags().StringVar(&q.Placeholder, "placeholder", "", "hint in the empty text field")
	f := newRequestFlags(cmd)
	cmd.RunE = runs(func(ctx context.Context, args []string) error {
		q.Question = args[0]
		if noOther {
			q.AllowOther = new(bool)
		}
		return c.request(ctx, f, func(ctx context.Context, cl *client.Client, o client.Options) (answer, error) {
			r, err := cl.Ask(ctx, q, o)
			return askAnswer(r), err
		})
	})
	return cmd
}

func askAnswer(r client.AskReply) answer { return answer{raw: r.Raw, text: r.Answer + "\n"} }
