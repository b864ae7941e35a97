package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"nod/api"
	"nod/ipc/interrupt"
)

// Approver asks nod for leave, one tool call at a time. It is safe for concurrent use.
//
// A call of class [ReadOnly] passes at once: no rule is consulted, nobody is asked, and nod's history does not show
// it. That trusts whoever says what class a call has. Let the agent's own code say it, tool by tool; never take it
// from the model, from an MCP server, or from the input. Leave the class out where that is not certain: nod works out
// by itself what only reads.
type Approver struct {
	Client    *Client    // Required.
	Common    api.Common // goes with every call of Approve. A call with Hold waits so long, and is then interrupted.
	Interrupt bool       // do not wait for the user: return an [*interrupt.Error] instead

	resumed sync.Map // ids of the requests whose answers resumed a call
}

// Approve implements [Gate]. A denial is a value, and its reason is for the model. The error is an
// [*interrupt.Error] when the run is interrupted, an [*interrupt.UndecidedError] when the request ended and nobody
// decided, and the cause of ctx once that has ended: the request is withdrawn then, and no late answer allows
// anything.
func (a *Approver) Approve(ctx context.Context, name string, input json.RawMessage, class string) (Decision, error) {
	return a.Decide(ctx, api.ApproveRequest{
		Approve: api.Approve{Tool: name, Input: input, Class: class}, Common: a.Common,
	})
}

// Decide is Approve for a call of which there is more to say, such as the agent's words on why. With an idempotency
// key of its own a call is asked about once even when the agent dies before it could store the interrupt.
func (a *Approver) Decide(ctx context.Context, r api.ApproveRequest) (Decision, error) {
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	if r.Class == ReadOnly {
		return Decision{Allowed: true, Reason: "read-only"}, nil
	}
	input, err := api.Canonical(r.Input) // encoding/json escapes what an agent stores, and the bytes must stay the same
	if err != nil || !bytes.HasPrefix(input, []byte("{")) {
		return Decision{}, fmt.Errorf("ask permission for %s: input: want a JSON object", r.Tool)
	}
	r.Input = input
	if r.CWD == "" { // what is allowed in one folder is not in another
		if r.CWD, err = os.Getwd(); err != nil {
			return Decision{}, fmt.Errorf("ask permission for %s: %w", r.Tool, err)
		}
	}
	reply, err := inquiry[api.ApproveRequest, api.ApproveReply]{
		client: a.Client, interrupt: a.Interrupt, resumed: &a.resumed, kind: interrupt.Approval,
		request: &r, common: &r.Common, send: a.Client.Approve, check: checkAllowed,
	}.do(ctx)
	if err != nil {
		return Decision{}, err
	}
	return decisionOf(reply)
}
