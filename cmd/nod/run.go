package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/programs"
	"nod/policy"
	"nod/sandbox"
	"nod/sandbox/boundary"
	"nod/sandbox/snapshot"
)

func (c *console) run() *cobra.Command {
	var outside, try, proxy, end bool
	cmd := &cobra.Command{
		Use:   "run [--outside] -- COMMAND [ARG…]",
		Short: "Run a command in the sandbox of the project",
		Long: `Run a command that can change the current project and nothing else. Apart from tools, it sees no other files,
no secrets, and only the network hosts you allow. nod undo takes its changes back.

With --outside it runs without the sandbox. An agent uses this to ask you when its command failed in the sandbox: nod's
rules never allow it.

The exit status is the command's, or 126 if nod could not run it.`,
		Example: `  nod run -- npm test
  nod run --outside -- docker build .`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !try && !proxy && !end {
				return errors.New("needs a command")
			}
			return nil
		},
	}
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		switch {
		case try:
			return c.trySandbox(ctx)
		case proxy:
			return c.serveProxy(context.WithoutCancel(ctx)) // an interrupt is the command's
		case end:
			return c.endRun(context.WithoutCancel(ctx))
		case outside:
			return notRun(become(args))
		}
		first, err := programs.Find("nod") // which does this on its own
		if self, _ := os.Executable(); err == nil && programs.IsSame(self, first) {
			err = errors.New("there is no sandbox without nod-desktop")
		}
		if err != nil {
			return notRun(err)
		}
		return notRun(become(append([]string{first, "run", "--"}, args...)))
	})
	cmd.Flags().BoolVar(&outside, "outside", false, "run it without the sandbox")
	cmd.Flags().BoolVar(&try, sandbox.TryFlag, false, "print which sandbox this machine has")
	cmd.Flags().BoolVar(&proxy, client.ProxyFlag, false, "connect a command in the sandbox")
	cmd.Flags().BoolVar(&end, client.EndFlag, false, "end a command in the sandbox")
	for _, internal := range []string{sandbox.TryFlag, client.ProxyFlag, client.EndFlag} {
		_ = cmd.Flags().MarkHidden(internal)
	}
	cmd.Flags().SetInterspersed(false) // what follows the command's name is for the command
	return cmd
}

// trySandbox tells nod-desktop what can contain commands here, and why nothing better can.
func (c *console) trySandbox(ctx context.Context) error {
	first, err := programs.Find("nod")
	if err != nil {
		return err
	}
	trial, err := sandbox.Find(ctx, first)
	if err != nil {
		return err
	}
	c.json = true
	return c.show(trial, "")
}

const exitNotRun = 126

func notRun(err error) error {
	if err == nil {
		return nil
	}
	why, _ := explain(err)
	return &verdict{exitNotRun, "not run: " + why}
}

func become(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return replaceSelf(path, argv)
}

func (c *console) readRun() (run client.Run, err error) {
	err = json.NewDecoder(c.in).Decode(&run)
	return run, err
}

// serveProxy runs the proxy of a command that nod runs in the sandbox, on a listener that nod has opened, until
// standard input ends. It prints why it refuses connections.
func (c *console) serveProxy(ctx context.Context) error {
	run, err := c.readRun()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, c.in)
		cancel()
	}()
	l, err := net.FileListener(os.NewFile(3, "proxy"))
	if err != nil {
		return err
	}
	cl, err := client.Discover()
	if err != nil {
		return err
	}
	who := api.Common{Agent: cmp.Or(run.Agent, "nod run"), Session: run.Session, CWD: run.Project}
	var mu sync.Mutex
	return boundary.Serve(ctx, l, boundary.Config{
		Allowed: run.Hosts, Ask: askAboutHosts(cl, who, run.Command), Refused: func(why error) {
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewEncoder(c.out).Encode(why.Error())
		},
	})
}

// endRun ends a run in place of nod-desktop: it moves the guarded places that the command created out of the project,
// prints an [api.RunEnded], and notes the command's changes.
func (c *console) endRun(ctx context.Context) error {
	run, err := c.readRun()
	if err != nil {
		return err
	}
	var p sandbox.Profile
	if err := json.Unmarshal(run.Profile, &p); err != nil {
		return err
	}
	var ended api.RunEnded
	if p.Write {
		ended.To = p.Private
		isGuarded, unseen := policy.GuardedIn(p.Project)
		ended.Moved, err = sandbox.Expel(&p, isGuarded)
		if err = errors.Join(unseen, err); err != nil {
			ended.Problem = err.Error()
		}
		_ = os.Remove(p.Unfinished)
	}
	if err := json.NewEncoder(c.out).Encode(ended); err != nil || run.Noted == nil {
		return err
	}
	var noted snapshot.Run
	if err := json.Unmarshal(run.Noted, &noted); err != nil {
		return err
	}
	repository, err := snapshot.Open(snapshot.DefaultFolder(), run.Project, policy.IsSecret)
	if err == nil {
		_, err = repository.End(ctx, noted, func() {})
	}
	return err
}

// askAboutHosts returns a function that asks about a connection as a tool call of the agent, so that rules and grants
// count as for any other call.
func askAboutHosts(cl *client.Client, who api.Common, command string) func(context.Context, boundary.Target) error {
	return func(ctx context.Context, t boundary.Target) error {
		reply, err := cl.Approve(ctx, hostRequest(who, command, t))
		if err == nil && !reply.Allowed() {
			err = errors.New(cmp.Or(reply.Reason, "denied, and no reason was given"))
		}
		return err
	}
}

// hostRequest returns a request about what a grant would cover: the host or its address, and a port other than 80 and
// 443.
func hostRequest(who api.Common, command string, t boundary.Target) api.ApproveRequest {
	host, says := t.Host, command
	if t.Addr.IsValid() && t.Addr.String() != host {
		host, says = t.Addr.String(), command+"\n("+host+")"
	}
	address := net.JoinHostPort(host, strconv.Itoa(int(t.Port)))
	if t.Port == 443 || t.Port == 80 {
		address = strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
	}
	input, err := json.Marshal(map[string]string{"url": "https://" + address})
	if err != nil {
		panic(err) // texts can be marshaled
	}
	return api.ApproveRequest{
		Approve: api.Approve{
			Tool: policy.NetworkTool, Input: input, Class: string(policy.Network), Description: says,
		},
		Common: who,
	}
}
