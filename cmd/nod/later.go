package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nod/interact"
	"nod/ipc/client"
)

// wait returns the command that fetches the answer of a request that was left open.
func (c *console) wait() *cobra.Command {
	var timeout time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for the answer of a detached request and print it",
		Long: `Wait for the answer of a request that was sent with --detach or --hold, and print it as the command that
sent it would have. When --timeout goes by first the request stays open, and the exit status is 3.`,
		Example: `  id=$(nod ask "Which database?" --detach)
  nod wait "$id" --timeout 10m`,
		Args: oneArg("id"),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "how long to wait, for example 30s (default: until there is an answer)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the HTTP reply, unchanged")
	cmd.RunE = runs(func(ctx context.Context, args []string) error {
		if timeout < 0 {
			return wrongUsage("--timeout: want 0 or more, not %s", timeout)
		}
		return c.await(ctx, interact.ID(args[0]), timeout, asJSON)
	})
	return cmd
}

// await fetches the answer of id, for at most timeout unless that is 0.
func (c *console) await(ctx context.Context, id interact.ID, timeout time.Duration, asJSON bool) error {
	cl, err := discover()
	if err != nil {
		return err
	}
	r, err := settled(ctx, cl, id, timeout)
	if err != nil {
		return c.unanswered(err, false, asJSON)
	}
	a, err := answerOf(r)
	if err != nil {
		return c.unanswered(err, false, asJSON)
	}
	a.raw = r.Raw
	return c.give(a, asJSON)
}

// settled waits for the end of a request, one call after the other, each as long as the door allows.
func settled(ctx context.Context, cl *client.Client, id interact.ID, timeout time.Duration) (client.RequestReply, error) {
	end := time.Now().Add(timeout)
	for {
		wait := client.MaxWait
		if timeout > 0 {
			wait = min(wait, time.Until(end))
		}
		call, cancel := bounded(ctx, max(wait, time.Second))
		r, err := cl.Request(call, id, wait)
		cancel()
		if err != nil || !r.Pending() || timeout > 0 && time.Until(end) <= 0 {
			return r, err
		}
	}
}

// answerOf is the answer of a request that has ended: what the command that sent it would have printed.
func answerOf(r client.RequestReply) (answer, error) {
	reply, err := r.Reply()
	if err != nil {
		return answer{}, err
	}
	switch reply := reply.(type) {
	case client.AskReply:
		return askAnswer(reply), nil
	case client.ConfirmReply:
		return confirmAnswer(reply), nil
	case client.FormReply:
		return formAnswer(reply)
	case client.ApproveReply:
		return approveAnswer(reply), nil
	case client.NotifyReply:
		return notifyAnswer(reply), nil
	}
	return answer{}, fmt.Errorf("a request of a kind that this nod does not know: %q", r.Kind)
}

// withdraw returns the command that takes a request back.
func (c *console) withdraw() *cobra.Command {
	return &cobra.Command{
		Use:   "withdraw ID",
		Short: "Take back a request of one's own",
		Long:  "Take back a request of one's own. The exit status is 1 when it had ended before.",
		Args:  oneArg("id"),
		RunE: runs(func(ctx context.Context, args []string) error {
			cl, err := discover()
			if err != nil {
				return err
			}
			ctx, cancel := bounded(ctx, time.Second)
			defer cancel()
			r, err := cl.Withdraw(ctx, interact.ID(args[0]))
			if err != nil || r.Status == interact.Withdrawn {
				return err
			}
			return &verdict{exitNo, fmt.Sprintf("too late: the request was %s: its answer: nod wait %s", words(r.Status), r.ID)}
		}),
	}
}

// pending returns the command that lists what waits for the human.
func (c *console) pending() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List the requests sent from here that wait for the human",
		Args:  noArgs,
		RunE: runs(func(ctx context.Context, _ []string) error {
			return c.list(ctx, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the HTTP reply, unchanged: it also lists what has ended")
	return cmd
}

// words spells an outcome for a person.
func words(o interact.Outcome) string { return strings.ReplaceAll(string(o), "_", " ") }

func (c *console) list(ctx context.Context, asJSON bool) error {
	cl, err := discover()
	if err != nil {
		return err
	}
	ctx, cancel := bounded(ctx, time.Second)
	defer cancel()
	r, err := cl.Requests(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return c.printReply(r.Raw)
	}
	return c.print(table(r.Requests, time.Now()))
}

// table lists the pending among the requests, one in a line.
func table(requests []client.Listed, now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tKIND\tWAITING\tLEFT\tAGENT\tSESSION")
	for _, r := range requests {
		if r.Status == client.StatusPending {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n",
				r.ID, r.Kind, span(r.Created, now), span(now, r.Deadline), cell(r.Agent), cell(r.Session))
		}
	}
	w.Flush() // into memory: it cannot fail
	return b.String()
}

// span is the time from one moment to another, in whole seconds.
func span(from, to time.Time) string { return max(to.Sub(from), 0).Round(time.Second).String() }

// cell makes text that an agent chose fit for a table: it stays in its place.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\t", `\t`, "\n", `\n`).Replace(text)
}
