package history

import "time"

// Away summarizes the time in which nod was paused or quiet, the screen locked, or the user did not answer.
type Away struct {
	From, To time.Time // zero: not since nod started
	Waited   Found     // still waiting
	Missed   Found     // timed out or returned undecided
	Passed   Found     // allowed by the policy
	Denied   Found
}

// Found counts the entries of a kind.
type Found struct {
	Count int
	Lines []Line // the newest, newest first; pending requests have no number
}

// Nothing reports whether nothing happened.
func (a Away) Nothing() bool { return a.Waited.Count+a.Missed.Count+a.Passed.Count+a.Denied.Count == 0 }
