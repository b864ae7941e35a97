package asking

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
)

// announceAfter is how long a prompt on screen is pending before the desktop announces it. Who looks at the screen sees
// the window itself, and mostly has answered or at least clicked it by then.
const announceAfter = 2 * time.Second

// announcement is nod's notification of what waits. It says no word of what a request holds, and cannot decide
// anything: it only says who waits, and leads there.
type announcement struct {
	request interact.Request // the one that it names
	others  int              // that wait, too
	sound   bool
	fresh   bool   // it names somebody new; else it is for one that is still up only
	open    func() // called when the person clicks on it
}

func (a announcement) text(markup bool) string {
	text := wish(a.request)
	switch {
	case a.others == 1:
		text += "\n" + lang.L("and 1 more is waiting")
	case a.others > 1:
		text += "\n" + lang.L("and {{.Count}} more are waiting", map[string]any{"Count": a.others})
	}
	return hardened(text, markup, runtime.GOOS)
}

// announcer tells the desktop what is pending, in one notification, and takes that back when nothing of it is.
type announcer struct {
	announcerConfig

	mu      sync.Mutex
	pending []interact.Request
	told    map[interact.ID]bool
	up      *announcement // as told last; nil: none
	timer   *time.Timer   // runs while somebody is to be announced
}

// announcerConfig is what an [announcer] works with. All fields are required.
type announcerConfig struct {
	ctx     context.Context
	post    func(*announcement)         // puts it in place of the one before; nil takes that away. It never blocks
	wanted  func(interact.Request) bool // the person wants to hear of it
	hidden  func(interact.Request) bool // no window shows it
	looking func() bool                 // the prompt window has the focus
	sound   func() bool
	show    func(interact.ID) // leads to a request
}

func newAnnouncer(c announcerConfig) *announcer {
	return &announcer{announcerConfig: c, told: map[interact.ID]bool{}}
}

// look takes in what is pending now. What is still pending a little later is announced, once, and together with what
// came meanwhile; what nothing else shows is announced at once.
func (a *announcer) look(pending []interact.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := map[interact.ID]bool{}
	fresh := false
	wait := announceAfter
	for _, r := range pending {
		if a.told[r.ID] {
			told[r.ID] = true
			continue
		}
		fresh = true
		if a.hidden(r) {
			wait = 0
		}
	}
	a.pending, a.told = pending, told
	a.correct()
	switch {
	case !fresh:
	case a.timer == nil:
		a.timer = time.AfterFunc(wait, a.announce)
	case wait == 0:
		a.timer.Reset(0)
	}
}

// announce says what is still pending and has not been announced, unless the person is looking at it.
func (a *announcer) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	var newest *interact.Request
	for i, r := range a.pending {
		if !a.told[r.ID] && a.wanted(r) {
			newest = &a.pending[i]
		}
		a.told[r.ID] = true
	}
	if newest != nil && a.ctx.Err() == nil && !a.looking() {
		a.put(*newest, true)
	}
}

// correct brings the notification that is up in line with what is pending. The caller holds a.mu.
func (a *announcer) correct() {
	if a.up == nil {
		return
	}
	is := func(r interact.Request) bool { return r.ID == a.up.request.ID }
	left := a.announced()
	switch {
	case len(left) == 0:
		a.takeDown()
	case !slices.ContainsFunc(left, is):
		a.put(left[len(left)-1], false)
	case len(left) <= a.up.others:
		a.put(a.up.request, false)
	}
}

// announced lists what is pending and has been announced, oldest first. The caller holds a.mu.
func (a *announcer) announced() []interact.Request {
	return slices.DeleteFunc(slices.Clone(a.pending), func(r interact.Request) bool {
		return !a.told[r.ID] || !a.wanted(r)
	})
}

// put shows the notification, about r. The caller holds a.mu.
func (a *announcer) put(r interact.Request, fresh bool) {
	a.up = &announcement{request: r, others: len(a.announced()) - 1, fresh: fresh, sound: fresh && a.sound(),
		open: func() { a.show(r.ID) }}
	a.post(a.up)
}

// takeDown takes the notification away. The caller holds a.mu.
func (a *announcer) takeDown() {
	a.up = nil
	a.post(nil)
}

// seen says that the person looks at what waits.
func (a *announcer) seen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.up != nil {
		a.takeDown()
	}
}
