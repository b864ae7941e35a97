package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

func init() { commands["agent"], commands["tini"] = anAgent, tini }

// anAgent is a program that stands in for a coding agent: it starts the command that its arguments are, and does
// nothing about the command's end or its own.
func anAgent() {
	if err := itsArguments().Start(); err != nil {
		panic(err)
	}
	for {
		_ = unix.Pause() // until it is killed
	}
}

// tini is a program that stands in for the one of that name: it adopts the processes whose parent has ended. It says
// when the command that its arguments are has ended, and waits for those it has adopted by then.
func tini() {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	if err := itsArguments().Run(); err != nil {
		panic(err)
	}
	fmt.Println("adopted")
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			return
		}
	}
}

// itsArguments is the command that the program's arguments are, with all that the program has open.
func itsArguments() *exec.Cmd {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "go")}
	return cmd
}

// underTest is this program under the names that it goes by in these tests, in a folder of its own: the kernel tells of
// a process where its program is.
func underTest(t *testing.T, names ...string) (folder string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"payload.json": `{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"/","tool_name":"Bash",` +
			`"tool_input":{"command":"make"}}`,
		"questions.json": `{"questions":[{"id":"a","question":"Which?","input_type":"text"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// writeProgram makes a shell script.
func writeProgram(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestCallerIsKilled kills who runs nod, with prompts open, in the ways in which agents and scripts run it: then nod
// ends, and the prompt with it.
func TestCallerIsKilled(t *testing.T) {
	folder := underTest(t, "nod", "agent")
	writeProgram(t, folder, "wrapper", "nod hook claude-code\ntrue\n")
	writeProgram(t, folder, "deploy", "nod approve --tool Bash --input '{\"command\":\"make\"}' || exit 1\n")
	const approve = `nod approve --tool Bash --input '{"command":"make"}'`
	tests := map[string][]string{ // what is killed, with its arguments
		"agent":                     {"agent", "nod", "hook", "claude-code"},
		"agent, sh":                 {"agent", "sh", "-c", "nod hook claude-code"},
		"agent, bash":               {"agent", "bash", "-c", "nod hook claude-code"},
		"agent, exec":               {"agent", "bash", "-c", "exec nod hook claude-code"},
		"agent, a shell that stays": {"agent", "bash", "-c", "nod hook claude-code; true"},
		"agent, a shell in a shell": {"agent", "sh", "-c", `bash -ec "nod hook claude-code; true"; true`},
		"agent, a script":           {"agent", "wrapper"},
		"agent, env and time-out":   {"agent", "env", "A=b", "timeout", "600", "nod", "hook", "claude-code"},
		"agent's tool":              {"agent", "bash", "-c", approve + " && make"},
		"script":                    {"deploy"},
		"line":                      {"sh", "-c", approve + "; true"},
		"agent, question":           {"agent", "nod", "ask", "Which?"},
		"agent, confirmation":       {"agent", "nod", "confirm", "Now?"},
		"agent, form":               {"agent", "sh", "-c", `nod form questions.json; true`},
		"agent, another session":    {"agent", "setsid", "nod", "hook", "claude-code"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			c := startCaller(t, folder, args...)
			c.prompted()
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if said := c.ended(); strings.Contains(said, "allow") {
				t.Errorf("nod says %q", said)
			}
			c.human.until(t, "closed", func() bool { return len(c.human.Closed()) == 1 })
		})
	}
}

// TestNodRunsOn kills who started the script that runs nod: that is nobody's caller.
func TestNodRunsOn(t *testing.T) {
	folder := underTest(t, "nod", "agent")
	writeProgram(t, folder, "deploy", "nod confirm 'Deploy?' || exit 1\necho deployed\n")
	c := startCaller(t, folder, "agent", "sh", "-c", "read go <&3; exec deploy")
	goes := make(chan struct{})
	c.human.Answer = func(interact.Request, policy.Decision) (interact.Answer, error) {
		<-goes
		return interact.Answer{Outcome: api.Answered, Confirmed: true}, nil
	}
	fmt.Fprintln(c.goes)
	c.prompted()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.cmd.Wait()
	close(goes)
	if said := c.ended(); said != "yes\ndeployed\n" {
		t.Errorf("the script says %q", said)
	}
}

// TestMCPServerEndsWithItsAgent kills an agent whose MCP server still has its input open.
func TestMCPServerEndsWithItsAgent(t *testing.T) {
	c := startCaller(t, underTest(t, "nod", "agent"), "agent", "sh", "-c", "nod mcp <&3; true")
	fmt.Fprintln(c.goes, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`)
	if _, err := c.out.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ended()
}

// TestOrphanedHook has a hook start after its agent has ended: it asks nobody.
func TestOrphanedHook(t *testing.T) {
	folder := underTest(t, "nod", "tini")
	for name, hook := range map[string]string{
		"shell": "nod hook claude-code; true", "exec": "exec nod hook claude-code",
	} {
		t.Run(name, func(t *testing.T) {
			c := startCaller(t, folder, "tini", "sh", "-c", `sh -c 'read go <&3; `+hook+`' <&0 &`)
			if _, err := io.ReadFull(c.out, make([]byte, len("adopted\n"))); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(c.goes)
			if said := c.ended(); said != "" || len(c.human.Shown()) != 0 {
				t.Errorf("nod says %q, and has shown %d prompts", said, len(c.human.Shown()))
			}
		})
	}
}

// called is a program under test that runs nod.
type called struct {
	t     *testing.T
	human *human
	cmd   *exec.Cmd
	goes  *os.File // what is written to it the program can read as file 3
	out   *os.File // ends when everything has that was started
}

// startCaller starts a program in folder, with a hook's payload as its input, and a nod-desktop that watches no
// processes.
func startCaller(t *testing.T, folder string, args ...string) *called {
	t.Helper()
	runtime, err := os.MkdirTemp("", "nod") // a socket's address has no more than 104 bytes on some systems
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	d, err := startDesktop(filepath.Join(runtime, "nod"), []string{"silent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	c := &called{t: t, human: d.prompter}
	path := folder + ":" + os.Getenv("PATH")
	t.Setenv("PATH", path)
	c.cmd = exec.Command(args[0], args[1:]...)
	c.cmd.Dir = folder
	c.cmd.Env = []string{"PATH=" + path, "HOME=" + folder, "XDG_RUNTIME_DIR=" + runtime, hurries}
	input, err := os.Open(filepath.Join(folder, "payload.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	reads, goes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	out, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writes.Close()
	c.goes, c.out = goes, out
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = input, writes, os.Stderr, []*os.File{reads}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill(); c.cmd.Wait(); goes.Close(); out.Close() })
	return c
}

// prompted waits until the user sees the prompt.
func (c *called) prompted() {
	c.t.Helper()
	c.human.until(c.t, "prompt", func() bool { return c.human.seen() == 1 })
}

// ended waits until the program and all that it started have ended, and returns what they said.
func (c *called) ended() string {
	c.t.Helper()
	var said bytes.Buffer
	if _, err := io.Copy(&said, c.out); err != nil {
		c.t.Fatal(err)
	}
	return said.String()
}
