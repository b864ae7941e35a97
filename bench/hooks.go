//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	"nod/bench/report"
	"nod/bench/sample"
	"nod/ipc/client"
)

const hooksHow = "`nod hook claude-code`, as the agent runs it before each tool call, with a call that nod " +
	"allows: from the start of the program to its end, its reply read. Beside it stand a Go program that does " +
	"nothing and `cat`, with the same payload on standard input: the least that any hook costs. The same payload is " +
	"also sent over HTTP without a program. `nod run` takes a snapshot of an empty project before and after its " +
	"command; bubblewrap alone shows the command all files and makes no snapshot."

// hooks measures what a hook adds to each tool call.
func (b *bench) hooks() ([]report.Figure, error) {
	d, err := b.withNod(settings)
	if err != nil {
		return nil, err
	}
	defer d.close()
	payload := fmt.Sprintf(`{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse",`+
		`"tool_name":"Bash","tool_input":{"command":"ls -la"},"tool_use_id":"toolu_1"}`, d.project())
	run := func(want, path string, args ...string) func() error {
		return func() error { return reply(d.command(path, args...), payload, want) }
	}
	const allowed = `"permissionDecision":"allow"`
	post, err := d.poster(payload, allowed)
	if err != nil {
		return nil, err
	}
	hook, err := compare("nod hook, allowed", b.times(200),
		sample.Once("nod", run(allowed, b.program("nod"), "hook", "claude-code")),
		sample.Once("an empty Go program", run("", b.peer(emptyPeer))),
		sample.Once("cat", run("toolu_1", "cat")),
		sample.Once("the same over HTTP", post))
	if err != nil {
		return nil, err
	}
	version, err := compare("nod --version", b.times(100),
		sample.Once("nod", run("", b.program("nod"), "--version")),
		sample.Once("an empty Go program", run("", b.peer(emptyPeer))))
	if err != nil {
		return nil, err
	}
	contained, err := compare("nod run -- true", b.times(100),
		sample.Once("nod", run("", b.program("nod"), "run", "--", "true")),
		sample.Once("bubblewrap", run("", "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
			"true")),
		sample.Once("true", run("", "true")))
	hook.Headline = "the same through an agent's hook (`nod hook`)"
	contained.Headline = "a command in the sandbox (`nod run -- true`)"
	return []report.Figure{hook, version, contained}, err
}

// reply runs a command with that input and fails unless its output holds what is wanted.
func reply(cmd *exec.Cmd, input, want string) error {
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Path, err)
	}
	if !bytes.Contains(out, []byte(want)) {
		return fmt.Errorf("%s: %q, want %q in it", cmd.Path, out, want)
	}
	return nil
}

// poster returns what sends a hook's payload over HTTP and fails unless the reply holds what is wanted.
func (d *desk) poster(payload, want string) (func() error, error) {
	e, err := d.endpoint()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Endpoint: e}
	hook := client.HookCall{Agent: "claude-code", Event: "PreToolUse", Payload: []byte(payload)}
	return func() error {
		out, err := c.Hook(d.b.ctx, hook)
		if err == nil && !bytes.Contains(out, []byte(want)) {
			err = fmt.Errorf("the hook's reply is %q, want %q in it", out, want)
		}
		return err
	}, nil
}
