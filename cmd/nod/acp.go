package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/acp"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
)

func (c *console) acp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acp -- AGENT [ARG…]",
		Short: "Run an agent for an editor, and answer its permission requests",
		Long: `Run an agent that speaks the Agent Client Protocol, for an editor that starts this command instead of the
agent. Everything passes through unchanged except permission requests: nod's rules or the user answer those. If nod
doesn't decide (nod-desktop isn't running, nobody answers, or the window is closed), the editor asks. But while
nod-desktop isn't running, nod rejects requests from agents listed under agents.strict in the configuration, and from
every agent if the configuration is broken.

The exit status is the agent's. nod passes signals on to the agent, and stops it when the editor ends.`,
		Example: `  nod acp -- gemini --acp
  nod acp -- opencode acp`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("needs an agent")
			}
			return nil
		},
		RunE: c.runs(func(_ context.Context, args []string) error { return c.proxyACP(args) }),
	}
	cmd.Flags().SetInterspersed(false) // what follows the agent's name is for the agent
	return cmd
}

// patience is how long an agent may take to end on its own after its input has ended, and again after it was told to
// end.
const patience = 5 * time.Second

func (c *console) proxyACP(args []string) error {
	runtime.LockOSThread() // Linux ties the agent's end to that of the thread
	ctx, terminate := context.WithCancel(context.Background())
	defer terminate()
	agent := exec.CommandContext(ctx, args[0], args[1:]...)
	agent.Cancel = func() error { return agent.Process.Signal(syscall.SIGTERM) }
	agent.WaitDelay, agent.Stderr, agent.SysProcAttr = patience, c.err, tied()
	in, out, err := startPiped(agent)
	if err != nil {
		return fmt.Errorf("start the agent: %w: is it installed?", err)
	}
	defer passSignals(agent.Process)()
	hangUp := sync.OnceFunc(func() {
		in.Close()
		time.AfterFunc(patience, terminate)
	})
	proxy := acp.New(c.out, in, strings.TrimSuffix(filepath.Base(args[0]), ".exe"), c.decideACP)
	go func() {
		_ = proxy.FromEditor(c.in) // whatever ends it: the agent hears no more
		hangUp()
	}()
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		_ = proxy.FromAgent(out) // whatever ends it: the editor hears no more
		hangUp()
	}()
	_ = agent.Wait() // the state says how it ended
	select {
	case <-passed:
	case <-time.After(patience): // another process holds the agent's output open
	}
	return endedLike(agent.ProcessState)
}

// startPiped starts a program. Unlike a pipe of package exec, its output can be read to the end after it has ended.
func startPiped(cmd *exec.Cmd) (in io.WriteCloser, out *os.File, err error) {
	out, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer end.Close()
	cmd.Stdout = end
	if in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return in, out, nil
}

func passSignals(p *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	// nod notices an editor that no longer reads when it writes to it, which must not end nod immediately.
	signal.Notify(signals, append(waiting.EndedBy(), syscall.SIGPIPE)...)
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				_ = p.Signal(s) // one that has ended needs none
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

func endedLike(state *os.ProcessState) error {
	code := state.ExitCode()
	if ended, ok := state.Sys().(syscall.WaitStatus); ok && ended.Signaled() {
		code = 128 + int(ended.Signal()) // as shells say it
	}
	if code == 0 {
		return nil
	}
	return &verdict{status: status(code)}
}

// errNotDenied says that the editor asks, because only a denial could be passed on and no rule denies.
var errNotDenied = errors.New("no rule denies it")

// decideACP asks nod-desktop. If it cannot be asked, decideACP denies if nod is strict for the agent.
func (c *console) decideACP(ctx context.Context, r api.ApproveRequest, onlyDeny bool) (api.ApproveReply, error) {
	r.Silence = api.AsksItself // where the editor is
	reply, err := call(ctx, 0, func(cl *client.Client, ctx context.Context) (api.ApproveReply, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		waiting.GiveUp(cl, cancel)
		if onlyDeny {
			if would, err := cl.Evaluate(ctx, r); err != nil || would.Decision != api.Deny {
				return api.ApproveReply{}, cmp.Or(err, errNotDenied)
			}
		}
		return cl.Approve(ctx, r)
	})
	_, isAnswer := errors.AsType[*client.Problem](err)
	if err == nil || isAnswer || errors.Is(err, errNotDenied) {
		return reply, err
	}
	strict, broken := isStrict(r.Agent)
	if broken != nil {
		c.complain("acp", strictWhileBroken(broken))
	}
	if strict {
		return api.ApproveReply{Head: api.Head{Outcome: api.Denied}, Decision: api.Deny}, nil
	}
	return reply, err
}
