package acp

import (
	"cmp"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
)

// maxCalls limits the known tool calls of a session, which are forgotten beyond it.
const maxCalls = 1000

// sessions is what nod knows about an editor's sessions with an agent, from their messages.
type sessions struct {
	agent string             // the agent's name
	asked map[string]request // of the editor, that the agent has not answered, by id
	open  map[string]*session
}

type request struct{ method, session, cwd string }

type session struct {
	cwd   string
	calls map[string]toolCall
}

func (s *sessions) editorSays(m message) {
	var p params
	if m.Method == "" || len(m.ID) == 0 || len(m.Params) > 0 && api.Decode(m.Params, &p) != nil {
		return
	}
	switch m.Method {
	case sdk.AgentMethodSessionLoad, sdk.AgentMethodSessionResume:
		s.begin(p.SessionID, p.CWD)
	case sdk.AgentMethodInitialize, sdk.AgentMethodSessionNew, sdk.AgentMethodSessionFork, sdk.AgentMethodSessionPrompt:
		s.asked[string(m.ID)] = request{m.Method, p.SessionID, p.CWD}
	case sdk.AgentMethodSessionClose:
		delete(s.open, p.SessionID)
	}
}

func (s *sessions) begin(id, cwd string) {
	s.open[id] = &session{cwd: cwd, calls: map[string]toolCall{}}
}

// agentReplies notes a reply of the agent. It returns the session whose turn it ends, if any.
func (s *sessions) agentReplies(m message) (finished string) {
	r, known := s.asked[string(m.ID)]
	if !known {
		return ""
	}
	delete(s.asked, string(m.ID))
	if r.method == sdk.AgentMethodSessionPrompt {
		if at, isOpen := s.open[r.session]; isOpen {
			clear(at.calls)
		}
		return r.session
	}
	var result struct {
		SessionID string `json:"sessionId"`
		AgentInfo struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
	}
	switch {
	case len(m.Result) == 0 || api.Decode(m.Result, &result) != nil: // an error, or nothing that helps
	case r.method == sdk.AgentMethodInitialize:
		name := cmp.Or(result.AgentInfo.Name, s.agent)
		s.agent = cmp.Or(agents[name], name)
	case result.SessionID != "":
		s.begin(result.SessionID, r.cwd)
	}
	return ""
}

// agentUpdates notes an update of a tool call. An update that cannot be read may have changed any call.
func (s *sessions) agentUpdates(text jsontext.Value) {
	var p struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Type string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if api.Decode(text, &p) != nil {
		s.forget()
		return
	}
	at, isOpen := s.open[p.SessionID]
	if t := p.Update.Type; !isOpen || t != toolCallStarted && t != toolCallUpdated {
		return
	}
	var call struct {
		Update toolCall `json:"update"`
	}
	if api.Decode(text, &call) != nil {
		s.forget()
		return
	}
	at.note(call.Update)
}

func (s *session) note(c toolCall) {
	switch {
	case c.hasEnded():
		delete(s.calls, c.ID)
		return
	case len(s.calls) >= maxCalls:
		clear(s.calls)
	}
	s.calls[c.ID] = s.calls[c.ID].with(c)
}

// forget forgets all tool calls, after a message that nod could not read.
func (s *sessions) forget() {
	for _, at := range s.open {
		clear(at.calls)
	}
}
