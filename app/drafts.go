package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nod/interact"
	"nod/ipc/operator"
)

// comesBack says that a request waited when nod was started again, and what was typed into its prompt. It is called
// before that request is pending.
func (w *windows) comesBack(id interact.ID, draft []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.back[id] = true
	w.setDraft(id, draft)
}

// cameBack forgets what came back but is not among those that are pending: it has ended without a prompt.
func (w *windows) cameBack(pending []interact.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.back {
		if !slices.ContainsFunc(pending, func(r interact.Request) bool { return r.ID == id }) {
			delete(w.back, id)
			delete(w.drafts, id)
		}
	}
}

// setDraft needs w.mu.
func (w *windows) setDraft(id interact.ID, draft []byte) {
	if len(draft) == 0 {
		delete(w.drafts, id)
	} else {
		w.drafts[id] = draft
	}
}

// SaveDraft keeps what is typed, as [operator.Operator] has it: here for the next windows process, and with its request
// beyond the end of nod.
func (w *windows) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	if len(draft) > operator.MaxDraft {
		return fmt.Errorf("a draft of %d bytes: want %d at most", len(draft), operator.MaxDraft)
	}
	w.mu.Lock()
	w.typed = time.Now()
	isPending := slices.ContainsFunc(w.pending, func(p *openPrompt) bool { return p.ID == id })
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
