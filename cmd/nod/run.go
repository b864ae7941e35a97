package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"nod/agents/claude/prefix"
	"nod/api"
	"nod/ipc/client"
	"nod/ipc/programs"
	"nod/policy"
	"nod/sandbox"
	"nod/sandbox/boundary"
	"nod/sandbox/outside"
	"nod/sandbox/snapshot"
)

func (c *console) run() *cobra.Command {
	var outside, try bool
	var line string
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
			if len(args) == 0 && !try && !cmd.Flags().Changed("line") {
				return errors.New("needs a command")
			}
			return nil
		},
	}
	cmd.RunE = c.runs(func(ctx context.Context, args []string) error {
		switch {
		case try:
			return c.trySandbox(ctx)
		case line != "":
			return c.runForAgent(ctx, line)
		case outside:
			return notRun(become(args))
		}
		argv := func(string) []string { return args }
		return c.runContained(ctx, api.RunRequest{Command: spell(args), Own: true}, argv, nil)
	})
	cmd.Flags().BoolVar(&outside, "outside", false, "run it without the sandbox")
	cmd.Flags().StringVarP(&line, "line", "c", "", "run a command line of Claude Code")
	cmd.Flags().BoolVar(&try, sandbox.TryFlag, false, "print which sandbox this machine has")
	_, _ = cmd.Flags().MarkHidden("line"), cmd.Flags().MarkHidden(sandbox.TryFlag)
	cmd.Flags().SetInterspersed(false) // what follows the command's name is for the command
	return cmd
}

// spell writes a command as shells read it.
func spell(args []string) string {
	var words []string
	for _, arg := range args {
		quoted, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil { // an impossible byte
			quoted = arg
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " ")
}

// trySandbox tells nod-desktop what contains commands here, and why nothing better does.
func (c *console) trySandbox(ctx context.Context) error {
	first, err := programs.Find("nod")
	if err != nil {
		return err
	}
	engine, err := sandbox.Find(ctx, first)
	if err != nil {
		return err
	}
	var trial sandbox.Trial
	var why error
	if trial.Engine, why = engine.Kind(); why != nil {
		trial.Why = why.Error()
	}
	c.json = true
	return c.show(trial, "")
}

// The status of a shell whose command cannot be run, or is not there.
const (
	exitNotRun   = 126
	exitNotFound = 127
)

func notRun(err error) error {
	if err == nil {
		return nil
	}
	why, _ := explain(err)
	return &verdict{exitNotRun, "not run: " + why}
}

// become runs a command in the place of this process.
func become(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return replaceSelf(path, argv)
}

// runForAgent runs what Claude Code has a shell run: in the sandbox if nod-desktop has said so, and else as it is.
func (c *console) runForAgent(ctx context.Context, line string) error {
	command, ok := prefix.Read(line)
	if !ok {
		return notRun(errors.New("nod doesn't understand how this agent runs its commands"))
	}
	shell, err := outside.Find(command.Shell())
	if err != nil {
		return notRun(err)
	}
	name := filepath.Base(command.Folder)
	argv := func(temp string) []string { // the agent's own file for it need not be there
		return []string{shell, "-c", strings.TrimSuffix(line, command.Folder) + filepath.Join(temp, name)}
	}
	q := api.RunRequest{Command: command.Text, Shell: command.Snapshot}
	err = c.runContained(ctx, q, argv, func(temp string) { passFolder(filepath.Join(temp, name), command.Folder) })
	if isUnexpected(err) {
		return notRun(become([]string{shell, "-c", line}))
	}
	return err
}

// isUnexpected reports whether nod-desktop says that it has not had the command run in the sandbox.
func isUnexpected(err error) bool {
	p, isProblem := errors.AsType[*client.Problem](err)
	return isProblem && p.Code == api.CodeNotFound
}

// maxPath is the length of the longest path that a shell's folder can have.
const maxPath = 4096

// passFolder passes on the folder that a shell has ended in. The command could have written anything.
func passFolder(from, to string) {
	f, err := os.OpenFile(from, os.O_RDONLY|noFollow|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPath+1))
	folder := strings.TrimSuffix(string(text), "\n")
	if err != nil || len(text) > maxPath || !filepath.IsAbs(folder) || strings.ContainsAny(folder, "\n\x00") {
		return
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		_ = os.WriteFile(to, []byte(folder+"\n"), 0o600) // then the agent stays where it was
	}
}

// runContained runs a command in its sandbox. argv gets the folder for temporary files as the command sees it, and
// after as it is outside.
func (c *console) runContained(
	ctx context.Context, q api.RunRequest, argv func(temp string) []string, after func(temp string),
) error {
	cwd, err := os.Getwd()
	if err != nil {
		return notRun(err)
	}
	q.CWD, q.Folders, q.Path = cwd, foldersOf(os.Environ()), filepath.SplitList(os.Getenv("PATH"))
	cl, err := client.Discover()
	if err != nil {
		return notRun(err)
	}
	go sandbox.Prepare(os.Environ()) // while nod-desktop looks through the project
	run, err := cl.Run(ctx, q)
	if isUnexpected(err) {
		return err
	}
	if err != nil {
		return notRun(err)
	}
	defer run.Close()
	first, err := programs.Find("nod")
	if err != nil {
		return notRun(err)
	}
	command := sandbox.Command{Dir: cwd, Env: os.Environ(), Watch: int(run.PID), Stdin: os.Stdin}
	if err := json.Unmarshal(run.Profile, &command.Profile); err != nil {
		return notRun(err)
	}
	engine, err := sandbox.New(command.Profile.Engine, first)
	if err != nil {
		return notRun(err)
	}
	command.Argv, command.Hold = argv(engine.Temp(&command.Profile)), run.Begun
	out, err := newOutput(os.Stdout, os.Stderr)
	if err != nil {
		return notRun(err)
	}
	command.Stdout, command.Stderr = out.stdout, out.stderr
	var refused refusals
	who := api.Common{Agent: cmp.Or(run.Agent, "nod run"), Session: run.Session, CWD: run.Project}
	command.Serve = func(l net.Listener) {
		_ = boundary.Serve(ctx, l, boundary.Config{
			Allowed: run.Hosts, Ask: askAboutHosts(cl, who, q.Command), Refused: refused.add,
		})
	}
	ended, err := engine.Run(ctx, command)
	out.end()
	if err != nil {
		return notRun(err)
	}
	if after != nil {
		after(command.Profile.Temp())
	}
	if command.Profile.Write {
		c.expel(&command.Profile)
	}
	if run.IsLost() && run.Noted != nil {
		c.noteEnd(context.WithoutCancel(ctx), run)
	}
	if ended == 0 {
		return nil
	}
	if isSuspect := out.suspects.Load() || ended == exitNotRun || ended == exitNotFound; isSuspect || refused.any() {
		c.complain("run", refused.explain(run.Project))
	}
	return &verdict{status: status(ended)}
}

// noteEnd notes what a command has changed, since nod-desktop is no longer there to do so.
func (c *console) noteEnd(ctx context.Context, run *client.Run) {
	var noted snapshot.Run
	err := json.Unmarshal(run.Noted, &noted)
	var repository *snapshot.Repository
	if err == nil {
		repository, err = snapshot.Open(snapshot.DefaultFolder(), run.Project, policy.IsSecret)
	}
	if err == nil {
		_, err = repository.End(ctx, noted)
	}
	if err != nil {
		c.complain("run", "what this changed is not noted: "+err.Error())
	}
}

// expel moves what a command has made in guarded places out of the project, and says so.
func (c *console) expel(p *sandbox.Profile) {
	moved, err := sandbox.Expel(p, policy.IsGuarded)
	for _, path := range moved {
		c.complain("run", fmt.Sprintf("%s was moved to %s: in the sandbox nothing can be made there", path, p.Private))
	}
	if err != nil {
		c.complain("run", err.Error())
	}
}

// refusals are the connections of a command that were refused.
type refusals struct {
	mu   sync.Mutex
	told []string
}

func (r *refusals) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if why := err.Error(); !slices.Contains(r.told, why) && len(r.told) < 5 {
		r.told = append(r.told, why)
	}
}

func (r *refusals) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.told) > 0
}

// explain tells an agent why a command may have failed, and what it can do.
func (r *refusals) explain(project string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	why := "it can change " + project + " only, and reaches no network"
	if len(r.told) > 0 {
		why = strings.Join(r.told, "; ")
	}
	return "this ran in nod's sandbox (" + why + "). If it failed for that, run: nod run --outside -- COMMAND, " +
		"which asks the user"
}

// foldersOf are the folders that an environment names, of programs and their data.
func foldersOf(env []string) (folders []string) {
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		isPlace := func(end string) bool { return strings.HasSuffix(name, end) }
		if strings.HasPrefix(name, "XDG_") { // such as XDG_DOCUMENTS_DIR
			continue
		}
		if !slices.ContainsFunc([]string{"PATH", "_HOME", "_ROOT", "_DIR", "_PREFIX", "VIRTUAL_ENV"}, isPlace) {
			continue
		}
		for _, folder := range filepath.SplitList(value) {
			if filepath.IsAbs(folder) && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}

// askAboutHosts returns what asks the user whether a command in the sandbox may reach a host: a tool call of the agent,
// so that rules and grants count as for any other.
func askAboutHosts(
	cl *client.Client, who api.Common, command string,
) func(context.Context, boundary.Target) error {
	approver := &client.Approver{Client: cl}
	return func(ctx context.Context, t boundary.Target) error {
		decision, err := approver.Decide(ctx, hostRequest(who, command, t))
		switch {
		case err != nil:
			return err
		case !decision.Allowed:
			return errors.New(decision.Reason)
		}
		return nil
	}
}

// hostRequest asks about exactly what an answer is kept for: the host or, where it is near, the address; and the port
// where it is none of the web's.
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
