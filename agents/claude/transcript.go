package claude

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"time"

	"nod/agents/jsonl"
	"nod/policy"
	"nod/policy/replay"
)

func isTranscript(text []byte) bool {
	var l struct { // no more than that: other fields may have another form
		SessionID string `json:"sessionId"`
		Type      string `json:"type"`
		LeafUUID  string `json:"leafUuid"`
	}
	return json.Unmarshal(text, &l) == nil && l.Type != "" && (l.SessionID != "" || l.LeafUUID != "")
}

// transcript reads the tool calls in the transcript of one session, as written by Claude Code 1.0 to 2.1. The
// format is not documented; what nod needs of it has not changed.
type transcript struct {
	*jsonl.Reader
	seen map[string]bool // ids of calls: a message is written again when it has grown
	last time.Time
}

func newTranscript(r io.Reader) replay.Reader {
	return &transcript{Reader: jsonl.NewReader(r), seen: map[string]bool{}}
}

type line struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
	Timestamp string `json:"timestamp"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type block struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Calls yields the calls in order, with the time of each. It may be used once.
func (t *transcript) Calls() iter.Seq2[time.Time, policy.Call] {
	return func(yield func(time.Time, policy.Call) bool) {
		for text := t.Next(); text != nil; text = t.Next() {
			for _, call := range t.read(text) {
				if !yield(t.last, call) {
					return
				}
			}
		}
	}
}

// read returns the calls of one line. Most lines are results of tools: these are recognized without decoding.
func (t *transcript) read(text []byte) []policy.Call {
	if !bytes.Contains(text, []byte(`"tool_use"`)) {
		return nil
	}
	var l line
	if json.Unmarshal(text, &l) != nil {
		return nil
	}
	if l.Type != "assistant" || len(l.Message.Content) == 0 || l.Message.Content[0] != '[' {
		return nil
	}
	if at, err := time.Parse(time.RFC3339, l.Timestamp); err == nil {
		t.last = at
	}
	var blocks []block
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return nil
	}
	return t.calls(l, blocks)
}

func (t *transcript) calls(l line, blocks []block) []policy.Call {
	var calls []policy.Call
	for _, b := range blocks {
		if b.Type != "tool_use" || b.Name == "" || len(b.Input) == 0 || t.isRepeated(b.ID) {
			continue
		}
		calls = append(calls, policy.Call{
			Agent: name, Session: l.SessionID, CWD: l.CWD, Tool: b.Name, Input: policy.ReadInput(b.Input),
		})
	}
	return calls
}

func (t *transcript) isRepeated(id string) bool {
	repeated := id != "" && t.seen[id]
	t.seen[id] = true
	return repeated
}
