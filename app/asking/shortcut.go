package asking

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"nod/changes"
	"nod/policy/config"
)

// shortcut listens to the global keys that raise nod, if the user has set any. Only then the tray process connects to
// the X server, and reconnects when that ends.
type shortcut struct {
	wanted  func() string                                                // as in the configuration; empty: none
	listen  func(context.Context, config.Shortcut, shortcutEvents) error // until ctx or the connection ends
	pressed func()
	changed func() // the problem is another one
	log     *slog.Logger

	again   changes.Signal         // wanted may have changed
	problem atomic.Pointer[string] // why the keys do not work
}

// shortcutEvents are what whoever listens to the keys tells.
type shortcutEvents struct {
	bound   func() // the keys work
	pressed func()
}

// errNoShortcut is wrapped by errors that another try cannot mend.
var errNoShortcut = errors.New("the shortcut does not work")

func newShortcut(wanted func() string, pressed, changed func(), log *slog.Logger) *shortcut {
	return &shortcut{wanted: wanted, listen: listenToKeys, pressed: pressed, changed: changed, log: log,
		again: changes.NewSignal()}
}

// why says why the keys do not work; empty: they do, or there are none.
func (s *shortcut) why() string {
	if p := s.problem.Load(); p != nil {
		return *p
	}
	return ""
}

func (s *shortcut) setProblem(text string) {
	if text != s.why() {
		s.problem.Store(&text)
		s.changed()
	}
}

// check looks whether other keys are configured. It never blocks.
func (s *shortcut) check() { s.again.Send() }

func (s *shortcut) run(ctx context.Context) {
	for ctx.Err() == nil {
		keys, err := config.ParseShortcut(s.wanted())
		if err != nil { // none
			s.setProblem("")
			s.wait(ctx, nil)
			continue
		}
		s.keep(ctx, keys)
	}
}

// How long after a display server or a bus was lost nod looks for it again; doubled every time.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

func (s *shortcut) keep(ctx context.Context, keys config.Shortcut) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wanted := s.wanted()
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		ended := make(chan error, 1)
		go func() { // not waited for: a display server that hangs cannot be given up
			ended <- s.listen(ctx, keys, shortcutEvents{bound: func() { s.setProblem("") }, pressed: s.pressed})
		}()
		var err error
		for err == nil {
			select {
			case err = <-ended:
			case <-s.again:
				if s.wanted() != wanted {
					return
				}
			case <-ctx.Done():
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("the shortcut to show nod does not work", "keys", keys, "err", err)
		s.setProblem(err.Error())
		var retry <-chan time.Time
		if !errors.Is(err, errNoShortcut) {
			retry = time.After(pause)
		}
		if s.wait(ctx, retry); s.wanted() != wanted {
			return
		}
	}
}

// wait returns when other keys may be configured, a try is due, or ctx ends.
func (s *shortcut) wait(ctx context.Context, retry <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-s.again:
	case <-retry:
	}
}
