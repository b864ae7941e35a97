package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nod/api"
)

// side is one of the two that a proxy stands between.
type side struct {
	*io.PipeWriter // what it says
	heard          record
}

// record keeps what is written.
type record struct {
	mu   sync.Mutex // guards text
	text []byte
}

// Write implements [io.Writer].
func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, text...)
	return len(text), nil
}

// says has the side say one line after the other, each when all that follows from the last has happened.
func (s *side) says(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(s, line+"\n")
		synctest.Wait()
	}
}

// hears returns what the side has heard since it was last asked.
func (s *side) hears() string {
	s.heard.mu.Lock()
	defer s.heard.mu.Unlock()
	heard := string(s.heard.text)
	s.heard.text = nil
	return heard
}

// between runs a proxy for a conversation in which a session has begun in /p, with an agent of that name.
func between(t *testing.T, name string, approve approver, talk func(t *testing.T, editor, agent *side)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var editor, agent side
		fromEditor, toProxy := io.Pipe()
		editor.PipeWriter = toProxy
		fromAgent, toProxy := io.Pipe()
		agent.PipeWriter = toProxy
		p := New(&editor.heard, &agent.heard, "the-program", approve)
		ended := make(chan error, 2)
		go func() { ended <- p.FromEditor(fromEditor) }()
		go func() { ended <- p.FromAgent(fromAgent) }()
		editor.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		agent.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":%q}}}`, name))
		editor.says(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/p","mcpServers":[]}}`)
		agent.says(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`)
		editor.says(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
		editor.hears()
		agent.hears()
		talk(t, &editor, &agent)
		editor.Close()
		agent.Close()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// The usual options.
const (
	once   = `{"optionId":"once","name":"Allow","kind":"allow_once"}`
	always = `{"optionId":"always","name":"Allow for this session","kind":"allow_always"}`
	reject = `{"optionId":"no","name":"Reject","kind":"reject_once"}`
	never  = `{"optionId":"never","name":"Never","kind":"reject_always"}`
)

// asks is a request for permission.
func asks(id, toolCall string, options ...string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":`+
		`{"sessionId":"s","toolCall":%s,"options":[%s]}}`, id, toolCall, strings.Join(options, ","))
}

// updates is a notification about a tool call.
func updates(kind, fields string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+
		`{"sessionUpdate":%q,%s}}}`, kind, fields)
}

// outcome is the answer to a request for permission.
func outcome(id, outcome string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":%s}}`, id, outcome) + "\n"
}

func selected(id, option string) string {
	return outcome(id, fmt.Sprintf(`{"optionId":%q,"outcome":"selected"}`, option))
}

func cancelled(id string) string { return outcome(id, `{"outcome":"cancelled"}`) }

const runs = `{"toolCallId":"c","title":"make","kind":"execute","rawInput":{"command":"make"}}`

var (
	allow = api.ApproveReply{Decision: api.Allow, Head: api.Head{Outcome: api.Allowed}, By: api.ByHuman}
	deny  = api.ApproveReply{Decision: api.Deny, Head: api.Head{Outcome: api.Denied}, By: api.ByHuman}
)

func undecided(o api.Outcome) api.ApproveReply {
	return api.ApproveReply{Decision: api.Deny, Head: api.Head{Outcome: o}}
}

func picks(suggestion int) api.ApproveReply {
	r := allow
	r.Suggestion = suggestion
	return r
}

// What was decided reaches the agent as the option that says so, and the editor gets the rest.
func TestAnswers(t *testing.T) {
	all := []string{always, once, reject, never}
	for _, tt := range []struct {
		name    string
		options []string
		reply   api.ApproveReply
		err     error
		want    string // the option; empty: the editor is asked
	}{
		{"allowed", all, allow, nil, "once"},
		{"denied", all, deny, nil, "no"},
		{"allowed for good in nod", all, api.ApproveReply{Decision: api.Allow, Scope: "always"}, nil, "once"},
		{"allowed for good in the agent", all, picks(1), nil, "always"},
		{"no such suggestion", all, picks(2), nil, ""},
		{"one of two suggestions", []string{always, strings.Replace(always, `"always"`, `"saved"`, 1), once, reject},
			picks(2), nil, "saved"},
		{"closed", all, undecided(api.Dismissed), nil, ""},
		{"nobody there", all, undecided(api.TimedOut), nil, ""},
		{"no screen", all, undecided(api.Unavailable), nil, ""},
		{"answered elsewhere", all, undecided(api.Withdrawn), nil, ""},
		{"nothing", all, api.ApproveReply{}, nil, ""},
		{"not running", all, api.ApproveReply{}, errors.New("not running"), ""},
		{"an error beside an answer", all, allow, errors.New("broken"), ""},
		{"never once", []string{always, reject}, allow, nil, ""},
		{"two ways to allow", []string{once, strings.Replace(once, `"once"`, `"also"`, 1), reject}, allow, nil, ""},
		{"two ways to allow, denied", []string{once, strings.Replace(once, `"once"`, `"also"`, 1), reject}, deny, nil, "no"},
		{"no way to allow once, denied", []string{always, reject}, deny, nil, "no"},
		{"two ways to reject", []string{once, reject, strings.Replace(reject, `"no"`, `"nay"`, 1)}, deny, nil, "no"},
		{"no way to reject once", []string{once, never}, deny, nil, "never"},
		{"no way to reject", []string{once, always}, deny, nil, ""},
		{"one id for two", []string{once, strings.Replace(reject, `"no"`, `"once"`, 1)}, deny, nil, ""},
		{"one id for two, and a way to reject", []string{once, strings.Replace(reject, `"no"`, `"once"`, 1), reject},
			deny, nil, "no"},
		{"allow for good has the id of another", []string{strings.Replace(always, `"always"`, `"once"`, 1), once, reject},
			picks(1), nil, ""},
		{"kinds of tomorrow", []string{once, reject, `{"optionId":"x","name":"X","kind":"allow_maybe"}`}, allow, nil, "once"},
		{"no options", nil, allow, nil, ""},
		{"an option without id", []string{strings.Replace(once, `"once"`, `""`, 1), reject}, allow, nil, ""},
		{"no way to reject with an id", []string{once, `{"name":"Reject","kind":"reject_once"}`}, deny, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			approve := func(_ context.Context, _ api.ApproveRequest, onlyDeny bool) (api.ApproveReply, error) {
				if onlyDeny && tt.reply.Decision == api.Allow {
					return tt.reply, errors.New("the user was not to be asked")
				}
				return tt.reply, tt.err
			}
			between(t, "gemini-cli", approve, func(t *testing.T, editor, agent *side) {
				request := asks(`"r-1"`, runs, tt.options...)
				agent.says(request)
				wantAgent, wantEditor := "", request+"\n"
				if tt.want != "" {
					wantAgent, wantEditor = selected(`"r-1"`, tt.want), ""
				}
				if got := agent.hears(); got != wantAgent {
					t.Errorf("the agent hears %q, want %q", got, wantAgent)
				}
				if got := editor.hears(); got != wantEditor {
					t.Errorf("the editor hears %q, want %q", got, wantEditor)
				}
			})
		})
	}
}

// nodAsked is an approver that keeps the last request, and decides nothing.
func nodAsked(into **api.ApproveRequest) approver {
	return func(_ context.Context, r api.ApproveRequest, _ bool) (api.ApproveReply, error) {
		*into = &r
		return api.ApproveReply{}, errors.New("undecided")
	}
}

// What an agent says of a tool call becomes a call that the policy can judge, as far as it says what that takes.
func TestToolCalls(t *testing.T) {
	for _, tt := range []struct {
		name, agent string
		earlier     []string // what the agent says before it asks
		toolCall    string
		tool, input string // what nod is asked; empty: nothing
		description string
	}{
		{
			name: "a command of opencode", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","title":"ls","kind":"execute","rawInput":{"command":"ls"},"locations":[]}`,
			tool:     "bash", input: `{"command":"ls"}`,
		},
		{
			name: "the folder comes earlier", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","title":"bash","kind":"execute","rawInput":{"cwd":"/p"}`),
				updates("tool_call_update", `"toolCallId":"c","rawInput":{"command":"ls","workdir":"/q\"","timeout":1}`),
			},
			toolCall: `{"toolCallId":"c","title":"ls","kind":"execute","rawInput":{"command":"ls"}}`,
			tool:     "bash", input: `{"command":"ls","workdir":"/q\""}`,
		},
		{
			name: "the folder of the session", agent: "OpenCode",
			earlier:  []string{updates("tool_call", `"toolCallId":"c","rawInput":{"command":"ls","cwd":"/p"}`)},
			toolCall: `{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}`,
			tool:     "bash", input: `{"command":"ls"}`,
		},
		{
			name: "opencode asks for a folder outside", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","title":"ls","kind":"other","rawInput":{"command":"ls","patterns":["/*"]}}`,
			tool:     "acp:other", input: `{"command":"ls","patterns":["/*"]}`,
		},
		{
			name: "the input comes earlier", agent: "OpenCode",
			earlier:  []string{updates("tool_call", `"toolCallId":"c","title":"read","rawInput":{"filePath":"/p/a"}`)},
			toolCall: `{"toolCallId":"c","title":"read","kind":"read","rawInput":{}}`,
			tool:     "read", input: `{"filePath":"/p/a"}`, description: "read",
		},
		{
			name: "only an id", agent: "qwen-code",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","title":"T","kind":"execute","rawInput":{"command":"old"}`),
				updates("tool_call_update", `"toolCallId":"c","rawInput":{"command":"new"},"status":"in_progress"`),
			},
			toolCall: `{"toolCallId":"c"}`,
			tool:     "run_shell_command", input: `{"command":"new"}`, description: "T",
		},
		{
			name: "reading is only a claim", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","title":"read","kind":"read"}`,
			tool:     "acp:read", input: `{"title":"read"}`,
		},
		{
			name: "a tool of an MCP server claims to read", agent: "qwen-code",
			toolCall: `{"toolCallId":"c","kind":"read","rawInput":{"file_path":"/p/a"}}`,
			tool:     "acp:read", input: `{"file_path":"/p/a"}`,
		},
		{
			name: "Gemini CLI sends a title", agent: "gemini-cli",
			toolCall: `{"toolCallId":"c","title":"ls -la","kind":"execute","content":[],"locations":[]}`,
			tool:     "acp:execute", input: `{"title":"ls -la"}`,
		},
		{
			name: "and what it says of it", agent: "gemini-cli",
			toolCall: `{"toolCallId":"c","title":"ls","kind":"execute","locations":[{"path":"/p"}],` +
				`"content":[{"type":"content","content":{"type":"text","text":"Lists"}}]}`,
			tool: "acp:execute", input: `{"title":"ls","content":"Lists","locations":[{"path":"/p"}]}`,
		},
		{
			name: "a change of a file", agent: "gemini-cli",
			toolCall: `{"toolCallId":"c","title":"a.go","kind":"edit","locations":[{"path":"/p/a.go"}],` +
				`"content":[{"type":"diff","path":"/p/a.go","oldText":"a\n","newText":""}]}`,
			tool: "acp:edit", input: `{"title":"a.go","file_path":"/p/a.go","old_string":"a\n","new_string":""}`,
		},
		{
			name: "a new file", agent: "gemini-cli",
			toolCall: `{"toolCallId":"c","title":"a.go","kind":"edit",` +
				`"content":[{"type":"diff","path":"/p/a.go","oldText":null,"newText":"a\n"}]}`,
			tool: "acp:edit", input: `{"title":"a.go","file_path":"/p/a.go","content":"a\n"}`,
		},
		{
			name: "changes of two files", agent: "gemini-cli",
			toolCall: `{"toolCallId":"c","title":"two","kind":"edit","content":[{"type":"diff","path":"/p/a"},` +
				`{"type":"diff","path":"/p/b"}]}`,
			tool: "acp:edit", input: `{"title":"two","content":[{"type":"diff","path":"/p/a"},{"type":"diff","path":"/p/b"}]}`,
		},
		{
			name: "a command of an agent that nod doesn't know", agent: "new-agent",
			toolCall: `{"toolCallId":"c","title":"List","kind":"execute","rawInput":{"command":"ls"}}`,
			tool:     "shell", input: `{"command":"ls"}`, description: "List",
		},
		{
			name: "a command that is no text", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","kind":"execute","rawInput":{"command":["ls"]}}`,
			tool:     "acp:execute", input: `{"command":["ls"]}`,
		},
		{
			name: "Claude Code names its tool", agent: "@zed-industries/claude-agent-acp",
			earlier: []string{updates("tool_call",
				`"toolCallId":"c","_meta":{"claudeCode":{"toolName":"Bash"}},"rawInput":{"command":"ls"},"kind":"execute"`)},
			toolCall: `{"toolCallId":"c","title":"ls","rawInput":{"command":"ls","description":"Lists"}}`,
			tool:     "Bash", input: `{"command":"ls","description":"Lists"}`,
		},
		{
			name: "another agent names a tool of Claude Code's", agent: "new-agent",
			toolCall: `{"toolCallId":"c","_meta":{"claudeCode":{"toolName":"Read"}},"rawInput":{"file_path":"/p/a"}}`,
			tool:     "acp:other", input: `{"file_path":"/p/a"}`,
		},
		{
			name: "an input that is no object", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","title":"T","kind":"delete","rawInput":["a"],"content":[{"x":1.50}]}`,
			tool:     "acp:delete", input: `{"title":"T","rawInput":["a"],"content":[{"x":1.50}]}`,
		},
		{
			name: "a kind of tomorrow", agent: "OpenCode",
			toolCall: `{"toolCallId":"c","title":"T","kind":"teleport"}`,
			tool:     "acp:other", input: `{"title":"T"}`,
		},
		{
			name: "numbers and escapes stay as they are", agent: "new-agent",
			toolCall: `{"toolCallId":"c","rawInput":{"n":12345678901234567890.10,"e":"\u0041"}}`,
			tool:     "acp:other", input: `{"n":12345678901234567890.10,"e":"\u0041"}`,
		},
		{
			name: "a call that has ended", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`),
				updates("tool_call_update", `"toolCallId":"c","status":"completed"`),
			},
			toolCall: `{"toolCallId":"c"}`,
		},
		{
			name: "an update that cannot be read", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`),
				updates("tool_call_update", `"toolCallId":"c","rawInput":{"command":"rm"},"rawInput":{"command":"ls"}`),
			},
			toolCall: `{"toolCallId":"c"}`,
		},
		{
			name: "an update of another shape", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`),
				updates("tool_call_update", `"toolCallId":"c","title":1,"rawInput":{"command":"rm"}`),
			},
			toolCall: `{"toolCallId":"c"}`,
		},
		{
			name: "an update that is too long", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`),
				updates("tool_call_update", `"toolCallId":"c","title":"`+strings.Repeat("x", maxLine)+`"`),
			},
			toolCall: `{"toolCallId":"c"}`,
		},
		{
			name: "noise", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`), "", "Loading models …",
			},
			toolCall: `{"toolCallId":"c"}`,
			tool:     "bash", input: `{"command":"ls"}`,
		},
		{
			name: "a turn that is over", agent: "OpenCode",
			earlier: []string{
				updates("tool_call", `"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}`),
				`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`,
			},
			toolCall: `{"toolCallId":"c"}`,
		},
		{name: "nothing", agent: "OpenCode", toolCall: `{"toolCallId":"c"}`},
		{name: "of no shape", agent: "OpenCode", toolCall: `{"toolCallId":"c","title":1}`},
		{name: "said twice", agent: "OpenCode", toolCall: `{"toolCallId":"c","rawInput":{"command":"ls","command":"rm"}}`},
		{
			name: "questions", agent: "qwen-code",
			toolCall: `{"toolCallId":"c","title":"Ask user","kind":"think","rawInput":{"questions":[{"question":"Which?"}]}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked *api.ApproveRequest
			between(t, tt.agent, nodAsked(&asked), func(t *testing.T, editor, agent *side) {
				agent.says(tt.earlier...)
				agent.says(asks("7", tt.toolCall, once, always, reject))
				if got, want := editor.hears(), strings.Join(append(tt.earlier, ""), "\n")+
					asks("7", tt.toolCall, once, always, reject)+"\n"; got != want {
					t.Errorf("the editor hears\n%s\nwant\n%s", got, want)
				}
			})
			if tt.tool == "" {
				if asked != nil {
					t.Errorf("nod is asked: %+v", *asked)
				}
				return
			}
			if asked == nil {
				t.Fatal("nod is not asked")
			}
			if asked.Tool != tt.tool || string(asked.Input) != tt.input || asked.Description != tt.description {
				t.Errorf("nod is asked %s %s %q\nwant %s %s %q",
					asked.Tool, asked.Input, asked.Description, tt.tool, tt.input, tt.description)
			}
			if asked.Session != "s" || asked.CWD != "/p" || asked.ToolUseID != "c" ||
				!slices.Equal(asked.Suggestions, []string{"Allow for this session"}) {
				t.Errorf("nod is asked %+v", *asked)
			}
		})
	}
}

// An agent is called as nod knows it, as it calls itself, or else as its program.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"OpenCode": "opencode", "@zed-industries/claude-code-acp": "claude-code", "qwen-code": "qwen-code",
		"new-agent": "new-agent", "": "the-program",
	} {
		var asked *api.ApproveRequest
		between(t, name, nodAsked(&asked), func(_ *testing.T, _, agent *side) {
			agent.says(asks("7", runs, once, reject))
		})
		if asked == nil || asked.Agent != want {
			t.Errorf("%q: nod is asked by %+v, want %s", name, asked, want)
		}
	}
}

// The folder is the one that the editor opened the session in; without one nod is not asked.
func TestFolders(t *testing.T) {
	ask := strings.ReplaceAll(asks("7", runs, once, reject), `"s"`, `"new"`)
	for _, tt := range []struct{ name, editor, agent, want string }{
		{"loaded", `{"id":9,"method":"session/load","params":{"sessionId":"new","cwd":"/l"}}`, "", "/l"},
		{"resumed", `{"id":9,"method":"session/resume","params":{"sessionId":"new","cwd":"/r"}}`, "", "/r"},
		{"forked", `{"id":"9","method":"session/fork","params":{"sessionId":"s","cwd":"/f"}}`,
			`{"id":"9","result":{"sessionId":"new"}}`, "/f"},
		{"another id", `{"id":9,"method":"session/new","params":{"cwd":"/n"}}`,
			`{"id":"9","result":{"sessionId":"new"}}`, ""},
		{"refused", `{"id":9,"method":"session/new","params":{"cwd":"/n"}}`, `{"id":9,"error":{"code":-1}}`, ""},
		{"unknown", ``, ``, ""},
		{"no folder", `{"id":9,"method":"session/load","params":{"sessionId":"new"}}`, "", ""},
		{"no text", `{"id":9,"method":"session/load","params":{"sessionId":"new","cwd":{}}}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked *api.ApproveRequest
			between(t, "new-agent", nodAsked(&asked), func(_ *testing.T, editor, agent *side) {
				editor.says(tt.editor)
				agent.says(tt.agent)
				agent.says(ask)
			})
			if got := asked != nil; got != (tt.want != "") || got && asked.CWD != tt.want {
				t.Errorf("nod is asked %+v, want in %q", asked, tt.want)
			}
		})
	}
}

// waits is an approver whose user takes an hour to allow, and that counts how often nobody waited for that.
func waits(withdrawn *atomic.Int32) approver {
	return func(ctx context.Context, _ api.ApproveRequest, _ bool) (api.ApproveReply, error) {
		select {
		case <-ctx.Done():
			withdrawn.Add(1)
			return api.ApproveReply{}, ctx.Err()
		case <-time.After(time.Hour):
			return allow, nil
		}
	}
}

// A request that nobody waits for any longer is withdrawn from nod, and the agent hears so after what made it so.
func TestCancellation(t *testing.T) {
	cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	closes := `{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s"}}`
	for _, tt := range []struct {
		name, editor, agent     string // what is said while nod asks
		editorHears, agentHears string
		withdrawn               int32
	}{
		{name: "the editor cancels", editor: cancel, agentHears: cancel + "\n" + cancelled("7"), withdrawn: 1},
		{name: "the editor closes the session", editor: closes, agentHears: closes + "\n" + cancelled("7"), withdrawn: 1},
		{name: "the editor answers by itself", editor: strings.TrimSpace(selected("7.0", "once"))},
		{name: "the editor answers another", editor: `{"id":"7","result":{}}`, agentHears: `{"id":"7","result":{}}` + "\n"},
		{name: "the agent takes it back by another spelling",
			agent: `{"method":"$/cancel_request","params":{"requestId":7.0}}`, agentHears: cancelled("7"), withdrawn: 1},
		{name: "in another session", editor: strings.ReplaceAll(cancel, `"s"`, `"t"`),
			agentHears: strings.ReplaceAll(cancel, `"s"`, `"t"`) + "\n"},
		{name: "the agent takes it back", agent: `{"method":"$/cancel_request","params":{"requestId":7}}`,
			agentHears: cancelled("7"), withdrawn: 1},
		{name: "the agent takes another back", agent: `{"method":"$/cancel_request","params":{"requestId":"7"}}`,
			editorHears: `{"method":"$/cancel_request","params":{"requestId":"7"}}` + "\n"},
		{name: "the turn ends", agent: `{"id":3,"result":{"stopReason":"cancelled"}}`,
			editorHears: `{"id":3,"result":{"stopReason":"cancelled"}}` + "\n", agentHears: cancelled("7"), withdrawn: 1},
		{name: "the turn fails", agent: `{"id":3,"error":{"code":-32603}}`,
			editorHears: `{"id":3,"error":{"code":-32603}}` + "\n", agentHears: cancelled("7"), withdrawn: 1},
		{name: "something else ends", agent: `{"id":4,"result":null}`, editorHears: `{"id":4,"result":null}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var withdrawn atomic.Int32
			between(t, "new-agent", waits(&withdrawn), func(t *testing.T, editor, agent *side) {
				agent.says(asks("7", runs, once, reject))
				if tt.editor != "" {
					editor.says(tt.editor)
				} else {
					agent.says(tt.agent)
				}
				if got := withdrawn.Load(); got != tt.withdrawn {
					t.Errorf("%d withdrawn, want %d", got, tt.withdrawn)
				}
				if got := agent.hears(); got != tt.agentHears {
					t.Errorf("the agent hears %q, want %q", got, tt.agentHears)
				}
				if got := editor.hears(); got != tt.editorHears {
					t.Errorf("the editor hears %q, want %q", got, tt.editorHears)
				}
				time.Sleep(2 * time.Hour) // of the test's own time
				synctest.Wait()
				want := selected("7", "once")
				if tt.withdrawn > 0 {
					want = "" // one answer is enough
				}
				if got := agent.hears(); got != want {
					t.Errorf("after an hour the agent hears %q, want %q", got, want)
				}
			})
		})
	}
}

// nod judges one request of an id at a time, whatever its spelling, and none whose id is no string or integer.
func TestIDs(t *testing.T) {
	for id, isHeld := range map[string]bool{
		"8": true, `"7"`: true, "-7": true, "7": false, "7.0": false, "70e-1": false, "1.5": false, "1e30": false,
		"null": false, "true": false, "{}": false,
	} {
		var withdrawn atomic.Int32
		between(t, "new-agent", waits(&withdrawn), func(t *testing.T, editor, agent *side) {
			agent.says(asks("7", runs, once, reject), asks(id, runs, once, reject))
			if got := editor.hears() == ""; got != isHeld {
				t.Errorf("%s: held %v, want %v", id, got, isHeld)
			}
		})
	}
}

// When either side ends, nobody is asked any longer and nobody is told.
func TestEnds(t *testing.T) {
	for _, who := range []string{"editor", "agent"} {
		t.Run(who, func(t *testing.T) {
			var withdrawn atomic.Int32
			between(t, "new-agent", waits(&withdrawn), func(t *testing.T, editor, agent *side) {
				agent.says(asks("7", runs, once, reject), asks("8", runs, once, reject))
				map[string]*side{"editor": editor, "agent": agent}[who].Close()
				synctest.Wait()
				if got := withdrawn.Load(); got != 2 {
					t.Errorf("%d withdrawn, want 2", got)
				}
				if got := agent.hears() + editor.hears(); got != "" {
					t.Errorf("somebody hears %q", got)
				}
			})
		})
	}
}

// Two requests are apart, whichever is answered first, and a second one by the same id is the editor's.
func TestManyRequests(t *testing.T) {
	answers := map[string]chan api.ApproveReply{}
	approve := func(_ context.Context, r api.ApproveRequest, _ bool) (api.ApproveReply, error) {
		return <-answers[r.ToolUseID], nil
	}
	between(t, "new-agent", approve, func(t *testing.T, editor, agent *side) {
		for _, id := range []string{"c", "d"} {
			answers[id] = make(chan api.ApproveReply)
		}
		second := strings.ReplaceAll(runs, `"c"`, `"d"`)
		agent.says(asks("7", runs, once, reject), asks("8", second, once, reject))
		agent.says(asks("8", second, once, reject))
		if got, want := editor.hears(), asks("8", second, once, reject)+"\n"; got != want {
			t.Errorf("the editor hears %q, want %q", got, want)
		}
		answers["d"] <- deny
		synctest.Wait()
		answers["c"] <- allow
		synctest.Wait()
		if got, want := agent.hears(), selected("8", "no")+selected("7", "once"); got != want {
			t.Errorf("the agent hears %q, want %q", got, want)
		}
	})
}

// said finds what an agent's request says, as any JavaScript does.
type said struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Options []struct{ OptionID, Kind string }
	}
}

// FuzzProxy: whatever either side says reaches the other, in order, and nothing else does, when nod decides nothing;
// when it allows, an agent only ever hears the option that it calls "allow_once".
func FuzzProxy(f *testing.F) {
	for _, line := range []string{
		asks("7", runs, once, reject), asks("7", runs, once, always, reject, never), updates("tool_call", `"toolCallId":"c"`),
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, `[]`, "\r\n\n \x00\xff", `{"id":1`,
		`{"method":"_ext/x","id":null,"params":[1,2]}`, " \t" + asks(`"a"`, runs, once, reject) + "\r",
		`{"method":"$/cancel_request","params":{"requestId":7}}`,
	} {
		f.Add(line, line)
	}
	f.Fuzz(func(t *testing.T, fromEditor, fromAgent string) {
		undecided := func(context.Context, api.ApproveRequest, bool) (api.ApproveReply, error) {
			return api.ApproveReply{}, errors.New("undecided")
		}
		between(t, "new-agent", undecided, func(t *testing.T, editor, agent *side) {
			editor.says(fromEditor)
			agent.says(strings.Split(fromAgent, "\n")...)
			// A request that nod hands back may come after the line that followed it.
			got, want := strings.SplitAfter(editor.hears(), "\n"), strings.SplitAfter(fromAgent+"\n", "\n")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("the editor hears %q, want %q", got, want)
			}
			if got := agent.hears(); got != fromEditor+"\n" {
				t.Errorf("the agent hears %q, want %q", got, fromEditor+"\n")
			}
		})
		allows := func(context.Context, api.ApproveRequest, bool) (api.ApproveReply, error) { return allow, nil }
		between(t, "new-agent", allows, func(t *testing.T, _, agent *side) {
			agent.says(strings.Split(fromAgent, "\n")...)
			for line := range strings.Lines(agent.hears()) {
				if !isOffered(line, fromAgent) {
					t.Errorf("the agent hears %q, after %q", line, fromAgent)
				}
			}
		})
	})
}

// isOffered reports whether an answer picks what a request among the lines calls "allow_once".
func isOffered(answer, lines string) bool {
	var heard struct {
		ID     json.RawMessage
		Result struct {
			Outcome struct{ Outcome, OptionID string }
		}
	}
	if json.Unmarshal([]byte(answer), &heard) != nil || heard.Result.Outcome.Outcome != "selected" {
		return false
	}
	for line := range strings.Lines(lines) {
		var request said
		if json.Unmarshal([]byte(line), &request) != nil || !bytes.Equal(request.ID, heard.ID) {
			continue
		}
		for _, o := range request.Params.Options {
			if o.OptionID == heard.Result.Outcome.OptionID && o.Kind == "allow_once" {
				return true
			}
		}
	}
	return false
}
