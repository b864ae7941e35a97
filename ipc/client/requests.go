package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"nod/interact"
)

// Options is what every request may carry besides its own fields. The zero value is fine.
type Options struct {
	Agent          string        // who asks, as it calls itself
	Session        string        // the agent's session
	CWD            string        // absolute folder it works in
	Timeout        time.Duration // 0: as nod-desktop is configured
	IdempotencyKey string        // the same key joins the first request
	Detach         bool          // return a [*Pending] at once
	Hold           time.Duration // return a [*Pending] when nobody has answered by then
}

// common is Options on the wire. Every request's body embeds it.
type common struct {
	Agent          string  `json:"agent,omitempty"`
	Session        string  `json:"session,omitempty"`
	CWD            string  `json:"cwd,omitempty"`
	Timeout        float64 `json:"timeout,omitempty"` // seconds
	IdempotencyKey string  `json:"idempotency_key,omitempty"`
	Detach         bool    `json:"detach,omitempty"`
	Hold           float64 `json:"hold,omitempty"` // seconds
}

func (o Options) wire() common {
	return common{
		Agent:          o.Agent,
		Session:        o.Session,
		CWD:            o.CWD,
		Timeout:        o.Timeout.Seconds(),
		IdempotencyKey: o.IdempotencyKey,
		Detach:         o.Detach,
		Hold:           o.Hold.Seconds(),
	}
}

// Ask asks a question.
func (c *Client) Ask(ctx context.Context, q interact.Ask, o Options) (AskReply, error) {
	text, err := c.call(ctx, http.MethodPost, "/v1/ask", struct {
		interact.Ask
		common
	}{q, o.wire()})
	if err != nil {
		return AskReply{}, err
	}
	return parseAsk(text)
}

// Confirm asks a yes/no question.
func (c *Client) Confirm(ctx context.Context, q interact.Confirm, o Options) (ConfirmReply, error) {
	text, err := c.call(ctx, http.MethodPost, "/v1/confirm", struct {
		interact.Confirm
		common
	}{q, o.wire()})
	if err != nil {
		return ConfirmReply{}, err
	}
	return parseConfirm(text)
}

// Form asks several questions on one page.
func (c *Client) Form(ctx context.Context, f interact.Form, o Options) (FormReply, error) {
	text, err := c.call(ctx, http.MethodPost, "/v1/form", struct {
		interact.Form
		common
	}{f, o.wire()})
	if err != nil {
		return FormReply{}, err
	}
	r, err := parseForm(text)
	if err != nil {
		return FormReply{}, err
	}
	return r, r.fits(f)
}

// Approve asks leave for one tool call. Only a reply whose Allowed method says so lets it happen, and that
// reply was given for exactly this input.
func (c *Client) Approve(ctx context.Context, a interact.Approve, o Options) (ApproveReply, error) {
	a, err := compact(a)
	if err != nil {
		return ApproveReply{}, err
	}
	text, err := c.call(ctx, http.MethodPost, "/v1/approve", struct {
		interact.Approve
		common
	}{a, o.wire()})
	if err != nil {
		return ApproveReply{}, err
	}
	r, err := parseApprove(text)
	if err != nil {
		return ApproveReply{}, err
	}
	if sum := sha256.Sum256(a.Input); r.Allowed() && r.ShownSHA256 != hex.EncodeToString(sum[:]) {
		return ApproveReply{}, badReply("it allows another input than the one that was sent")
	}
	return r, nil
}

// compact removes the space between a's input's tokens, which writing the request does in any case, so that
// the bytes that are sent are known here.
func compact(a interact.Approve) (interact.Approve, error) {
	if !json.Valid(a.Input) {
		return a, errors.New("write the request: input: want a JSON object")
	}
	text, err := encode(a.Input)
	if err != nil {
		return a, err
	}
	a.Input = text[:len(text)-1] // without the encoder's newline
	return a, nil
}

// Evaluate says what the policy would decide, without asking anyone.
func (c *Client) Evaluate(ctx context.Context, a interact.Approve, o Options) (EvaluateReply, error) {
	text, err := c.call(ctx, http.MethodPost, "/v1/evaluate", struct {
		interact.Approve
		common
	}{a, o.wire()})
	if err != nil {
		return EvaluateReply{}, err
	}
	return parseEvaluate(text)
}

// Notify tells the human something.
func (c *Client) Notify(ctx context.Context, n interact.Notify, o Options) (NotifyReply, error) {
	text, err := c.call(ctx, http.MethodPost, "/v1/notify", struct {
		interact.Notify
		common
	}{n, o.wire()})
	if err != nil {
		return NotifyReply{}, err
	}
	return parseNotify(text)
}

// MaxWait is the longest that one call of [Client.Request] waits.
const MaxWait = 60 * time.Second

// Request returns what became of a request of the caller's own, and waits up to wait (at most [MaxWait])
// for its end. Status tells whether it came.
func (c *Client) Request(ctx context.Context, id interact.ID, wait time.Duration) (RequestReply, error) {
	path := requestPath(id)
	if wait > 0 {
		path += "?wait=" + strconv.FormatFloat(min(wait, MaxWait).Seconds(), 'f', -1, 64)
	}
	return c.became(ctx, http.MethodGet, path, id)
}

// Withdraw takes back a request of the caller's own. Status is Withdrawn unless it had ended before.
func (c *Client) Withdraw(ctx context.Context, id interact.ID) (RequestReply, error) {
	r, err := c.became(ctx, http.MethodDelete, requestPath(id), id)
	if err == nil && r.Pending() {
		return RequestReply{}, badReply("request %q was withdrawn and is pending", id)
	}
	return r, err
}

// became returns what a route says of request id.
func (c *Client) became(ctx context.Context, method, path string, id interact.ID) (RequestReply, error) {
	text, err := c.call(ctx, method, path, nil)
	if err != nil {
		return RequestReply{}, err
	}
	r, err := parseRequest(text)
	if err == nil && r.ID != id {
		return RequestReply{}, badReply("it is about request %q", r.ID)
	}
	return r, err
}

// requestPath is the path of a request, whatever a caller takes for an id.
func requestPath(id interact.ID) string {
	return "/v1/requests/" + url.PathEscape(string(id))
}

// Requests lists the caller's own requests.
func (c *Client) Requests(ctx context.Context) (RequestsReply, error) {
	text, err := c.call(ctx, http.MethodGet, "/v1/requests", nil)
	if err != nil {
		return RequestsReply{}, err
	}
	return parseRequests(text)
}

// Health asks whether nod-desktop is well.
func (c *Client) Health(ctx context.Context) (HealthReply, error) {
	text, err := c.call(ctx, http.MethodGet, "/v1/health", nil)
	if err != nil {
		return HealthReply{}, err
	}
	return parseHealth(text)
}

// Hook passes on the payload of an agent's hook and returns the agent's own reply; nil is "no decision".
// headless and gate are as in [nod/ipc/hooks.Call].
func (c *Client) Hook(ctx context.Context, agent, event string, payload []byte, headless, gate bool) ([]byte, error) {
	if !json.Valid(payload) {
		return nil, errors.New("the hook's payload is not JSON")
	}
	query := url.Values{}
	if headless {
		query.Set("headless", "1")
	}
	if gate {
		query.Set("gate", "1")
	}
	at := url.URL{Path: "/v1/hooks/" + url.PathEscape(agent) + "/" + url.PathEscape(event), RawQuery: query.Encode()}
	text, err := c.call(ctx, http.MethodPost, at.String(), json.RawMessage(payload))
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, badReply("not JSON")
	}
	return bytes.TrimSpace(text), nil
}
