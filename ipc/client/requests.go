package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"nod/api"
)

func send[T any](ctx context.Context, c *Client, r request) (T, error) {
	text, err := c.call(ctx, r)
	if err != nil {
		var none T
		return none, err
	}
	return parse[T](text)
}

// ask makes a call that waits for a user. o is the common part of the body.
func ask[T any](ctx context.Context, c *Client, path string, body any, o *api.Common) (T, error) {
	r := request{method: post, path: path, body: body, isWaiting: true}
	if o.IdempotencyKey == "" {
		r.key = newKey()
	}
	began, first := time.Now(), *o
	r.again = func() {
		gone := time.Since(began).Seconds()
		o.Timeout, o.Hold = left(first.Timeout, gone), left(first.Hold, gone)
	}
	return send[T](ctx, c, r)
}

// newKey returns a key under which a request can be sent again, as a quoted string for the header.
func newKey() string { return strconv.Quote(uuid.NewString()) }

// left subtracts gone from a time-out in seconds. 0 means no time-out; one that is used up becomes tiny.
func left(seconds, gone float64) float64 {
	const least = 0.001
	if seconds == 0 {
		return 0
	}
	return max(seconds-gone, least)
}

// Ask asks a question.
func (c *Client) Ask(ctx context.Context, r api.AskRequest) (api.AskReply, error) {
	return ask[api.AskReply](ctx, c, "/v1/ask", &r, &r.Common)
}

// Confirm asks a yes/no question.
func (c *Client) Confirm(ctx context.Context, r api.ConfirmRequest) (api.ConfirmReply, error) {
	return ask[api.ConfirmReply](ctx, c, "/v1/confirm", &r, &r.Common)
}

// Form asks several questions on one page. Every question has its answer unless there is an error.
func (c *Client) Form(ctx context.Context, r api.FormRequest) (api.FormReply, error) {
	reply, err := ask[api.FormReply](ctx, c, "/v1/form", &r, &r.Common)
	if err == nil {
		err = checkAnswers(r, reply)
	}
	if err != nil {
		return api.FormReply{}, err
	}
	return reply, nil
}

// checkAnswers returns an error unless reply answers every question of r.
func checkAnswers(r api.FormRequest, reply api.FormReply) error {
	if len(r.Questions) == 1 && reply.Answer == nil {
		return badReply("%q is missing", "answer")
	}
	for _, q := range r.Questions {
		if _, ok := reply.Answers[q.ID]; !ok && len(r.Questions) > 1 {
			return badReply("question %q has no answer", q.ID)
		}
	}
	return nil
}

// Approve asks for permission for one tool call. The call may happen only if the reply's Allowed method returns true,
// and then the reply is for exactly this input.
func (c *Client) Approve(ctx context.Context, r api.ApproveRequest) (api.ApproveReply, error) {
	// Writing the request would remove the space between the input's tokens anyway; removed here, it is clear which bytes
	// are sent.
	var input bytes.Buffer
	if err := json.Compact(&input, r.Input); err != nil {
		return api.ApproveReply{}, errors.New("write the request: input: want a JSON object")
	}
	r.Input = input.Bytes()
	reply, err := ask[api.ApproveReply](ctx, c, "/v1/approve", &r, &r.Common)
	if err == nil {
		err = checkAllowed(r, reply)
	}
	if err != nil {
		return api.ApproveReply{}, err
	}
	return reply, nil
}

// checkAllowed returns an error if reply allows something other than r asks for. The input of r is compact.
func checkAllowed(r api.ApproveRequest, reply api.ApproveReply) error {
	if sum := sha256.Sum256(r.Input); reply.Allowed() && reply.ShownSHA256 != hex.EncodeToString(sum[:]) {
		return badReply("it allows another input than the one that was sent")
	}
	if s := reply.Suggestion; s < 0 || s > len(r.Suggestions) || s > 0 && !reply.Allowed() {
		return badReply("suggestion %d was picked of %d", s, len(r.Suggestions))
	}
	return nil
}

// Evaluate returns what the policy would decide, without asking the user.
func (c *Client) Evaluate(ctx context.Context, r api.ApproveRequest) (api.EvaluateReply, error) {
	return send[api.EvaluateReply](ctx, c, request{method: post, path: "/v1/evaluate", body: r})
}

// Notify tells the user something.
func (c *Client) Notify(ctx context.Context, r api.NotifyRequest) (api.NotifyReply, error) {
	return ask[api.NotifyReply](ctx, c, "/v1/notify", &r, &r.Common)
}

// Request returns the state of one of the caller's own requests, and waits up to wait (at most [api.MaxWait]) for its
// end. Status says whether it has ended; [Answer] returns the answer.
func (c *Client) Request(ctx context.Context, id string, wait time.Duration) (api.RequestReply, error) {
	r := request{method: get, path: requestPath(id), isWaiting: wait > 0}
	if wait > 0 {
		r.path += "?wait=" + strconv.FormatFloat(min(wait.Seconds(), api.MaxWait), 'f', -1, 64)
	}
	return c.became(ctx, r, id)
}

// Withdraw withdraws one of the caller's own requests. Status is Withdrawn unless it had ended before.
func (c *Client) Withdraw(ctx context.Context, id string) (api.RequestReply, error) {
	r, err := c.became(ctx, request{method: remove, path: requestPath(id)}, id)
	if err == nil && r.Status == api.Pending {
		return api.RequestReply{}, badReply("request %q was withdrawn and is pending", id)
	}
	return r, err
}

func (c *Client) became(ctx context.Context, r request, id string) (api.RequestReply, error) {
	reply, err := send[api.RequestReply](ctx, c, r)
	if p, ok := errors.AsType[*Problem](err); ok && p.Code == api.CodeNotFound {
		p.Detail = "no such request of yours" // an id that is none makes another path
	}
	if err == nil && reply.ID != id {
		return api.RequestReply{}, badReply("it is about request %q", reply.ID)
	}
	return reply, err
}

// requestPath returns the path of a request. It is safe for any id that a caller passes.
func requestPath(id string) string { return "/v1/requests/" + url.PathEscape(id) }

// Requests lists the caller's own requests, oldest first.
func (c *Client) Requests(ctx context.Context) (api.ListReply, error) {
	return send[api.ListReply](ctx, c, request{method: get, path: "/v1/requests"})
}

// Health asks whether nod-desktop is well.
func (c *Client) Health(ctx context.Context) (api.HealthReply, error) {
	return send[api.HealthReply](ctx, c, request{method: get, path: "/v1/health"})
}

// Raise makes nod-desktop show its windows: the settings, after which it returns, or the pending prompts.
func (c *Client) Raise(ctx context.Context, settings bool) error {
	path := "/v1/raise"
	if settings {
		path += "?settings"
	}
	_, err := c.call(ctx, request{method: post, path: path, body: struct{}{}})
	return err
}
