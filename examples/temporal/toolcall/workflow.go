// Package toolcall makes a tool call in a Temporal workflow, with the leave of a person before their desktop.
//
// The workflow has an activity ask nod. When the person has to be waited for, the activity returns the interrupt and
// ends, and the workflow waits for a signal with the answer: for as long as it takes, through the death of any worker,
// and without a process or a goroutine that waits for it. A [Forwarder] beside the worker sends that signal. The
// workflow then runs the same activity again with the answer, which nod's client holds against the very call that was
// asked about, and only then makes the call.
//
// Who may signal a workflow of yours may claim to be nod. Leave the reply out of the [interrupt.Resume] to have it
// fetched from nod itself.
package toolcall

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/interrupt"
)

// Answered is the signal that a request has ended. It carries an [api.RequestReply].
const Answered = "nod-answered"

// Call is one call of one of the tools of [Activities].
type Call struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	CWD   string          `json:"cwd"` // absolute folder, the same for every worker
}

// Asked is what came of asking leave for a call. One of its fields is set.
type Asked struct {
	Decision  *client.Decision `json:"decision,omitempty"`
	Interrupt *interrupt.Error `json:"interrupt,omitempty"` // the person has not answered yet
	Undecided string           `json:"undecided,omitempty"` // nobody decided, and why; for the model to read
}

// Workflow makes a call if it may be made, and returns what the model reads of it.
func Workflow(ctx workflow.Context, call Call) (string, error) {
	asked, err := ask(ctx, call, nil)
	for err == nil && asked.Interrupt != nil {
		var reply api.RequestReply
		if reply, err = wait(ctx, asked.Interrupt.RequestID); err == nil {
			asked, err = ask(ctx, call, &interrupt.Resume{Interrupt: *asked.Interrupt, Reply: reply})
		}
	}
	switch {
	case err != nil:
		return "", err
	case asked.Undecided != "":
		return "not done: " + asked.Undecided, nil
	case !asked.Decision.Allowed:
		return "denied: " + asked.Decision.Reason, nil
	}
	return do(ctx, call)
}

// ask runs the activity that asks, again and again until nod-desktop runs. What is not a reply of nod it does not
// repeat.
func ask(ctx workflow.Context, call Call, resume *interrupt.Resume) (asked Asked, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{NonRetryableErrorTypes: []string{"ReplyError"}},
	})
	err = workflow.ExecuteActivity(ctx, (*Activities).Ask, call, resume).Get(ctx, &asked)
	return asked, err
}

// do makes the call, at most once: one that may have happened is not made again.
func do(ctx workflow.Context, call Call) (output string, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err = workflow.ExecuteActivity(ctx, (*Activities).Do, call).Get(ctx, &output)
	return output, err
}

// wait waits for the signal that request id has ended. When the workflow is cancelled it withdraws the request.
func wait(ctx workflow.Context, id string) (reply api.RequestReply, err error) {
	signals := workflow.GetSignalChannel(ctx, Answered)
	for reply.ID != id && ctx.Err() == nil {
		workflow.NewSelector(ctx).
			AddReceive(signals, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &reply) }).
			AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {}).
			Select(ctx)
	}
	if ctx.Err() == nil {
		return reply, nil
	}
	after, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	after = workflow.WithActivityOptions(after, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(after, (*Activities).Withdraw, id).Get(after, nil); err != nil {
		return reply, err
	}
	return reply, ctx.Err()
}
