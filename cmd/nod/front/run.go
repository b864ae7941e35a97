package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nod/agents/claude/prefix"
	"nod/api"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
	"nod/ipc/programs"
	"nod/policy/invisible"
	"nod/sandbox"
)

// The exit status of a shell whose command cannot be run, or does not exist.
const (
	exitNotRun   = 126
	exitNotFound = 127
)

// ownCommand returns the command that nod run should run in the sandbox, or nil if nod-cli has to handle the arguments.
func ownCommand(args []string) []string {
	switch {
	case len(args) > 2 && args[0] == "run" && args[1] == "--":
		return args[2:]
	case len(args) > 1 && args[0] == "run" && !strings.HasPrefix(args[1], "-"):
		return args[1:]
	}
	return nil
}

// ended returns the exit status of a command, and says why one was not run.
func ended(status int, err error) int {
	switch {
	case err == nil:
		return status
	case errors.Is(err, client.ErrNotRunning):
		err = errors.New("nod-desktop isn't running; start it with: nod start")
	}
	complain("not run: " + err.Error())
	return exitNotRun
}

func complain(why string) {
	fmt.Fprintf(os.Stderr, "nod: %s\n", strings.ReplaceAll(invisible.Visible(why), "\n", `\n`))
}

// forAgent returns a command that Claude Code runs in a shell, for the sandbox.
func forAgent(command prefix.Command, line, shell string) contained {
	name := filepath.Base(command.Folder)
	return contained{
		request: api.RunRequest{Command: command.Text, Shell: command.Snapshot},
		argv: func(temp string) []string { // the agent's own file for it need not be there
			return []string{shell, "-c", strings.TrimSuffix(line, command.Folder) + filepath.Join(temp, name)}
		},
		after: func(temp string) { passFolder(filepath.Join(temp, name), command.Folder) },
	}
}

// isUnexpected reports whether nod-desktop says that it did not want the command in the sandbox.
func isUnexpected(err error) bool {
	p, isProblem := errors.AsType[*client.Problem](err)
	return isProblem && p.Code == api.CodeNotFound
}

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

type contained struct {
	request api.RunRequest
	argv    func(temp string) []string // gets the folder for temporary files as the command sees it
	after   func(temp string)          // … and this as it is outside; nil: nothing is to do
}

func (c contained) run() (status int, err error) {
	// The command ends when its output is no longer read, as it would outside. It cannot be stopped: it would continue,
	// and read what the user types.
	signal.Notify(make(chan os.Signal, 1), passedOver...)
	ctx, started := untilStarted()
	cwd, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	env := os.Environ()
	c.request.CWD, c.request.Folders, c.request.Path = cwd, foldersOf(env), filepath.SplitList(os.Getenv("PATH"))
	cl, err := client.Discover()
	if err != nil {
		return 0, err
	}
	go sandbox.Prepare(env) // while nod-desktop looks through the project
	run, err := cl.Run(ctx, c.request)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	first, err := programs.Find("nod")
	if err != nil {
		return 0, err
	}
	proxy := &proxy{run: run}
	command := sandbox.Command{
		Dir: cwd, Env: env, Watch: int(run.PID), Serve: proxy.serve,
		Hold: func() error { defer started(); return run.Begun() },
	}
	if err := json.Unmarshal(run.Profile, &command.Profile); err != nil {
		return 0, err
	}
	engine, err := sandbox.New(command.Profile.Engine, first)
	if err != nil {
		return 0, err
	}
	if !isInBackground() {
		command.Stdin = os.Stdin
	}
	command.Argv = c.argv(engine.Temp(&command.Profile))
	out, err := newOutput(os.Stdout, os.Stderr)
	if err != nil {
		return 0, err
	}
	command.Stdout, command.Stderr = out.stdout, out.stderr
	status, err = engine.Run(ctx, command)
	out.end()
	refused := proxy.end()
	if err != nil {
		return 0, err
	}
	if c.after != nil {
		c.after(command.Profile.Temp())
	}
	c.end(run)
	isSuspect := out.suspects.Load() || status == exitNotRun || status == exitNotFound || len(refused) > 0
	if status != 0 && isSuspect {
		complain("run: " + advice(run.Project, refused))
	}
	return status, nil
}

// untilStarted returns a context that the user can interrupt until the command starts.
func untilStarted() (ctx context.Context, started func()) {
	ctx, cancel := context.WithCancel(context.Background())
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, waiting.EndedBy()...)
	go func() {
		if _, ok := <-interrupts; ok {
			cancel()
		}
	}()
	return ctx, func() { signal.Stop(interrupts); close(interrupts) }
}

// end ends a run, through nod-cli if nod-desktop is gone, and prints the guarded places that the command created.
func (contained) end(run *client.Run) {
	end, err := run.End()
	if err != nil {
		if end, err = endWithoutDesktop(run); err != nil {
			complain("run: what this changed is not noted: " + err.Error())
		}
	}
	for _, path := range end.Moved {
		complain(fmt.Sprintf("run: %s was moved to %s: in the sandbox nothing can be made there", path, end.To))
	}
	if end.Problem != "" {
		complain("run: " + end.Problem)
	}
}

func endWithoutDesktop(run *client.Run) (end api.RunEnded, err error) {
	text, err := json.Marshal(run)
	if err != nil {
		return end, err
	}
	path, err := programs.Find("nod-cli")
	if err != nil {
		return end, err
	}
	cmd := exec.Command(path, "run", "--"+client.EndFlag)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	err = errors.Join(err, json.Unmarshal(out, &end))
	return end, err
}

func advice(project string, refused []string) string {
	why := "it can change " + project + " only, and reaches no network"
	if len(refused) > 0 {
		why = strings.Join(refused, "; ")
	}
	return "this ran in nod's sandbox (" + why + "). If it failed for that, run: nod run --outside -- COMMAND, " +
		"which asks the user"
}

// foldersOf returns the folders of programs and their data that an environment names.
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
