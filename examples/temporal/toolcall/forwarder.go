package toolcall

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"nod/api"
	"nod/ipc/client"
)

// Signaler is what a [Forwarder] needs of a Temporal client.
type Signaler interface {
	SignalWorkflow(ctx context.Context, workflowID, runID, signalName string, arg any) error
}

// maxPause is the longest pause between two tries to reach nod-desktop or Temporal.
const maxPause = time.Minute

// Forwarder waits for the answers of the person and signals them to the workflows that asked.
type Forwarder struct {
	client   *client.Client
	temporal Signaler
	log      *slog.Logger

	ctx   context.Context
	stop  context.CancelFunc
	waits sync.WaitGroup

	mu  sync.Mutex // guards ids
	ids map[string]bool
}

// NewForwarder returns a forwarder from c to t. Close it.
func NewForwarder(c *client.Client, t Signaler, log *slog.Logger) *Forwarder {
	f := &Forwarder{client: c, temporal: t, log: log, ids: map[string]bool{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// Close stops waiting. What was not forwarded another forwarder can, after Recover.
func (f *Forwarder) Close() {
	f.stop()
	f.waits.Wait()
}

// Recover forwards the answers to whatever workflows have asked before, by workers that have ended. A workflow that
// has its answer takes no notice of another.
func (f *Forwarder) Recover(ctx context.Context) error {
	own, err := f.client.Requests(ctx)
	if err != nil {
		return err
	}
	for _, r := range own.Requests {
		if r.Agent == agent {
			f.Forward(r.ID, r.Session)
		}
	}
	return nil
}

// Forward signals the answer to request id to a workflow when there is one. To forward twice is to forward once.
func (f *Forwarder) Forward(id, workflowID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids[id] {
		return
	}
	f.ids[id] = true
	f.waits.Go(func() {
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.ids, id)
		}()
		reply, ok := f.await(id)
		if !ok {
			return
		}
		if err := f.temporal.SignalWorkflow(f.ctx, workflowID, "", Answered, reply); err != nil {
			f.log.Warn("the answer could not be forwarded", "request", id, "workflow", workflowID, "err", err)
		}
	})
}

// await waits for the end of request id, also through restarts of nod-desktop. It gives up when the forwarder closes.
func (f *Forwarder) await(id string) (reply api.RequestReply, ok bool) {
	for pause := time.Second; ; pause = min(2*pause, maxPause) {
		r, err := f.client.Request(f.ctx, id, client.MaxWait)
		p, _ := errors.AsType[*client.Problem](err)
		switch {
		case err == nil && r.Status != api.Pending:
			return r, true
		case err == nil:
			pause = time.Second
			continue
		case p != nil && p.Code == api.CodeNotFound:
			return lost(id), true
		}
		f.log.Warn("nod does not say what became of a request", "request", id, "err", err)
		select {
		case <-time.After(pause):
		case <-f.ctx.Done():
			return api.RequestReply{}, false
		}
	}
}

// lost is the reply for a request that nod does not know: nobody decided.
func lost(id string) api.RequestReply {
	text, err := api.Encode(api.Problem{
		Code: api.CodeNotFound, ID: id, Outcome: api.Unavailable, Detail: "nobody decided: nod no longer knows the request",
	})
	if err != nil { // texts always encode
		panic(err)
	}
	return api.RequestReply{ID: id, Kind: api.KindApprove, Status: api.Unavailable, Answer: text}
}
