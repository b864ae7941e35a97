//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"nod/agents/agent"
	"nod/agents/registry"
	"nod/e2e/interacttest"
	"nod/interact"
	"nod/ipc"
	"nod/ipc/client"
	"nod/ipc/hooks"
	"nod/policy"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"nod": main}) }

// standIn is a nod-cli that says how it was called.
const standIn = `#!/bin/sh
printf '%s|' "$@"
wc -c
exit 3
`

const payload = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}}`

// user is a prompter that takes the server away under the hook that asks, if end is not nil.
type user struct {
	interacttest.Prompter
	end func()
}

func (u *user) Prompt(ctx context.Context, r interact.Request, why policy.Decision) (interact.Answer, error) {
	if u.end != nil {
		u.end()
		<-ctx.Done()
		return interact.Answer{}, ctx.Err()
	}
	return u.Prompter.Prompt(ctx, r, why)
}

// serve serves hooks for programs with this XDG_RUNTIME_DIR. The settings of agents say this limit.
func serve(t *testing.T, u *user, looked *[]string) (runtime string) {
	t.Helper()
	runtime, err := os.MkdirTemp("", "nod") // short enough for a socket's address
	if err != nil {
		t.Fatal(err)
	}
	rules := new(interacttest.Policy)
	rules.Set("Read", policy.Allow)
	broker := interacttest.Broker(u, rules)
	log := slog.New(slog.DiscardHandler)
	server, err := ipc.Listen(ipc.Config{
		Address: "127.0.0.1:0", Dir: filepath.Join(runtime, "nod"), Broker: broker, Version: "test", Log: log,
		Hooks: hooks.New(hooks.Config{
			Agents: registry.Protocols(), Broker: broker, Log: log, AskMore: func() bool { return false },
			Timeout: func() time.Duration { return time.Minute },
			Settings: func(name string, env func(string) string) (bool, time.Duration) {
				*looked = append(*looked, name+" "+env("HOME")+" "+env("CLAUDE_CONFIG_DIR"))
				return registry.Settings(name, env)
			},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	if u.end != nil {
		u.end = func() { _ = os.RemoveAll(runtime); _ = server.Close() }
	}
	t.Cleanup(func() {
		broker.Close()
		cancel()
		<-served
		os.RemoveAll(runtime)
	})
	return runtime
}

// nod runs the program under test and returns what it prints, and its exit status.
func nod(t *testing.T, runtime string, env []string, input string, args ...string) (out string, status int) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "nod-cli"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nod", args...)
	cmd.Env = append([]string{
		"PATH=" + home + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "GORACE=atexit_sleep_ms=0",
	}, env...)
	cmd.Stdin = strings.NewReader(input)
	said, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		status = exit.ExitCode()
	}
	return string(said), status
}

func TestPassesOnHooks(t *testing.T) {
	var looked []string
	runtime := serve(t, new(user), &looked)
	out, status := nod(t, runtime, []string{"CLAUDE_CONFIG_DIR=/elsewhere"}, payload, "hook", "claude-code")
	if status != 0 || !strings.Contains(out, `"permissionDecision":"allow"`) || !strings.HasSuffix(out, "}\n") {
		t.Errorf("status %d: %q", status, out)
	}
	if len(looked) != 1 || !strings.HasPrefix(looked[0], "claude-code /") || !strings.HasSuffix(looked[0], " /elsewhere") {
		t.Errorf("nod-desktop looked for the settings of %q", looked)
	}
	stop := strings.Replace(payload, "PreToolUse", "SessionStart", 1)
	if out, status := nod(t, runtime, nil, stop, "hook", "claude-code"); status != 0 || out != "" {
		t.Errorf("no decision: status %d: %q", status, out)
	}
}

// Whatever is not a reply of nod-desktop's is for nod-cli, which gets all that the hook was given.
func TestHandsOver(t *testing.T) {
	var looked []string
	runtime := serve(t, new(user), &looked)
	long := payload + strings.Repeat(" ", client.MaxPayload)
	hook := []string{"hook", "codex"}
	for name, tt := range map[string]struct {
		env   []string
		args  []string
		input string
		want  string
	}{
		"a command":          {args: []string{"status"}, want: "status|0\n"},
		"help":               {args: []string{"hook", "--help"}, want: "hook|--help|0\n"},
		"an agent by status": {args: []string{"hook", "letta"}, input: payload, want: "hook|letta|99\n"},
		"a logged hook":      {env: []string{"NOD_LOG=debug"}, args: hook, input: payload, want: "hook|codex|99\n"},
		"an unknown agent":   {args: []string{"hook", "x", "e"}, input: payload, want: "hook|x|e|99\n"},
		"a payload too long": {args: hook, input: long, want: fmt.Sprintf("hook|codex|%d\n", len(long))},
		"no nod-desktop": {
			env: []string{"XDG_RUNTIME_DIR=" + t.TempDir()}, args: hook, input: payload, want: "hook|codex|99\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if out, status := nod(t, runtime, tt.env, tt.input, tt.args...); status != 3 || out != tt.want {
				t.Errorf("status %d: %s, want %s", status, out, tt.want)
			}
		})
	}
}

// A hook that nod-desktop left without an answer is for nod-cli to deny, where the agent would go on.
func TestHandsOverWhatWasAsked(t *testing.T) {
	t.Parallel()
	var looked []string
	u := &user{end: func() {}}
	runtime := serve(t, u, &looked)
	input := strings.Replace(payload, `"Read"`, `"Bash"`, 1)
	out, status := nod(t, runtime, nil, input, "hook", "claude-code", "PermissionRequest") // waits for another one
	if status != 3 || !strings.HasPrefix(out, "hook|claude-code|PermissionRequest|--failed=") {
		t.Errorf("status %d: %s", status, out)
	}
}

// A hook that is told to quit while it waits is not answered either, and nothing that Go prints reaches the agent.
func TestQuits(t *testing.T) {
	t.Parallel()
	var looked []string
	u := &user{}
	u.Delay = time.Second // until the wait has gone on for a while
	u.Answer = func(r interact.Request, _ policy.Decision) (interact.Answer, error) {
		_ = syscall.Kill(int(r.Requester.Process.PID), syscall.SIGQUIT)
		<-t.Context().Done()
		return interact.Answer{}, t.Context().Err()
	}
	input := strings.Replace(payload, `"Read"`, `"Bash"`, 1)
	out, status := nod(t, serve(t, u, &looked), nil, input, "hook", "claude-code", "PermissionRequest")
	if status != 3 || !strings.HasPrefix(out, "hook|claude-code|PermissionRequest|--failed=") {
		t.Errorf("status %d: %s", status, out)
	}
}

// Without nod-cli, and with itself in its place, a hook denies, as far as the exit status can.
func TestNoCommandLine(t *testing.T) {
	program, err := exec.LookPath("nod")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		with func(nod, cli string) error
		want string
	}{
		"nothing": {func(string, string) error { return nil }, "find nod-cli"},
		"a link":  {os.Link, "is nod, not nod-cli"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "nod")
			if err := os.WriteFile(path, text, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.with(path, filepath.Join(dir, "nod-cli")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, "hook", "codex")
			cmd.Env = []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "PATH="}
			var complaint bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(payload), &complaint
			err = cmd.Run()
			if cmd.ProcessState.ExitCode() != exitDenied || !strings.Contains(complaint.String(), tt.want) {
				t.Errorf("%v: %s", err, &complaint)
			}
		})
	}
}

// Agents whose hooks this program cannot pass on by itself are listed.
func TestAgentsByStatus(t *testing.T) {
	for _, a := range registry.All() {
		needs := a.Hooks.Abstain != 0 || a.Hooks.Payload != nil
		if needs != slices.Contains(goByStatus, a.Name) {
			t.Errorf("%s: listed %v, want %v", a.Name, !needs, needs)
		}
	}
}

// nod-desktop is told every variable on which the place of an agent's settings depends.
func TestSettingsVariables(t *testing.T) {
	for _, a := range registry.All() {
		m := agent.Machine{Home: t.TempDir(), Env: func(name string) string {
			if !slices.Contains(client.SettingsVariables, name) {
				t.Errorf("%s depends on %s", a.Name, name)
			}
			return ""
		}}
		a.HookSettings(m)
	}
}
