package controls

import (
	"context"
	"sync/atomic"
	"time"

	"nod/dialogs"
	"nod/ipc/operator"
)

// Pace is the interval between updates, so that busy agents do not keep a window busy.
const Pace = 200 * time.Millisecond

// Link connects a window to the tray process: it fetches the state while the window is visible, and has done what the
// user does. Use it only on the UI goroutine, except Changed and Visible.
type Link struct {
	Aside func(func())                // runs slow functions; synchronous in tests
	After func(time.Duration, func()) // runs a function on the UI goroutine after a delay

	operator operator.Operator
	show     func(operator.State, error)
	visible  atomic.Bool
	news     atomic.Bool // a fetch is scheduled after a change
	states   Worker

	acting  int           // number of unfinished actions of the user
	lastAct chan struct{} // closed after the last of them
}

// NewLink returns the link of a hidden window, which calls show with each state.
func NewLink(o operator.Operator, show func(operator.State, error)) *Link {
	return &Link{
		Aside: func(f func()) { go f() }, operator: o, show: show,
		After: func(d time.Duration, f func()) { time.AfterFunc(d, func() { dialogs.Do(f) }) },
	}
}

// Visible reports whether the window is on screen or about to be. It is safe for concurrent use.
func (l *Link) Visible() bool { return l.visible.Load() }

// SetVisible notes whether the window is visible.
func (l *Link) SetVisible(v bool) { l.visible.Store(v) }

// Changed updates the window after a change of the state. It is safe for concurrent use and never blocks.
func (l *Link) Changed() {
	if !l.Visible() || l.news.Swap(true) {
		return
	}
	l.After(Pace, func() {
		l.news.Store(false)
		l.Fetch()
	})
}

// Fetch fetches the state and shows it. It does nothing while the window is not visible.
func (l *Link) Fetch() {
	if !l.Visible() {
		return
	}
	l.states.Aside = l.Aside
	Fetch(&l.states, l.operator.State, func(s operator.State, err error) {
		if l.Visible() {
			l.show(s, err)
		}
	})
}

// Acting reports whether an action of the user is under way: then a state may be older.
func (l *Link) Acting() bool { return l.acting > 0 }

// Act performs actions of the user off the UI goroutine, one after the other, and then done on it.
func (l *Link) Act(do func(context.Context) error, done func(error)) {
	before, ended := l.lastAct, make(chan struct{})
	l.lastAct = ended
	l.acting++
	l.Aside(func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		err := do(context.Background())
		dialogs.Do(func() {
			l.acting--
			l.states.Drop() // a state on its way may be older
			done(err)
			l.Fetch()
		})
	})
}

// TakeBack undoes an action, for a [dialogs.UndoBar].
func (l *Link) TakeBack(id int, done func(error)) {
	l.Act(func(ctx context.Context) error { return l.operator.Undo(ctx, id) }, done)
}
