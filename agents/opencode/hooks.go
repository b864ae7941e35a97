package opencode

import (
	"encoding/json"

	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what nod reads of the events that nod's plugin passes on from opencode's event stream
// (https://opencode.ai/docs/server). The plugin hands the reply to opencode's own API.
type payload struct {
	CWD        string `json:"cwd"` // added by the plugin
	Properties struct {
		ID         string                     `json:"id"`
		SessionID  string                     `json:"sessionID"`
		RequestID  string                     `json:"requestID"`
		Permission string                     `json:"permission"`
		Patterns   []string                   `json:"patterns"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
		Always     []string                   `json:"always"`
		Questions  []hooks.Question           `json:"questions"`
	} `json:"properties"`
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Properties.SessionID, CWD: p.CWD}
	switch c.Event {
	case "permission.asked":
		return p.permission(s)
	case "question.asked":
		return s.Asks(p.Properties.Questions, func(picks [][]string) (any, error) {
			return map[string][][]string{"answers": picks}, nil
		})
	case "permission.replied":
		s.Over = func(r interact.Request) bool {
			a, ok := r.Body.(interact.Approve)
			return ok && a.ToolUseID == p.Properties.RequestID
		}
	case "question.replied", "question.rejected":
		s.Over = func(r interact.Request) bool { return r.Body.Kind() == interact.KindForm }
	case "session.idle":
		s.Finished()
	}
	return s, nil
}

func (p payload) permission(s hooks.Step) (hooks.Step, error) {
	input := map[string]any{}
	if _, isCommand := p.Properties.Metadata["command"]; !isCommand { // patterns are parts of the command
		input["patterns"] = p.Properties.Patterns
	}
	for k, v := range p.Properties.Metadata {
		input[k] = v
	}
	text, err := json.Marshal(input)
	if err != nil {
		return hooks.Step{}, err
	}
	a := interact.Approve{Tool: p.Properties.Permission, Input: text, ToolUseID: p.Properties.ID}
	if len(p.Properties.Always) > 0 {
		always, err := json.Marshal(p.Properties.Always)
		if err != nil {
			return hooks.Step{}, err
		}
		a.Suggestions = []string{"allow " + p.Properties.Permission + " " + string(always) + " · until opencode ends"}
	}
	s.Ask = a
	s.Reply = func(a interact.Answer) (any, error) {
		switch {
		case a.Outcome == interact.Allowed && a.Suggestion > 0:
			return reply{Reply: "always"}, nil
		case a.Outcome == interact.Allowed:
			return reply{Reply: "once"}, nil
		case a.Outcome == interact.Denied:
			return reply{Reply: "reject", Message: a.Refusal()}, nil
		}
		return nil, nil
	}
	return s, nil
}

type reply struct {
	Reply   string `json:"reply"`
	Message string `json:"message,omitempty"`
}

// refuse is the reply with which the hook denies on its own.
func refuse(event, reason string) any {
	if event != "permission.asked" {
		return nil
	}
	return reply{Reply: "reject", Message: reason}
}
