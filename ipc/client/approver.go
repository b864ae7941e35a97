package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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

// Asker asks the user what an agent needs to know. It is safe for concurrent use. The errors of its methods are those
// of [Approver.Approve].
type Asker struct {
	Client    *Client // Required.
	Interrupt bool    // do not wait for the user: return an [*interrupt.Error] instead

	resumed sync.Map // ids of the requests whose answers resumed a call
}

// Ask asks a question.
func (a *Asker) Ask(ctx context.Context, r api.AskRequest) (api.AskReply, error) {
	return inquiry[api.AskRequest, api.AskReply]{
		client: a.Client, interrupt: a.Interrupt, resumed: &a.resumed, kind: interrupt.Clarify,
		request: &r, common: &r.Common, send: a.Client.Ask,
	}.do(ctx)
}

// Confirm asks a yes/no question.
func (a *Asker) Confirm(ctx context.Context, r api.ConfirmRequest) (api.ConfirmReply, error) {
	return inquiry[api.ConfirmRequest, api.ConfirmReply]{
		client: a.Client, interrupt: a.Interrupt, resumed: &a.resumed, kind: interrupt.Clarify,
		request: &r, common: &r.Common, send: a.Client.Confirm,
	}.do(ctx)
}

// Form asks several questions on one page.
func (a *Asker) Form(ctx context.Context, r api.FormRequest) (api.FormReply, error) {
	return inquiry[api.FormRequest, api.FormReply]{
		client: a.Client, interrupt: a.Interrupt, resumed: &a.resumed, kind: interrupt.Clarify,
		request: &r, common: &r.Common, send: a.Client.Form, check: checkAnswers,
	}.do(ctx)
}

// ReadOnly is the class of tool calls that change nothing and send nothing anywhere.
const ReadOnly = "read_only"

// Gate decides on the tool calls of an agent loop, each before it happens: an [*Approver], or
// [AllowEverythingUnasked] where nobody can be asked.
type Gate interface {
	// Approve decides on a call of the tool of that name. The error says that nobody decided; then, too, the call must
	// not happen.
	Approve(ctx context.Context, name string, input json.RawMessage, class string) (Decision, error)
}

// Decision is what came of asking leave for one tool call. The zero value denies.
type Decision struct {
	Allowed   bool   `json:"allowed"`
	Reason    string `json:"reason,omitempty"`     // for the model to read; never empty when it was denied
	By        api.By `json:"by,omitempty"`         // the user or the policy; empty: nobody was asked
	RequestID string `json:"request_id,omitempty"` // empty: nobody was asked
}

// decisionOf returns the decision in a reply. The error is an [*interrupt.UndecidedError] when nobody made one.
func decisionOf(r api.ApproveReply) (Decision, error) {
	d := Decision{Allowed: r.Allowed(), Reason: r.Reason, By: r.By, RequestID: r.ID}
	switch r.Outcome {
	case api.Allowed:
		return d, nil
	case api.Denied:
		d.Reason = cmp.Or(d.Reason, "denied, and no reason was given")
		return d, nil
	}
	return Decision{}, &interrupt.UndecidedError{RequestID: r.ID, Outcome: r.Outcome, Reason: r.Reason}
}

// AllowEverythingUnasked is the [Gate] of a run without a human, such as one in a container that is thrown away: it
// allows every call, asks nobody, and warns of each in the log.
type AllowEverythingUnasked struct {
	Log *slog.Logger // nil: [slog.Default]
}

// Approve implements [Gate].
func (g AllowEverythingUnasked) Approve(
	ctx context.Context, name string, _ json.RawMessage, class string,
) (Decision, error) {
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	cmp.Or(g.Log, slog.Default()).WarnContext(ctx, "TOOL CALL ALLOWED UNASKED: no policy and no user saw it",
		"tool", name, "class", class)
	return Decision{Allowed: true, Reason: "everything is allowed unasked"}, nil
}
