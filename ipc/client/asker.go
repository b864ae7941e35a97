package client

import (
	"context"
	"sync"

	"nod/api"
	"nod/ipc/interrupt"
)

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
