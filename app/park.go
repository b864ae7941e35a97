package app

import (
	"context"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
)

// parkTurn is how long the parked loop sleeps at most: what nobody wakes it for, such as a click in the
// tray's menu, waits this long at worst.
const parkTurn = 250 * time.Millisecond

// park keeps Fyne's event loop from ticking 60 times a second while nothing is on screen, which costs more
// than one per cent of a core for ever. It queues a function on the UI goroutine that waits, and queues
// itself again: the loop turns four times a second.
type park struct {
	ctx  context.Context // ends the parking
	busy func() bool     // something is on screen, or about to be; called on the UI goroutine
	wake chan struct{}   // cap 1
	on   bool            // a turn is queued; for the UI goroutine
	done atomic.Bool     // the loop is about to end: what is queued then runs at once, and must not queue itself
}

func newPark(ctx context.Context, busy func() bool) *park {
	return &park{ctx: ctx, busy: busy, wake: make(chan struct{}, 1)}
}

// Wake makes the loop turn now. Safe for concurrent use.
func (p *park) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// settle parks the loop when nothing is on screen. It runs on the UI goroutine, after every change of what
// is on screen.
func (p *park) settle() {
	if p.on || p.done.Load() || p.busy() {
		return
	}
	p.on = true
	fyne.Do(p.turn)
}

// turn is one parked turn of the loop.
func (p *park) turn() {
	p.on = false
	if p.sleep() {
		p.settle()
	}
}

// sleep waits until there may be something to do. It reports whether to go on parking.
func (p *park) sleep() bool {
	if p.ctx.Err() != nil || p.done.Load() || p.busy() {
		return false
	}
	timer := time.NewTimer(parkTurn)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.wake:
		return true
	case <-p.ctx.Done():
		return false
	}
}
