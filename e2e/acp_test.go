//go:build linux

package e2e

import (
	"context"
	"io"
	"os/exec"
	"testing"

	acp "github.com/coder/acp-go-sdk"
)

// An acpAgent is an agent that speaks the Agent Client Protocol.
type acpAgent struct {
	// start sets the agent up to talk to a model of ours, and returns how to run it.
	start func(t *testing.T, config string, isUp bool, script ...toolCall) (*nod, *exec.Cmd)
	makes toolCall // makes made.txt
	reads toolCall // a command that only reads; none where the agent does not send the command
}

var acpAgents = map[string]acpAgent{
	"gemini": {geminiForEditor, geminiRuns("touch made.txt"), toolCall{}},
	"opencode": {openForEditor, openMakeIt,
		toolCall{"bash", map[string]string{"command": "ls -la", "description": "Lists"}}},
	"qwen": {qwenForEditor,
		toolCall{"run_shell_command", map[string]any{"command": "touch made.txt", "is_background": false}},
		toolCall{"run_shell_command", map[string]any{"command": "date; ls", "is_background": false}}},
}

func geminiForEditor(t *testing.T, config string, isUp bool, script ...toolCall) (*nod, *exec.Cmd) {
	t.Helper()
	s := newGemini(t, config, isUp, false, script...)
	return s.nod, s.command("--acp")
}

func openForEditor(t *testing.T, config string, isUp bool, script ...toolCall) (*nod, *exec.Cmd) {
	t.Helper()
	s := newOpen(t, config, isUp, script...)
	s.configure()
	return s.nod, s.command("acp")
}

// qwenForEditor sets up Qwen Code without nod's hooks, in the mode in which it asks.
func qwenForEditor(t *testing.T, config string, isUp bool, script ...toolCall) (*nod, *exec.Cmd) {
	t.Helper()
	n := startDesktop(t)
	n.writeConfig(config)
	if isUp {
		n.startNod()
	}
	m := newChatModel(script)
	t.Cleanup(m.Close)
	return n, n.qwenCommand(m.URL, "--acp", "--approval-mode", "default")
}

// editor is an editor with an agent behind nod, in the middle of a turn.
type editor struct {
	*nod
	acp.Client // the rest of what an editor can do; the agents are told that it cannot
	conn       *acp.ClientSideConnection
	session    acp.SessionId
	agent      *call
	hangUp     func() error
	asked      chan acp.RequestPermissionRequest // what nod left to the editor
	answers    chan acp.PermissionOptionKind
	reply      chan error
}

// edit starts an editor with an agent behind nod, and has the agent's model begin.
func edit(t *testing.T, a acpAgent, config string, isUp bool, script ...toolCall) *editor {
	t.Helper()
	n, cmd := a.start(t, config, isUp, script...)
	e := &editor{nod: n, reply: make(chan error, 1),
		asked: make(chan acp.RequestPermissionRequest, 8), answers: make(chan acp.PermissionOptionKind, 8)}
	behind := n.program("nod", append([]string{"acp", "--", cmd.Path}, cmd.Args[1:]...)...)
	behind.Env = append(cmd.Env, "NOD_IPC_ADDRESS=127.0.0.1:0")
	toAgent, err := behind.StdinPipe()
	must(t, err)
	fromAgent, out := io.Pipe()
	e.agent = &call{t: t, ctx: n.ctx, cmd: behind}
	behind.Stdout, behind.Stderr = out, n.openLog("agent.stderr")
	e.agent.ended, err = n.Launch(behind)
	must(t, err)
	e.hangUp = toAgent.Close
	e.conn = acp.NewClientSideConnection(e, toAgent, fromAgent)
	e.begin()
	return e
}

// begin opens a session and has the model do what its script says.
func (e *editor) begin() {
	e.t.Helper()
	_, err := e.conn.Initialize(e.ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	must(e.t, err)
	made, err := e.conn.NewSession(e.ctx, acp.NewSessionRequest{Cwd: e.project(), McpServers: []acp.McpServer{}})
	must(e.t, err)
	e.session = made.SessionId
	go func() {
		_, err := e.conn.Prompt(e.ctx, acp.PromptRequest{
			SessionId: e.session, Prompt: []acp.ContentBlock{acp.TextBlock("do it")},
		})
		e.reply <- err
	}()
}

// RequestPermission implements [acp.Client]: it asks the test.
func (e *editor) RequestPermission(
	ctx context.Context, r acp.RequestPermissionRequest,
) (acp.RequestPermissionResponse, error) {
	e.asked <- r
	outcome := acp.NewRequestPermissionOutcomeCancelled()
	select {
	case kind := <-e.answers:
		for _, o := range r.Options {
			if o.Kind == kind {
				outcome = acp.NewRequestPermissionOutcomeSelected(o.OptionId)
			}
		}
	case <-ctx.Done():
	}
	return acp.RequestPermissionResponse{Outcome: outcome}, nil
}

// SessionUpdate implements [acp.Client].
func (e *editor) SessionUpdate(context.Context, acp.SessionNotification) error { return nil }

// allows waits until nod leaves a request to the editor, whose user allows it.
func (e *editor) allows() {
	e.t.Helper()
	select {
	case <-e.asked:
		e.made(false)
		e.answers <- acp.PermissionOptionKindAllowOnce
	case <-e.ctx.Done():
		e.t.Fatal("the editor is not asked")
	}
}

// finished waits until the agent's turn is over.
func (e *editor) finished() {
	e.t.Helper()
	select {
	case err := <-e.reply:
		must(e.t, err)
	case <-e.ctx.Done():
		e.t.Fatal("the turn does not end")
	}
}

// neverAsked fails the test if nod left something to the editor.
func (e *editor) neverAsked() {
	e.t.Helper()
	select {
	case r := <-e.asked:
		e.t.Errorf("the editor is asked: %+v", r.ToolCall)
	default:
	}
}

// An agent that an editor runs behind nod is answered by nod; what nod does not decide the editor does.
func TestAgentACP(t *testing.T) {
	for name, a := range acpAgents {
		t.Run(name, func(t *testing.T) { testACP(t, name, a) })
	}
}

func testACP(t *testing.T, name string, a acpAgent) {
	t.Run("reads without a prompt", func(t *testing.T) {
		if a.reads.tool == "" {
			t.Skip("the agent sends a title in place of the command: it is asked about")
		}
		e := edit(t, a, settings, true, a.reads)
		e.finished()
		e.neverAWindow()
		e.neverAsked()
	})
	t.Run("allowed", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		e.shot("acp-" + name)
		e.armed()
		e.press("ctrl+Return")
		e.finished()
		e.made(true)
		e.neverAsked()
	})
	t.Run("denied", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		e.armed()
		e.press("ctrl+d")
		e.finished()
		e.made(false)
		e.neverAsked()
	})
	t.Run("closed, so the editor decides", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		e.press("Escape")
		e.allows()
		e.finished()
		e.made(true)
	})
	t.Run("cancelled in the editor", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		must(t, e.conn.Cancel(e.ctx, acp.CancelNotification{SessionId: e.session}))
		e.noWindow()
		e.finished()
		e.made(false)
		e.neverAsked()
	})
	t.Run("the editor goes", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		must(t, e.hangUp())
		e.noWindow()
		e.agent.result()
		e.made(false)
	})
	t.Run("nod killed in the middle", func(t *testing.T) {
		e := edit(t, a, settings, true, a.makes)
		e.prompt()
		must(t, e.cmd.Process.Kill())
		<-e.ended
		e.allows()
		e.finished()
		e.made(true)
	})
	t.Run("away", func(t *testing.T) {
		e := edit(t, a, settings, false, a.makes)
		e.allows()
		e.finished()
		e.made(true)
	})
}

// What the user picks of the agent's own "always" the agent hears, and does not ask again.
func TestAgentACPAlways(t *testing.T) {
	makes := acpAgents["gemini"].makes
	e := edit(t, acpAgents["gemini"], settings, true, makes, makes)
	e.prompt()
	e.armed()
	e.after(func() { e.press("Tab", "Tab", "Tab", "Tab", "space") }) // the scope
	e.after(func() { e.press("Up", "space") })                       // the last: the agent's own
	e.armed()
	e.shot("acp-always")
	e.press("ctrl+Return")
	e.finished()
	e.made(true)
	e.neverAsked()
}
