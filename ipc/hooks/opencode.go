package hooks

import (
	"encoding/json"

	"nod/interact"
)

// opencode is what nod reads of the events that nod's plugin passes on from opencode's event stream
// (https://opencode.ai/docs/server). The plugin hands the reply to opencode's own API.
type opencode struct {
	CWD        string `json:"cwd"` // added by the plugin
	Properties struct {
		ID         string                     `json:"id"`
		SessionID  string                     `json:"sessionID"`
		RequestID  string                     `json:"requestID"`
		Permission string                     `json:"permission"`
		Patterns   []string                   `json:"patterns"`
		Metadata   map[string]json.RawMessage `json:"metadata"`
		Always     []string                   `json:"always"`
		Questions  []question                 `json:"questions"`
	} `json:"properties"`
}

func (p opencode) step(c Call) (step, error) {
	s := step{session: p.Properties.SessionID, cwd: p.CWD}
	switch c.Event {
	case "permission.asked":
		return p.permission(s)
	case "question.asked":
		return s.asks(p.Properties.Questions, func(picks [][]string) (any, error) {
			return map[string][][]string{"answers": picks}, nil
		})
	case "permission.replied":
		s.over = func(r interact.Request) bool {
			a, ok := r.Body.(interact.Approve)
			return ok && a.ToolUseID == p.Properties.RequestID
		}
	case "question.replied", "question.rejected":
		s.over = func(r interact.Request) bool { return r.Body.Kind() == interact.KindForm }
	case "session.idle":
		s.finished()
	}
	return s, nil
}

func (p opencode) permission(s step) (step, error) {
	input := map[string]any{}
	if _, isCommand := p.Properties.Metadata["command"]; !isCommand { // patterns are parts of the command
		input["patterns"] = p.Properties.Patterns
	}
	for k, v := range p.Properties.Metadata {
		input[k] = v
	}
	text, err := json.Marshal(input)
	if err != nil {
		return step{}, err
	}
	a := interact.Approve{Tool: p.Properties.Permission, Input: text, ToolUseID: p.Properties.ID}
	if len(p.Properties.Always) > 0 {
		always, err := json.Marshal(p.Properties.Always)
		if err != nil {
			return step{}, err
		}
		a.Suggestions = []string{"allow " + p.Properties.Permission + " " + string(always) + " · until opencode ends"}
	}
	s.ask = a
	s.reply = func(a interact.Answer) (any, error) {
		type reply struct {
			Reply   string `json:"reply"`
			Message string `json:"message,omitempty"`
		}
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
