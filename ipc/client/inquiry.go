package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nod/api"
	"nod/ipc/interrupt"
)

// takeTimeout limits sending a request that nobody waits for.
const takeTimeout = 5 * time.Second

// inquiry is one request of an [Approver] or [Asker] and the way to its reply.
type inquiry[Request, Reply any] struct {
	client    *Client
	interrupt bool
	resumed   *sync.Map
	kind      interrupt.Kind
	request   *Request
	common    *api.Common // of request
	send      func(context.Context, Request) (Reply, error)
	check     func(Request, Reply) error // whether a reply is one to the request; nil: whatever was parsed is
}

// do resumes an interrupted inquiry if ctx carries a resume value, and else sends the request.
func (q inquiry[Request, Reply]) do(ctx context.Context) (Reply, error) {
	var none Reply
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	payload, err := q.payload()
	if err != nil {
		return none, err
	}
	reply, err := q.resumeOrAsk(ctx, payload)
	if ctx.Err() != nil { // it wins over an answer at the same moment
		return none, context.Cause(ctx)
	}
	if p, ok := errors.AsType[*Problem](err); ok && p.Outcome != "" {
		err = &interrupt.UndecidedError{RequestID: p.ID, Outcome: p.Outcome, Reason: p.Detail}
	}
	return reply, err
}

func (q inquiry[Request, Reply]) resumeOrAsk(ctx context.Context, payload []byte) (Reply, error) {
	if r, ok := interrupt.ResumeFor(ctx, q.kind, payload); ok {
		if reply, ok, err := q.resume(ctx, r); ok {
			return reply, err
		}
	}
	if !q.interrupt {
		reply, err := q.send(ctx, *q.request)
		if p, ok := errors.AsType[*Pending](err); ok { // the caller has set Hold
			err = &interrupt.Error{Kind: q.kind, RequestID: p.ID, Payload: payload}
		}
		return reply, err
	}
	return q.ask(ctx, payload)
}

// payload is the request without the fields that say how to wait.
func (q inquiry[Request, Reply]) payload() ([]byte, error) {
	all := *q.common
	defer func() { *q.common = all }()
	*q.common = api.Common{Agent: all.Agent, Session: all.Session, CWD: all.CWD}
	text, err := api.Encode(*q.request)
	if err == nil {
		text, err = api.Canonical(text)
	}
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return text, nil
}

// ask sends the request without waiting for the user. Decisions that need nobody return at once. If ctx ends meanwhile,
// ask withdraws the request, so that nobody is asked in vain.
func (q inquiry[Request, Reply]) ask(ctx context.Context, payload []byte) (Reply, error) {
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	q.common.Detach = true
	reply, err := q.send(whole, *q.request)
	p, ok := errors.AsType[*Pending](err)
	if !ok {
		return reply, err
	}
	reply, ended, err := q.fetch(whole, p.ID, 0)
	switch {
	case ended:
		return reply, err
	case ctx.Err() != nil:
		_, err := q.client.Withdraw(whole, p.ID)
		return reply, err
	}
	return reply, &interrupt.Error{Kind: q.kind, RequestID: p.ID, Payload: payload}
}

// resume returns the answer of an interrupted request. An answer is for one call: ok is false if an earlier call had
// it.
func (q inquiry[Request, Reply]) resume(ctx context.Context, r interrupt.Resume) (reply Reply, ok bool, err error) {
	id, ended := r.Interrupt.RequestID, false
	if _, used := q.resumed.Load(id); used {
		return reply, false, nil
	}
	if r.Reply.ID != "" {
		reply, ended, err = q.read(r.Reply, id)
	} else {
		reply, ended, err = q.await(ctx, id)
	}
	if _, pending := errors.AsType[*Pending](err); pending {
		return reply, true, &r.Interrupt
	}
	used := false
	if ended {
		_, used = q.resumed.LoadOrStore(id, true)
	}
	return reply, !used, err
}

// await fetches the answer to request id, and waits for it unless the run is to be interrupted.
func (q inquiry[Request, Reply]) await(ctx context.Context, id string) (Reply, bool, error) {
	var wait time.Duration
	if !q.interrupt {
		wait = MaxWait
	}
	for {
		reply, ended, err := q.fetch(ctx, id, wait)
		if _, pending := errors.AsType[*Pending](err); !pending || q.interrupt {
			return reply, ended, err
		}
	}
}

func (q inquiry[Request, Reply]) fetch(ctx context.Context, id string, wait time.Duration) (Reply, bool, error) {
	r, err := q.client.Request(ctx, id, wait)
	if err != nil {
		var none Reply
		return none, false, err
	}
	return q.read(r, id)
}

func (q inquiry[Request, Reply]) read(r api.RequestReply, id string) (reply Reply, ended bool, err error) {
	if r.ID != id {
		return reply, false, badReply("it is about request %q", r.ID)
	}
	answer, err := Answer(r)
	if err != nil {
		p, ok := errors.AsType[*Problem](err)
		return reply, ok && p.Outcome != "", err
	}
	got, ok := answer.(Reply)
	if !ok {
		return reply, false, badReply("a reply to a request of kind %q", r.Kind)
	}
	if q.check != nil {
		if err := q.check(*q.request, got); err != nil {
			return reply, false, err
		}
	}
	return got, true, nil
}
