package asking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// undos is what the user has just deleted and can still restore. It is kept here, not in the windows, which may die
// meanwhile. An answer cannot be undone: the agent gets it immediately.
type undos struct {
	changed func() // other things can be taken back

	mu   sync.Mutex
	list []*undoable // oldest first
	last int         // id given out
}

type undoable struct {
	operator.Undo
	back  func() error // takes it back
	timer *time.Timer
}

var errUndone = errors.New("it is too late to undo that")

// add offers for a time to undo something by calling back. A time of 0 offers nothing.
func (u *undos) add(what operator.Undo, most time.Duration, back func() error) {
	if most <= 0 {
		return
	}
	u.mu.Lock()
	u.last++
	what.ID, what.Until = u.last, time.Now().Add(most)
	one := &undoable{Undo: what, back: back}
	one.timer = time.AfterFunc(most, func() { _, _ = u.remove(what.ID) })
	u.list = append(u.list, one)
	u.mu.Unlock()
	u.changed()
}

func (u *undos) remove(id int) (*undoable, error) {
	u.mu.Lock()
	i := slices.IndexFunc(u.list, func(one *undoable) bool { return one.ID == id })
	if i < 0 {
		u.mu.Unlock()
		return nil, errUndone
	}
	one := u.list[i]
	u.list = slices.Delete(u.list, i, i+1)
	one.timer.Stop()
	u.mu.Unlock()
	u.changed()
	return one, nil
}

// all lists what can be undone, the newest last.
func (u *undos) all() []operator.Undo {
	u.mu.Lock()
	defer u.mu.Unlock()
	return each(u.list, func(one *undoable) operator.Undo { return one.Undo })
}

// revoked names the grants that are gone.
func revoked(before, after []policy.Grant) string {
	var shown []string
	for _, g := range before {
		isSame := func(o policy.Grant) bool { return o.ID == g.ID }
		if !slices.ContainsFunc(after, isSame) && !slices.Contains(shown, g.Shown) {
			shown = append(shown, g.Shown)
		}
	}
	return strings.Join(shown, " · ")
}

// Undo implements [operator.Operator]. It fails if the action can no longer be undone.
func (w *windows) Undo(_ context.Context, id int) error {
	one, err := w.undos.remove(id)
	if err != nil {
		return err
	}
	return one.back()
}

// Undos lists what can be undone, the newest last.
func (w *windows) Undos() []operator.Undo { return w.undos.all() }

// Revoke implements [operator.Operator]. The user can undo it for a while.
func (d *Desk) Revoke(_ context.Context, id string) error {
	before := d.store.Grants()
	revoke := func() error { return d.store.Revoke(id) }
	if id == "" {
		revoke = d.store.RevokeAll
	}
	if err := revoke(); err != nil {
		return err
	}
	after := d.store.Grants()
	what := operator.Undo{Kind: operator.UndoRevoke, Text: revoked(before, after)}
	d.undos.add(what, d.undoFor(), func() error { return d.store.TakeBack(before, after) })
	return nil
}

// Replace implements [operator.Operator]. The user can undo for a while that it deletes rules.
func (d *Desk) Replace(_ context.Context, base, next config.Config) error {
	deleted := slices.DeleteFunc(slices.Clone(base.Policy.Rules), func(r policy.Rule) bool {
		return slices.ContainsFunc(next.Policy.Rules, func(n policy.Rule) bool { return n.ID == r.ID })
	})
	back, err := d.store.Replace(base, next)
	isRename := len(next.Policy.Rules) >= len(base.Policy.Rules)
	if err == nil && len(deleted) > 0 && !isRename {
		d.undos.add(operator.Undo{Kind: operator.UndoRule, Text: deleted[0].ID}, d.undoFor(), back)
	}
	return err
}
