package dialogs

import "time"

const (
	// minArmAfter is the shortest wait before an affirmative works; a configuration can only lengthen it.
	minArmAfter = 700 * time.Millisecond
	// quietAfterAnswer is how long after an answer no button of the next prompt decides anything, so that
	// the second half of a double click, or a key held down, cannot answer a prompt nobody has read.
	quietAfterAnswer = 500 * time.Millisecond
	// beat is how often the window has to be heard of while the affirmative arms, and maxGap how long it may be
	// silent at most: a window that stood still may not have drawn what it is to show.
	beat   = 100 * time.Millisecond
	maxGap = 4 * beat
)

// arming decides whether a press of the affirmative is a decision. It is one only after the prompt has been
// visible, focused and unchanged for a while, and the whole input has been in view. It is pure: the clock
// comes from outside, and whoever holds it reports what happens to the window.
type arming struct {
	now   func() time.Time
	after time.Duration

	visible, focused, seen bool
	looked                 bool // the prompt has been looked at once, so that what was in view at once is known

	focusedAt time.Time // when the window last got the focus
	lasting   bool      // once armed, only another prompt or the loss of sight or focus disarms: for one's own answer
	since     time.Time // since when nothing has disturbed the view
	heard     time.Time // when the window was last heard of, while it armed
	ready     bool      // it was heard of all the while
	quiet     time.Time // until when nothing decides, after an answer
}

func newArming(now func() time.Time) *arming {
	return &arming{now: now, after: minArmAfter}
}

// begin starts with a new prompt, which needs after (never less than [minArmAfter]) to arm.
func (a *arming) begin(after time.Duration, lasting bool) {
	a.after, a.lasting = max(after, minArmAfter), lasting
	a.seen, a.looked, a.ready = false, false, false
	a.disturb()
}

// look says whether the whole input has been in view. When it was so at the first look there is nothing
// more to wait for; when the end comes into view later, the wait starts then.
func (a *arming) look(seen bool) {
	if a.looked {
		a.set(&a.seen, seen)
		return
	}
	a.seen, a.looked = seen, true
}

// disturb starts the wait again: the window was resized, or something in it changed.
func (a *arming) disturb() {
	if a.lasting && a.ready {
		return
	}
	a.since = a.now()
	a.heard, a.ready = a.since, false
}

// hear takes note that the window runs.
func (a *arming) hear() {
	if a.ready {
		return
	}
	if a.now().Sub(a.heard) > maxGap {
		a.disturb()
	}
	a.heard = a.now()
	a.ready = a.visible && a.focused && a.seen && a.heard.Sub(a.since) >= a.after
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

// armed reports whether the affirmative would decide now.
func (a *arming) armed() bool {
	left, possible := a.remaining()
	return possible && left <= 0
}

// remaining is the time until the affirmative works if nothing happens; false means that it never will as
// things stand.
func (a *arming) remaining() (time.Duration, bool) {
	if !a.visible || !a.focused || !a.seen {
		return 0, false
	}
	now := a.now()
	left := a.quiet.Sub(now)
	if !a.ready {
		left = max(left, a.since.Add(a.after).Sub(now), time.Nanosecond) // which [arming.hear] ends
	}
	return max(left, 0), true
}

// press reports whether a press of the affirmative decides. One that comes too early was none of this prompt: only one
// that [minArmAfter] without any has gone before will be.
func (a *arming) press() bool {
	if a.armed() {
		return true
	}
	if least := a.now().Add(minArmAfter - a.after); !a.ready && least.After(a.since) {
		a.since = least
	}
	return false
}

// block says that what comes now may be an echo: the human has just answered a prompt, or types on into the next one.
func (a *arming) block() { a.quiet = a.now().Add(quietAfterAnswer) }

// isQuiet reports whether nothing decides, for a moment after another answer.
func (a *arming) isQuiet() bool { return a.now().Before(a.quiet) }
