package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nod/interact"
	"nod/ipc/operator"
)

// draftKeeper is a journal that keeps drafts.
type draftKeeper interface {
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
}

// saveDraft keeps a draft with its request.
func (p *program) saveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	if j, keeps := any(p.journal).(draftKeeper); keeps {
		return j.SaveDraft(ctx, id, draft)
	}
	return nil
}

// takeDraft takes in what was typed into the prompt of a request before nod was started again. It is called before that
// request is pending.
func (w *windows) takeDraft(id interact.ID, draft []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setDraft(id, draft)
}

// setDraft needs w.mu.
func (w *windows) setDraft(id interact.ID, draft []byte) {
	if len(draft) == 0 {
		delete(w.drafts, id)
	} else {
		w.drafts[id] = draft
	}
}

// SaveDraft keeps what is typed, as [operator.Operator] has it: here for the next windows process, and beyond the end of
// this one.
func (w *windows) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	if len(draft) > operator.MaxDraft {
		return fmt.Errorf("a draft of %d bytes: want %d at most", len(draft), operator.MaxDraft)
	}
	w.mu.Lock()
	isPending := slices.ContainsFunc(w.pending, func(p *prompt) bool { return p.ID == id })
	if isPending {
		w.setDraft(id, draft)
	}
	w.mu.Unlock()
	if !isPending {
		return operator.ErrGone
	}
	err := w.saveDraft(ctx, id, draft)
	if errors.Is(err, interact.ErrNotFound) { // it has just ended
		return operator.ErrGone
	}
	return err
}
