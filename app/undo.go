package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/store"
)

// undos is what the person did a moment ago and can still take back. It is kept here, and not where it is shown: the
// windows may die, and what was done stands or falls all the same.
//
// A denial can only be taken back while the agent has not heard of it, so its reply is held for as long: what an agent
// was told no one can unsay, and another try of it would be asked about anyway. An allow is never held, and never
// taken back: only what it saved is.
type undos struct {
	changed func() // other things can be taken back

	mu   sync.Mutex
	list []*undoable // oldest first
	last int         // id given out
}

// An undoable is one thing to take back.
type undoable struct {
	operator.Undo
	back  func() error // takes it back
	stand func()       // lets it stand, called once; may be nil
	timer *time.Timer
}

var errUndone = errors.New("it is too late to undo that")

// add has something be taken back with back, for so long at most. When that time is over, or the person lets it stand,
// stand is called; may be nil.
func (u *undos) add(what operator.Undo, most time.Duration, back func() error, stand func()) (id int) {
	if most <= 0 {
		if stand != nil {
			stand()
		}
		return 0
	}
	u.mu.Lock()
	u.last++
	what.ID, what.Until = u.last, time.Now().Add(most)
	one := &undoable{Undo: what, back: back, stand: stand}
	one.timer = time.AfterFunc(most, func() { _ = u.settle(what.ID, false) })
	u.list = append(u.list, one)
	u.mu.Unlock()
	u.changed()
	return what.ID
}

// settle takes something back, or lets it stand at once.
func (u *undos) settle(id int, back bool) error {
	u.mu.Lock()
	i := slices.IndexFunc(u.list, func(one *undoable) bool { return one.ID == id })
	if i < 0 {
		u.mu.Unlock()
		return errUndone
	}
	one := u.list[i]
	u.list = slices.Delete(u.list, i, i+1)
	one.timer.Stop()
	u.mu.Unlock()
	defer u.changed()
	if back {
		return one.back()
	}
	if one.stand != nil {
		one.stand()
	}
	return nil
}

// all lists what can be taken back, the newest last.
func (u *undos) all() []operator.Undo {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make([]operator.Undo, len(u.list))
	for i, one := range u.list {
		list[i] = one.Undo
	}
	return list
}

// changeGrants has a change of what is saved be taken back.
func (w *windows) changeGrants(book *store.Store, kind operator.UndoKind, change func() error) error {
	w.granting.Lock()
	defer w.granting.Unlock()
	before := book.Grants()
	if err := change(); err != nil {
		return err
	}
	after := book.Grants()
	what := operator.Undo{Kind: kind, Text: difference(before, after)}
	w.undos.add(what, w.undoFor(), func() error { return book.TakeBack(before, after) }, nil)
	return nil
}

// difference says what only one of two lists of grants has.
func difference(a, b []policy.Grant) string {
	var shown []string
	for _, pair := range [][2][]policy.Grant{{a, b}, {b, a}} {
		for _, g := range pair[0] {
			isSame := func(o policy.Grant) bool { return o.ID == g.ID }
			if !slices.ContainsFunc(pair[1], isSame) && !slices.Contains(shown, g.Shown) {
				shown = append(shown, g.Shown)
			}
		}
	}
	return strings.Join(shown, " · ")
}

// keeper is the policy as the broker has it: what an answer saves can be taken back.
type keeper struct {
	*store.Store
	windows *windows
}

// Grant implements [interact.Policy].
func (k keeper) Grant(c policy.Call, scope policy.Scope, cover policy.Cover) error {
	return k.windows.changeGrants(k.Store, operator.UndoKeep, func() error { return k.Store.Grant(c, scope, cover) })
}

// hold keeps the reply of a denial, so that it can be taken back, as far as its caller waits that long. It reports
// whether there is time for that.
func (w *windows) hold(p *openPrompt) bool {
	release := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.release()
	}
	what := operator.Undo{Kind: operator.UndoDeny, Text: p.Request.Gist()}
	most := min(w.undoFor(), time.Until(p.Request.Deadline)-deadlineMargin)
	id := w.undos.add(what, most, func() error { return w.reopen(p) }, release)
	w.mu.Lock()
	p.undo = id
	w.mu.Unlock()
	return id != 0
}

// heldAnswer is what is left to say of a prompt that has ended: a denial whose reply was held, when nod ends.
func (w *windows) heldAnswer(ctx context.Context, p *openPrompt) (interact.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.answered && context.Cause(ctx) == interact.ErrClosing {
		return p.answer, nil
	}
	return interact.Answer{}, ctx.Err()
}

// deadlineMargin is how long before its caller gives up a held denial goes out at the latest.
const deadlineMargin = 2 * time.Second

// reopen asks again for what was denied: the agent has not heard of it.
func (w *windows) reopen(p *openPrompt) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.isOver {
		return operator.ErrGone
	}
	p.answered, p.answer = false, interact.Answer{}
	p.Revision++
	w.wanted = append(w.wanted, operator.View{Request: p.ID})
	return nil
}

// unanswered are the requests that still wait for the person: not those whose denial is held.
func (w *windows) unanswered(rs []interact.Request) []interact.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(rs), func(r interact.Request) bool {
		return slices.ContainsFunc(w.pending, func(p *openPrompt) bool { return p.ID == r.ID && p.answered })
	})
}

// Settle takes something back, or lets it stand, as [operator.Operator] has it.
func (w *windows) Settle(_ context.Context, undo int, back bool) error {
	return w.undos.settle(undo, back)
}

// any reports whether something can be taken back.
func (u *undos) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.list) > 0
}
