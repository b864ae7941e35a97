package asking

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/dialogs/prompt"
	"nod/interact"
)

// announceAfter is how long a prompt on screen is pending before the desktop announces it. A user who looks at the
// screen has mostly answered or at least clicked it by then.
const announceAfter = 2 * time.Second

// announcement is nod's notification of pending requests. It names the agent and opens the prompt when clicked. It
// quotes nothing from the request and has no button that decides.
type announcement struct {
	request interact.Request // the one that it names
	others  int              // the number of other pending requests
	sound   bool
	fresh   bool   // it is shown anew; else it only replaces one that is still up
	open    func() // called when the user clicks on it
}

func (a announcement) text(markup bool) string {
	text := prompt.WishOf(titled(a.request))
	switch {
	case a.others == 1:
		text += "\n" + lang.L("and 1 more is waiting")
	case a.others > 1:
		text += "\n" + lang.L("and {{.Count}} more are waiting", map[string]any{"Count": a.others})
	}
	return hardened(text, markup, runtime.GOOS)
}

// announcer announces pending requests in one notification, and removes it once none of them is pending.
// All fields above mu are required.
type announcer struct {
	ctx     context.Context
	post    func(*announcement)         // replaces the last one; nil removes it. It never blocks
	wanted  func(interact.Request) bool // the user wants to know of it
	hidden  func(interact.Request) bool // no window shows it
	looking func() bool                 // the prompt window has the focus
	sound   func() bool
	show    func(interact.ID) // leads to a request

	mu      sync.Mutex // guards all below
	pending []interact.Request
	done    map[interact.ID]bool // announced, or not to be
	up      *announcement        // nil: none
	timer   *time.Timer          // runs while a request is to be announced
}

// look takes in what is pending now. Requests still pending a little later are announced once, together; those that no
// window shows are announced immediately.
func (a *announcer) look(pending []interact.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	done := map[interact.ID]bool{}
	fresh := false
	wait := announceAfter
	for _, r := range pending {
		if a.done[r.ID] {
			done[r.ID] = true
			continue
		}
		fresh = true
		if a.hidden(r) {
			wait = 0
		}
	}
	a.pending, a.done = pending, done
	a.correct()
	switch {
	case !fresh:
	case a.timer == nil:
		a.timer = time.AfterFunc(wait, a.announce)
	case wait == 0:
		a.timer.Reset(0)
	}
}

// announce announces the pending requests not announced yet, unless the user is looking at a prompt.
func (a *announcer) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	var newest *interact.Request
	for i, r := range a.pending {
		if !a.done[r.ID] && a.wanted(r) {
			newest = &a.pending[i]
		}
		a.done[r.ID] = true
	}
	if newest != nil && a.ctx.Err() == nil && !a.looking() {
		a.put(*newest, true)
	}
}

// correct updates the notification to match what is pending. The caller holds a.mu.
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

// announced lists the pending requests that were announced, oldest first. The caller holds a.mu.
func (a *announcer) announced() []interact.Request {
	return slices.DeleteFunc(slices.Clone(a.pending), func(r interact.Request) bool {
		return !a.done[r.ID] || !a.wanted(r)
	})
}

// put shows the notification, about r. The caller holds a.mu.
func (a *announcer) put(r interact.Request, fresh bool) {
	a.up = &announcement{request: r, others: len(a.announced()) - 1, fresh: fresh, sound: fresh && a.sound(),
		open: func() { a.show(r.ID) }}
	a.post(a.up)
}

// takeDown removes the notification. The caller holds a.mu.
func (a *announcer) takeDown() {
	a.up = nil
	a.post(nil)
}

// seen removes the notification because the user is looking at the prompts.
func (a *announcer) seen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.up != nil {
		a.takeDown()
	}
}
