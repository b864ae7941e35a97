package amp

import (
	"encoding/json"
	"fmt"
	"os"

	"nod/interact"
	"nod/ipc/hooks"
)

// payload is what the hook makes of what Amp hands to the program that a rule delegates to
// (https://ampcode.com/manual/appendix): the tool's input, and in the environment its name and the thread's.
type payload struct {
	Event  string          `json:"hook_event_name"`
	Thread string          `json:"thread"`
	CWD    string          `json:"cwd"`
	Tool   string          `json:"tool_name"`
	Input  json.RawMessage `json:"tool_input"`
}

// How the program ends is all that Amp reads.
const (
	allowed = 0
	abstain = 1 // Amp asks
	denied  = 2
)

// delegate is the event, for Amp names none.
const delegate = "delegate"

// payloadOf takes what was written for a tool's input whatever it says. Without a tool's name it is not from Amp.
func payloadOf(written []byte, env func(string) string) ([]byte, error) {
	tool := env("AGENT_TOOL_NAME")
	if tool == "" {
		return written, nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the folder that Amp runs in: %w", err)
	}
	made, err := json.Marshal(payload{delegate, env("AMP_THREAD_ID"), folder, tool, written})
	if err != nil {
		return nil, fmt.Errorf("the input of %s is not JSON: %w", tool, err)
	}
	return made, nil
}

func (p payload) step(c hooks.Call) (hooks.Step, error) {
	s := hooks.Step{Session: p.Thread, CWD: p.CWD}
	if c.Event != delegate {
		return s, nil
	}
	s.Ask, s.Silence = interact.Approve{Tool: p.Tool, Input: p.Input}, interact.AsksInTerminal
	s.Reply = func(a interact.Answer) (any, error) {
		if a.Outcome == interact.Allowed {
			return hooks.Exit{Status: allowed}, nil
		}
		return nil, nil
	}
	return s, nil
}

// refuse is the reply with which the hook denies on its own: there is no event that decides nothing.
func refuse(_, reason string) any { return deny(reason) }

func deny(reason string) any { return hooks.Exit{Status: denied, Stderr: reason} }
