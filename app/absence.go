package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"nod/interact/history"
)

// absence follows whether the person is there to be asked, and sums up what happened once they are back.
type absence struct {
	ctx     context.Context
	count   func(ctx context.Context, from, to time.Time) (history.Away, error)
	changed func() // there is something to tell, or to look at again
	log     *slog.Logger

	mu    sync.Mutex  // guards all below
	from  time.Time   // since when the person is away; zero: they are there
	timer *time.Timer // looks again while they are
	last  history.Away
	told  bool // the person has read the last
}

// recheck is how often it is looked at whether an absence is over that ends without an event, as quiet hours do.
const recheck = time.Minute

// look takes note of whether the person is away now. It does not block.
func (a *absence) look(away bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	switch {
	case away:
		if a.from.IsZero() {
			a.from = time.Now()
		}
		a.timer = time.AfterFunc(recheck, a.changed)
	case !a.from.IsZero():
		go a.sum(a.from, time.Now())
		a.from = time.Time{}
	}
}

// sum finds out what happened, and has it told.
func (a *absence) sum(from, to time.Time) {
	found, err := a.count(a.ctx, from, to)
	if err != nil {
		if a.ctx.Err() == nil {
			a.log.Warn("what happened while you were away is not known", "err", err)
		}
		return
	}
	if found.Nothing() {
		return
	}
	a.mu.Lock()
	a.last, a.told = found, false
	a.mu.Unlock()
	a.changed()
}

// news is what the person has not read yet.
func (a *absence) news() history.Away {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told {
		return history.Away{}
	}
	return a.last
}

// take is what happened last, for the person to read.
func (a *absence) take() history.Away {
	a.mu.Lock()
	wasTold := a.told
	a.told = true
	last := a.last
	a.mu.Unlock()
	if !wasTold && !last.Nothing() {
		a.changed()
	}
	return last
}
