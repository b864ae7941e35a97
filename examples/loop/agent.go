package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// call is a tool call as the model makes it.
type call struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// agent makes calls one after another.
type agent struct {
	gate  client.Gate
	asker *client.Asker // nil: nobody can be asked
	state *state
	out   io.Writer
}

// run makes the calls of the script that the state has no results of. The error is an interrupt when the person has to
// answer first.
func (a *agent) run(ctx context.Context, script []call) error {
	if a.state.Interrupt != nil {
		ctx = interrupt.WithResumeValue(ctx, a.state.Interrupt)
	}
	for n := len(a.state.Results); n < len(script); n++ {
		result, err := a.do(ctx, script[n])
		if i, ok := interrupt.Get(err); ok {
			a.state.Interrupt = i
			return errors.Join(err, a.state.save())
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", n+1, err)
		}
		if err := a.state.finish(result); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%d %s: %s\n", n+1, script[n].Tool, result)
	}
	return nil
}

// do makes one call if it may, and returns what the model reads of it.
func (a *agent) do(ctx context.Context, c call) (string, error) {
	if a.state.Begun {
		return "nobody knows whether this was done: the agent was killed in the middle of it", nil
	}
	t, ok := tools[c.Tool]
	if !ok {
		return "there is no such tool", nil
	}
	d, err := a.gate.Approve(ctx, c.Tool, c.Input, t.class)
	if u, ok := errors.AsType[*interrupt.UndecidedError](err); ok {
		return "not done: " + u.Error(), nil // and nothing that the model could take for a refusal
	}
	switch {
	case err != nil:
		return "", err
	case !d.Allowed:
		return "denied: " + d.Reason, nil
	case t.class != client.ReadOnly:
		if err := a.state.begin(); err != nil {
			return "", err
		}
		fmt.Fprintf(a.out, "%d begins\n", len(a.state.Results)+1)
	}
	return t.run(ctx, a, c.Input)
}

// tool is what the model can call. Its class is the agent's own word, never the model's.
type tool struct {
	class string
	run   func(ctx context.Context, a *agent, input json.RawMessage) (string, error)
}

var tools = map[string]tool{
	"read_file":   {client.ReadOnly, readFile},
	"ask_person":  {client.ReadOnly, askPerson},
	"append_file": {"write", appendFile},
}

func readFile(_ context.Context, _ *agent, input json.RawMessage) (string, error) {
	var in struct{ Path string }
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error(), nil
	}
	text, err := os.ReadFile(in.Path)
	if err != nil {
		return err.Error(), nil
	}
	return string(text), nil
}

func appendFile(_ context.Context, _ *agent, input json.RawMessage) (string, error) {
	var in struct{ Path, Text string }
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error(), nil
	}
	f, err := os.OpenFile(in.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err.Error(), nil
	}
	_, err = f.WriteString(in.Text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err.Error(), nil
	}
	return "done", nil
}

func askPerson(ctx context.Context, a *agent, input json.RawMessage) (string, error) {
	var in api.Ask
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error(), nil
	}
	if a.asker == nil {
		return "there is nobody to ask", nil
	}
	r, err := a.asker.Ask(ctx, api.AskRequest{Ask: in, Common: a.state.common()})
	if u, ok := errors.AsType[*interrupt.UndecidedError](err); ok {
		return "no answer: " + u.Error(), nil
	}
	return r.Answer, err
}
