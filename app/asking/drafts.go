package asking

import (
	"slices"
	"time"

	"nod/interact"
)

// returning notes that a request of the last run is about to be pending again, with its unfinished answer.
func (w *windows) returning(id interact.ID, draft []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restored[id] = true
	w.setDraft(id, draft)
}

// returned forgets the restored requests that are no longer pending: they ended without a prompt.
func (w *windows) returned(pending []interact.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.restored {
		if !slices.ContainsFunc(pending, func(r interact.Request) bool { return r.ID == id }) {
			delete(w.restored, id)
			delete(w.drafts, id)
		}
	}
}

// setDraft sets or removes a draft. The caller holds w.mu.
func (w *windows) setDraft(id interact.ID, draft []byte) {
	if len(draft) == 0 {
		delete(w.drafts, id)
	} else {
		w.drafts[id] = draft
	}
}

// keepDraft keeps the user's unfinished answer for the next windows process. It reports whether the request is pending.
func (w *windows) keepDraft(id interact.ID, draft []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.typed = time.Now()
	isPending := slices.ContainsFunc(w.pending, func(p *openPrompt) bool { return p.ID == id })
	if isPending {
		w.setDraft(id, draft)
	}
	return isPending
}

// typingPause is how long after the last key the user counts as done with typing.
const typingPause = 3 * time.Second

// IsSettled reports whether all of the user's answers are in the journal.
func (d *Desk) IsSettled() bool {
	pending := d.allPending()
	return len(d.windows.unanswered(pending)) == len(pending)
}

// IsCalm reports whether the user would hardly notice if the windows ended: they are not typing, have only prompts
// open, and can undo nothing.
func (w *windows) IsCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.typed) >= typingPause && !(w.screen.Open && w.screen.Focused) && len(w.undos.all()) == 0
}
