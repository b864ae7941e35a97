package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/interact"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
)

func (c *console) wait() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for the answer to a detached request and print it",
		Long: `Wait for the answer to a request sent with --detach or --hold, and print it as the sending command would
have. If --timeout passes first, the request stays open and the exit status is 3.`,
		Example: `  id=$(nod ask "Which database?" --detach)
  nod wait "$id" --timeout 10m`,
		Args: oneArg("an id"),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0,
		"how long to wait, for example 30s (default: until there is an answer)")
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		if timeout < 0 {
			return wrongUsage("--timeout must be 0 or more, not %s", timeout)
		}
		return c.await(ctx, args[0], timeout)
	})
	return c.withJSON(cmd, "print the HTTP reply, unchanged")
}

// await fetches the answer to request id. It waits at most timeout, or forever if that is 0.
func (c *console) await(ctx context.Context, id string, timeout time.Duration) error {
	cl, err := discover()
	if err != nil {
		return err
	}
	cl.Lost = c.sayLost
	ctx, end := context.WithCancel(ctx)
	defer end()
	r, err := settled(waiting.WhileAlive(waiting.WhileCalled(ctx), cl.Health), cl, id, timeout)
	if err != nil {
		return c.unanswered(err, false)
	}
	reply, err := client.Answer(r)
	if err != nil && c.json {
		return errors.Join(err, c.printReply(r))
	}
	if err != nil {
		return err
	}
	a := answerTo(reply)
	a.reply = r
	return c.give(a)
}

// settled waits for the end of a request with repeated calls, each as long as the server allows.
func settled(ctx context.Context, cl *client.Client, id string, timeout time.Duration) (api.RequestReply, error) {
	end := time.Now().Add(timeout)
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = waiting.Bounded(ctx, timeout)
		defer cancel()
	}
	for {
		wait := api.MaxWait * time.Second
		if timeout > 0 {
			wait = min(wait, time.Until(end))
		}
		r, err := cl.Request(ctx, id, wait)
		if err != nil || r.Status != api.Pending || timeout > 0 && time.Until(end) <= 0 {
			return r, err
		}
	}
}

func (c *console) withdraw() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "withdraw ID",
		Short: "Cancel a request you sent",
		Long:  "Cancel a request you sent. The exit status is 1 if it has already ended in another way.",
		Args:  oneArg("an id"),
		RunE: c.runs(func(ctx context.Context, args []string) error {
			r, err := call(ctx, time.Second, func(cl *client.Client, ctx context.Context) (api.RequestReply, error) {
				return cl.Withdraw(ctx, args[0])
			})
			if err != nil {
				return c.unanswered(err, false)
			}
			if c.json {
				err = c.printReply(r)
			}
			if err != nil || r.Status == api.Withdrawn {
				return err
			}
			return &verdict{exitNo,
				fmt.Sprintf("too late: the request was %s; to print its answer: nod wait %s", words(r.Status), r.ID)}
		}),
	}, "print the HTTP reply, unchanged")
}

func (c *console) pending() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "pending",
		Short: "List the pending requests you sent",
		Long:  "List the pending requests you sent.\n\n" + whereAnswered,
		Args:  noArgs,
		RunE:  c.runs(func(ctx context.Context, _ []string) error { return c.list(ctx) }),
	}, "print JSON")
}

const whereAnswered = `Answer in the window, or on a paired phone: its page works with a screen reader (docs/phone.md).
Not in a terminal: an agent can open one and type there, and nod could not tell it from you.`

func words(o api.Outcome) string { return strings.ReplaceAll(string(o), "_", " ") }

func (c *console) list(ctx context.Context) error {
	r, err := call(ctx, time.Second, (*client.Client).Requests)
	if err != nil {
		return err
	}
	r.Requests = slices.DeleteFunc(r.Requests, func(r api.Listed) bool { return r.Status != api.Pending })
	if c.json {
		return c.printReply(r)
	}
	return c.print(table(r.Requests, time.Now()))
}

func table(requests []api.Listed, now time.Time) string {
	rows := []string{"ID\tKIND\tWAITING\tLEFT\tAGENT\tSESSION"}
	for _, r := range requests {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s",
			r.ID, r.Kind, span(r.Created, now), span(now, r.Deadline),
			cell(agentCell(interact.Requester{Agent: r.Agent, IsAgent: r.IsAgent})), cell(r.Session)))
	}
	return columns(rows)
}

// agentCell names the agent if its program is verified, else the name that it claims.
func agentCell(who interact.Requester) string {
	if who.Claim() != "" {
		return "calls itself " + who.Agent
	}
	return who.Agent
}

func span(from, to time.Time) string { return max(to.Sub(from), 0).Round(time.Second).String() }

func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\t", `\t`, "\n", `\n`).Replace(text)
}
