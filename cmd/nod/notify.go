package main

import (
	"context"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// notify returns the command that tells the human something.
func (c *console) notify() *cobra.Command {
	var n interact.Notify
	cmd := &cobra.Command{
		Use:   "notify MESSAGE",
		Short: "Show a desktop notification",
		Long: `Show a desktop notification and print nothing. The exit status is 1 when the desktop did not take it,
for example because it has no notification service.`,
		Example: `  make all; nod notify "Build finished" --level info`,
		Args:    oneArg("message"),
	}
	cmd.Flags().StringVar(&n.Title, "title", "", "heading inside the notification")
	cmd.Flags().StringVar((*string)(&n.Level), "level", "info", "how urgent it is: `info|warning|error`")
	complete(cmd, "level", "info", "warning", "error")
	f := newRequestFlags(cmd)
	cmd.RunE = runs(func(ctx context.Context, args []string) error {
		n.Message = args[0]
		return c.request(ctx, f, func(ctx context.Context, cl *client.Client, o client.Options) (answer, error) {
			r, err := cl.Notify(ctx, n, o)
			return notifyAnswer(r), err
		})
	})
	return cmd
}

func notifyAnswer(r client.NotifyReply) answer {
	if r.Sent {
		return answer{raw: r.Raw}
	}
	return answer{raw: r.Raw, status: exitNo, cause: "the desktop did not take it: it may have no notification service, or notices are off in nod's settings"}
}
