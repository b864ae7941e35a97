package app

import (
	"context"
	"sync"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
)

// announceAfter is how long a prompt waits before the desktop announces it. Who looks at the screen sees
// the window itself, and mostly has answered or at least clicked it by then.
const announceAfter = 2 * time.Second

// announcer tells the desktop that prompts wait. Its notifications say no word of the agent's, and cannot
// decide anything: they only say where to look.
type announcer struct {
	ctx     context.Context
	say     func(ctx context.Context, sentence string, level interact.Level)
	enabled func() bool // the person wants announcements
	looking func() bool // the prompt window has the focus

	mu      sync.Mutex
	waiting []interact.Request
	told    map[interact.ID]bool
	timer   *time.Timer // runs while somebody is to be announced
}

func newAnnouncer(ctx context.Context, say func(context.Context, string, interact.Level), enabled, looking func() bool) *announcer {
	return &announcer{ctx: ctx, say: say, enabled: enabled, looking: looking, told: map[interact.ID]bool{}}
}

// look takes in what waits for the human now. What is still waiting a little later is announced, once, and
// together with what came meanwhile.
func (a *announcer) look(waiting []interact.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = waiting
	a.forget()
	if a.timer == nil && len(a.fresh()) > 0 {
		a.timer = time.AfterFunc(announceAfter, a.announce)
	}
}

// announce says what still waits and has not been announced, unless the person is looking at it.
func (a *announcer) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	fresh := a.fresh()
	for _, r := range fresh {
		a.told[r.ID] = true
	}
	if len(fresh) == 0 || a.ctx.Err() != nil || !a.enabled() || a.looking() {
		return
	}
	a.say(a.ctx, announcement(fresh[len(fresh)-1], len(a.waiting)), interact.Info)
}

// fresh is what waits and was not announced. The caller holds a.mu.
func (a *announcer) fresh() []interact.Request {
	var fresh []interact.Request
	for _, r := range a.waiting {
		if !a.told[r.ID] {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// forget drops what no longer waits from what was told. The caller holds a.mu.
func (a *announcer) forget() {
	kept := map[interact.ID]bool{}
	for _, r := range a.waiting {
		if a.told[r.ID] {
			kept[r.ID] = true
		}
	}
	a.told = kept
}

// announcement is nod's own sentence about the newest of n waiting requests.
func announcement(newest interact.Request, n int) string {
	who := map[string]any{"Who": verified(newest.Requester), "Count": n}
	if n == 1 {
		return lang.L("A request from {{.Who}} waits for your answer.", who)
	}
	return lang.L("{{.Count}} requests wait for your answer, the newest from {{.Who}}.", who)
}
