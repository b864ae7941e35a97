package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// agent is what the workflows call themselves before the person.
const agent = "temporal"

// Tool does what a call of it asks for, and returns what the model reads.
type Tool func(ctx context.Context, input json.RawMessage) (string, error)

// Activities are what the workflow has done outside of itself.
type Activities struct {
	client    *client.Client
	approver  *client.Approver
	forwarder *Forwarder
	tools     map[string]Tool
}

// NewActivities returns activities that ask through c.
func NewActivities(c *client.Client, f *Forwarder, tools map[string]Tool) *Activities {
	return &Activities{c, &client.Approver{Client: c, Interrupt: true}, f, tools}
}

// Ask asks leave for a call, or goes on with an interrupt. Its idempotency key is the run's, so that the person is
// asked once, however often Temporal runs the activity.
func (a *Activities) Ask(ctx context.Context, call Call, resume *interrupt.Resume) (Asked, error) {
	if resume != nil {
		ctx = interrupt.WithResumeValue(ctx, *resume)
	}
	run := activity.GetInfo(ctx).WorkflowExecution
	d, err := a.approver.Decide(ctx, api.ApproveRequest{
		Approve: api.Approve{Tool: call.Tool, Input: call.Input},
		Common: api.Common{
			Agent: agent, Session: run.ID, CWD: call.CWD, Timeout: api.MaxSeconds, IdempotencyKey: run.RunID,
		},
	})
	if i, ok := interrupt.Get(err); ok {
		a.forwarder.Forward(i.RequestID, run.ID)
		return Asked{Interrupt: i}, nil
	}
	if u, ok := errors.AsType[*interrupt.UndecidedError](err); ok {
		return Asked{Undecided: u.Error()}, nil
	}
	return Asked{Decision: &d}, err
}

// Do makes a call that was allowed.
func (a *Activities) Do(ctx context.Context, call Call) (string, error) {
	tool, ok := a.tools[call.Tool]
	if !ok {
		return "", fmt.Errorf("there is no tool %q", call.Tool)
	}
	return tool(ctx, call.Input)
}

// Withdraw takes a request back that nobody waits for any more.
func (a *Activities) Withdraw(ctx context.Context, id string) error {
	_, err := a.client.Withdraw(ctx, id)
	return err
}
