// Package acp is a proxy between an editor and an agent that speak the Agent Client Protocol
// (https://agentclientprotocol.com): JSON-RPC, one message per line. It answers the agent's requests for permission
// with nod's decisions and passes everything else on byte for byte. It only translates: its caller determines who
// decides.
//
// nod comes first and the editor second: while nod is asked the editor does not see the request. If nod decides nothing
// the editor gets the request unchanged, and asks in its own way. That happens when the user does not answer or closes
// the prompt, when nod cannot be asked, when the agent accepts no answer that expresses the decision, and when the
// request cannot be read or is about a session whose folder is unknown. What nod's rules deny is rejected if the agent
// accepts a no.
//
// Of what an agent says about a tool call only the input counts. The kind "read" is only a claim, and a title is for
// people: neither lets anything pass.
//
// The connection of the protocol's library decodes and re-encodes each message, answers unknown methods itself and ends
// at a line that is not JSON; a proxy must not. So this package uses only the library's types.
package acp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
)

// approver asks nod. An error means that there is no decision. With onlyDeny, for an agent that accepts no allow, only
// nod's rules decide and the user is not asked.
type approver func(ctx context.Context, r api.ApproveRequest, onlyDeny bool) (api.ApproveReply, error)

type proxy struct {
	editor, agent *output
	approve       approver
	ctx           context.Context // ends with either side
	end           context.CancelFunc
	answers       sync.WaitGroup // one for each request that is held

	mu       sync.Mutex // guards all below
	sessions sessions
	held     map[string]held // requests of the agent that the editor has not seen, by id
}

type held struct {
	session string
	cancel  context.CancelCauseFunc
}

const maxTitle = 2000

var errCancelled = errors.New("cancelled")

// New returns a proxy that writes to an editor and an agent. name is the agent's name until the agent gives its own.
func New(editor, agent io.Writer, name string, approve approver) *proxy {
	ctx, end := context.WithCancel(context.Background())
	return &proxy{
		editor: &output{w: editor}, agent: &output{w: agent}, approve: approve, ctx: ctx, end: end,
		sessions: sessions{agent: name, asked: map[string]request{}, open: map[string]*session{}}, held: map[string]held{},
	}
}

// FromEditor passes on the editor's messages until its end, which cancels pending requests.
func (p *proxy) FromEditor(r io.Reader) error {
	defer p.end()
	return pass(r, p.agent, p.editorSays, func() {})
}

// FromAgent passes on the agent's messages until its end, which cancels pending requests.
func (p *proxy) FromAgent(r io.Reader) error {
	defer p.answers.Wait()
	defer p.end()
	return pass(r, p.editor, p.agentSays, p.forget)
}

func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions.forget()
}

func (p *proxy) editorSays(line []byte) error {
	m, unread := read(line)
	if unread == nil {
		p.mu.Lock()
		_, isHeld := p.held[idOf(m.ID)]
		p.sessions.editorSays(m)
		p.mu.Unlock()
		if isHeld && m.Method == "" { // it answers what it was not asked
			return nil
		}
	}
	if err := p.agent.write(line); err != nil {
		return err
	}
	// After the agent has got it: an agent that first learns that its call may not run would continue its turn.
	var params params
	ends := m.Method == sdk.AgentMethodSessionCancel || m.Method == sdk.AgentMethodSessionClose
	if unread == nil && ends && api.Decode(m.Params, &params) == nil {
		p.withdraw(func(_ string, h held) bool { return h.session == params.SessionID })
	}
	return nil
}

func (p *proxy) agentSays(line []byte) error {
	m, unread := read(line)
	switch {
	case unread != nil && bytes.IndexByte(line, '{') >= 0: // another reader may find a message in it
		p.forget()
	case unread != nil:
	case m.Method == sdk.ClientMethodSessionRequestPermission && p.hold(m, line),
		m.Method == cancelRequest && p.takesBack(m):
		return nil
	case m.Method == sdk.ClientMethodSessionUpdate:
		p.mu.Lock()
		p.sessions.agentUpdates(m.Params)
		p.mu.Unlock()
	case m.Method == "":
		p.mu.Lock()
		finished := p.sessions.agentReplies(m)
		p.mu.Unlock()
		if finished != "" {
			p.withdraw(func(_ string, h held) bool { return h.session == finished })
		}
	}
	return p.editor.write(line)
}

func (p *proxy) takesBack(m message) bool {
	var params struct {
		RequestID jsontext.Value `json:"requestId"`
	}
	if api.Decode(m.Params, &params) != nil {
		return false
	}
	return p.withdraw(func(id string, _ held) bool { return id == idOf(params.RequestID) })
}

// withdraw cancels the held requests that match, and reports whether there were any.
func (p *proxy) withdraw(matches func(id string, h held) bool) (found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, h := range p.held {
		if matches(id, h) {
			h.cancel(errCancelled)
			found = true
		}
	}
	return found
}

func (p *proxy) hold(m message, line []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, options, ok := p.sessions.translate(m)
	id := idOf(m.ID)
	if _, isHeld := p.held[id]; !ok || isHeld || id == "" || p.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	p.held[id] = held{r.Session, cancel}
	line = bytes.Clone(line)
	p.answers.Go(func() {
		defer cancel(nil)
		reply, err := p.approve(ctx, r, options.allowOnce() == nil)
		p.mu.Lock()
		delete(p.held, id)
		p.mu.Unlock()
		chosen, decided := options.chosen(reply)
		switch {
		case errors.Is(context.Cause(ctx), errCancelled):
			p.answer(m.ID, sdk.NewRequestPermissionOutcomeCancelled())
		case ctx.Err() != nil: // no one is left to tell
		case err == nil && decided:
			p.answer(m.ID, sdk.NewRequestPermissionOutcomeSelected(chosen))
		default:
			_ = p.editor.write(line) // an editor that has gone ends the proxy elsewhere
		}
	})
	return true
}

func (p *proxy) answer(id jsontext.Value, outcome sdk.RequestPermissionOutcome) {
	reply, err := api.Encode(struct {
		Version string                        `json:"jsonrpc"`
		ID      jsontext.Value                `json:"id"`
		Result  sdk.RequestPermissionResponse `json:"result"`
	}{"2.0", id, sdk.RequestPermissionResponse{Outcome: outcome}})
	if err != nil {
		panic(err) // ids come as JSON, and texts always encode
	}
	_ = p.agent.write(append(reply, '\n')) // an agent that has gone ends the proxy elsewhere
}

// translate converts a request for permission. ok is false if nod could not judge or answer it.
func (s *sessions) translate(m message) (r api.ApproveRequest, o options, ok bool) {
	var params struct {
		SessionID string   `json:"sessionId"`
		ToolCall  toolCall `json:"toolCall"`
		Options   options  `json:"options"`
	}
	if api.Decode(m.Params, &params) != nil || params.Options.reject() == nil {
		return r, nil, false
	}
	at, isOpen := s.open[params.SessionID]
	if !isOpen || at.cwd == "" {
		return r, nil, false
	}
	earlier := at.calls[params.ToolCall.ID]
	call, err := earlier.with(params.ToolCall).inFolder(earlier, at.cwd)
	if err != nil || call.asks() {
		return r, nil, false
	}
	if r.Input, err = call.input(); err != nil || string(r.Input) == "{}" {
		return r, nil, false
	}
	r.Agent, r.Session, r.CWD = s.agent, params.SessionID, at.cwd
	r.Tool, r.ToolUseID, r.Suggestions = call.tool(s.agent), call.ID, params.Options.suggestions()
	command, _ := textIn(call.RawInput, "command")
	if call.hasInput() && call.Title != command && len(call.Title) <= maxTitle {
		r.Description = call.Title
	}
	return r, params.Options, true
}
