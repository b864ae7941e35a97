package dialogs

import "time"

const (
	redArmAfter = 2 * time.Second
	// minArmAfter is the shortest wait before an affirmative works; a configuration can only lengthen it.
	minArmAfter = 700 * time.Millisecond
	// quietAfterAnswer is how long after an answer no button of the next prompt decides anything, so that the second half
	// of a double click, or a key held down, cannot answer a prompt that the user has not read.
	quietAfterAnswer = 500 * time.Millisecond
	// While the affirmative arms, the window has to call [arming.heartbeat] every beat, and at the latest after maxGap:
	// a window that hangs may not have drawn the prompt.
	beat   = 100 * time.Millisecond
	maxGap = 4 * beat
)

// arming decides whether a press of the affirmative counts. It counts only after the prompt has been visible, focused
// and unchanged for a while, and the whole input has been in view. arming has no side effects: it reads the time from
// now, and the window reports what happens to it.
type arming struct {
	now   func() time.Time
	after time.Duration

	visible, focused, seen bool
	checked                bool // setSeen was called for this prompt

	focusedAt     time.Time // when the window last got the focus
	lasting       bool      // once armed, only another prompt, or a loss of view or focus, disarms
	since         time.Time // time of the last disturbance
	lastHeartbeat time.Time // time of the last heartbeat while arming
	ready         bool      // no heartbeat was missing
	quietUntil    time.Time // after an answer, nothing decides until then
}

func newArming(now func() time.Time) *arming {
	return &arming{now: now, after: minArmAfter}
}

// begin starts arming a new prompt, which takes at least after, and never less than [minArmAfter].
func (a *arming) begin(after time.Duration, lasting bool) {
	a.after, a.lasting = max(after, minArmAfter), lasting
	a.seen, a.checked, a.ready = false, false, false
	a.disturb()
}

// setSeen notes whether the whole input has been in view. If it has at the first call for a prompt, nothing more has to
// pass; if it happens later, the wait starts then.
func (a *arming) setSeen(seen bool) {
	if a.checked {
		a.set(&a.seen, seen)
		return
	}
	a.seen, a.checked = seen, true
}

func (a *arming) disturb() {
	if a.lasting && a.ready {
		return
	}
	a.since = a.now()
	a.lastHeartbeat, a.ready = a.since, false
}

func (a *arming) heartbeat() {
	if a.ready {
		return
	}
	if a.now().Sub(a.lastHeartbeat) > maxGap {
		a.delay()
	}
	a.lastHeartbeat = a.now()
	a.ready = a.visible && a.focused && a.seen && a.lastHeartbeat.Sub(a.since) >= a.after
}

// delay makes at least [minArmAfter] pass from now on. It does not restart the longer wait of a dangerous request,
// which would never end on a busy machine.
func (a *arming) delay() {
	if least := a.now().Add(minArmAfter - a.after); least.After(a.since) {
		a.since = least
	}
}

func (a *arming) setVisible(v bool) { a.set(&a.visible, v) }

func (a *arming) setFocused(v bool) {
	if v && !a.focused {
		a.focusedAt = a.now()
	}
	a.set(&a.focused, v)
}

func (a *arming) set(state *bool, v bool) {
	if *state == v {
		return
	}
	*state, a.ready = v, false
	a.disturb()
}

func (a *arming) armed() bool {
	left, possible := a.remaining()
	return possible && left <= 0
}

// remaining returns the time until the affirmative works if nothing happens, or false if it will not.
func (a *arming) remaining() (time.Duration, bool) {
	if !a.visible || !a.focused || !a.seen {
		return 0, false
	}
	now := a.now()
	left := a.quietUntil.Sub(now)
	if !a.ready {
		left = max(left, a.since.Add(a.after).Sub(now), time.Nanosecond) // which [arming.heartbeat] ends
	}
	return max(left, 0), true
}

// press reports whether a press of the affirmative counts. After one that came too early, the next one counts only if
// no other press came within [minArmAfter] before it.
func (a *arming) press() bool {
	if a.armed() {
		return true
	}
	if !a.ready {
		a.delay()
	}
	return false
}

// block ignores all decisions for a moment: the user has just answered a prompt, or is still typing, and the next press
// may have been meant for the last prompt.
func (a *arming) block() { a.quietUntil = a.now().Add(quietAfterAnswer) }

func (a *arming) isQuiet() bool { return a.now().Before(a.quietUntil) }
