package asking

import (
	"strings"
	"sync"
	"time"

	"nod/interact"
	"nod/policy"
)

// repeats counts how often the user allowed each call today, until nod quits. The zero value is ready to use.
type repeats struct {
	mu    sync.Mutex
	day   string
	times map[string]int // by [repeats.key]
}

// maxRepeats is how many different calls are counted in a day.
const maxRepeats = 10_000

func (r *repeats) add(c policy.Call, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if day := now.Format(time.DateOnly); r.day != day {
		r.day, r.times = day, map[string]int{}
	}
	if key := r.key(c); r.times[key] > 0 || len(r.times) < maxRepeats {
		r.times[key]++
	}
}

func (r *repeats) of(c policy.Call, now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.day != now.Format(time.DateOnly) {
		return 0
	}
	return r.times[r.key(c)]
}

func (r *repeats) key(c policy.Call) string {
	return strings.Join([]string{c.Agent, c.CWD, c.Tool, interact.Digest(c.Input.Raw)}, "\x00")
}
