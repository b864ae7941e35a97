package client

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"nod/api"
	"nod/ipc/interrupt"
)

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
