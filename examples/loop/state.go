package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// state is what of a run has to outlive the process.
type state struct {
	Run       string           `json:"run"`                 // names it for good
	Results   []string         `json:"results"`             // of the calls so far
	Begun     bool             `json:"begun,omitempty"`     // the next call was allowed and begun
	Interrupt *interrupt.Error `json:"interrupt,omitempty"` // what the next call waits for

	path string // empty: it is not kept
}

// openState reads the state in a file, or begins a run.
func openState(path string) (*state, error) {
	s := &state{Run: rand.Text(), path: path}
	if !s.isKept() {
		return s, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, s.save()
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of the run: %w", err)
	}
	return s, nil
}

func (s *state) isKept() bool { return s.path != "" }

// begin notes that the next call is about to happen.
func (s *state) begin() error {
	s.Begun = true
	return s.save()
}

// finish notes what came of the next call.
func (s *state) finish(result string) error {
	s.Results, s.Begun, s.Interrupt = append(s.Results, result), false, nil
	return s.save()
}

func (s *state) save() error {
	if !s.isKept() {
		return nil
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = renameio.WriteFile(s.path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the state of the run: %w", err)
	}
	return nil
}

// common goes with a request of the next call. The key is the call's own, so that it is asked about once even when the
// agent is killed after it asked and before it kept the interrupt.
func (s *state) common() api.Common {
	c := api.Common{Agent: "loop"}
	if s.isKept() {
		c.Timeout = api.MaxSeconds // the person may be away for a while, and nothing waits for them
		c.IdempotencyKey = fmt.Sprintf("%s/%d", s.Run, len(s.Results)+1)
	}
	return c
}

// keyed is a gate that asks about the calls of a run that is kept.
type keyed struct {
	approver *client.Approver
	state    *state
}

// Approve implements [client.Gate].
func (g keyed) Approve(ctx context.Context, name string, input json.RawMessage, class string) (client.Decision, error) {
	return g.approver.Decide(ctx, api.ApproveRequest{
		Approve: api.Approve{Tool: name, Input: input, Class: class}, Common: g.state.common(),
	})
}
