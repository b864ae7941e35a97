package dialogs

import (
	"testing"
	"time"
)

func TestArming(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name string
		do   func(a *arming, wait func(time.Duration))
		want bool
	}{
		{"at once", func(a *arming, wait func(time.Duration)) {}, false},
		{"just before", func(a *arming, wait func(time.Duration)) { wait(699 * ms) }, false},
		{"in time", func(a *arming, wait func(time.Duration)) { wait(700 * ms) }, true},
		{"not visible", func(a *arming, wait func(time.Duration)) { a.setVisible(false); wait(time.Hour) }, false},
		{"not focused", func(a *arming, wait func(time.Duration)) { a.setFocused(false); wait(time.Hour) }, false},
		{"not read to the end", func(a *arming, wait func(time.Duration)) { a.setSeen(false); wait(time.Hour) }, false},
		{"focus comes back", func(a *arming, wait func(time.Duration)) {
			wait(time.Second)
			a.setFocused(false)
			a.setFocused(true)
			wait(699 * ms)
		}, false},
		{"focus came back a while ago", func(a *arming, wait func(time.Duration)) {
			a.setFocused(false)
			a.setFocused(true)
			wait(700 * ms)
		}, true},
		{"covered and uncovered", func(a *arming, wait func(time.Duration)) {
			wait(time.Second)
			a.setVisible(false)
			a.setVisible(true)
			wait(100 * ms)
		}, false},
		{"end of the text only now in view", func(a *arming, wait func(time.Duration)) {
			a.setSeen(false)
			wait(time.Second)
			a.setSeen(true)
			wait(699 * ms)
		}, false},
		{"an early press starts the wait again", func(a *arming, wait func(time.Duration)) {
			wait(600 * ms)
			a.press()
			wait(699 * ms)
		}, false},
		{"an early press, and a longer wait that is all but over", func(a *arming, wait func(time.Duration)) {
			a.begin(3*time.Second, false)
			a.setSeen(true)
			wait(2900 * ms)
			a.press()
			wait(700 * ms)
		}, true},
		{"an early press does not shorten a wait", func(a *arming, wait func(time.Duration)) {
			a.begin(3*time.Second, false)
			a.setSeen(true)
			wait(100 * ms)
			a.press()
			wait(2899 * ms)
		}, false},
		{"disturbed after it was armed for an answer of the user's own", func(a *arming, wait func(time.Duration)) {
			a.begin(0, true)
			a.setSeen(true)
			wait(700 * ms)
			a.disturb()
		}, true},
		{"disturbed before", func(a *arming, wait func(time.Duration)) {
			a.begin(0, true)
			a.setSeen(true)
			wait(600 * ms)
			a.disturb()
			wait(600 * ms)
		}, false},
		{"the focus lost after it", func(a *arming, wait func(time.Duration)) {
			a.begin(0, true)
			a.setSeen(true)
			wait(700 * ms)
			a.setFocused(false)
			a.setFocused(true)
		}, false},
		{"presses all the time", func(a *arming, wait func(time.Duration)) {
			for range 100 {
				wait(500 * ms)
				a.press()
			}
		}, false},
		{"resized", func(a *arming, wait func(time.Duration)) { wait(time.Second); a.disturb(); wait(699 * ms) }, false},
		{"told again what is known", func(a *arming, wait func(time.Duration)) {
			wait(time.Second)
			a.setFocused(true)
			a.setVisible(true)
			a.setSeen(true)
		}, true},
		{"the next prompt", func(a *arming, wait func(time.Duration)) {
			wait(time.Second)
			a.block()
			a.begin(0, false)
			a.setSeen(true)
			wait(699 * ms)
		}, false},
		{"a longer wait was configured", func(a *arming, wait func(time.Duration)) {
			a.begin(3*time.Second, false)
			a.setSeen(true)
			wait(2999 * ms)
		}, false},
		{"a shorter wait cannot be configured", func(a *arming, wait func(time.Duration)) {
			a.begin(10*ms, false)
			a.setSeen(true)
			wait(699 * ms)
		}, false},
		{"stood still", func(a *arming, _ func(time.Duration)) {
			now := a.now()
			a.now = func() time.Time { return now.Add(time.Hour) }
		}, false},
		{"stood still until a moment ago", func(a *arming, wait func(time.Duration)) {
			wait(100 * ms)
			a.now = later(a.now, time.Hour)
			wait(600 * ms)
		}, false},
		{"stood still for a moment of a longer wait", func(a *arming, wait func(time.Duration)) {
			a.begin(2*time.Second, false)
			a.setSeen(true)
			wait(1500 * ms)
			a.now = later(a.now, maxGap+beat)
			wait(800 * ms)
		}, true},
		{"stood still at the end of a longer wait", func(a *arming, wait func(time.Duration)) {
			a.begin(2*time.Second, false)
			a.setSeen(true)
			wait(1900 * ms)
			a.now = later(a.now, maxGap+beat)
			wait(600 * ms)
		}, false},
		{"stood still after it was armed", func(a *arming, wait func(time.Duration)) {
			wait(700 * ms)
			now := a.now()
			a.now = func() time.Time { return now.Add(time.Hour) }
		}, true},
		{"the clock goes back", func(a *arming, wait func(time.Duration)) { wait(-time.Hour) }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := time.Unix(1_900_000_000, 0)
			a := newArming(func() time.Time { return now })
			a.begin(0, false)
			a.setSeen(true)
			a.setVisible(true)
			a.setFocused(true)
			test.do(a, func(d time.Duration) {
				for ; d > beat; d -= beat {
					now = now.Add(beat)
					a.heartbeat()
				}
				now = now.Add(d)
				a.heartbeat()
			})
			if got := a.armed(); got != test.want {
				t.Errorf("armed: %v, want %v", got, test.want)
			}
			left, possible := a.remaining()
			if got := possible && left == 0; got != test.want {
				t.Errorf("remaining: %v, %v; want armed: %v", left, possible, test.want)
			}
			if got := a.press(); got != test.want {
				t.Errorf("press: %v, want %v", got, test.want)
			}
		})
	}
}

// later is a clock that is ahead of another.
func later(now func() time.Time, by time.Duration) func() time.Time {
	return func() time.Time { return now().Add(by) }
}
