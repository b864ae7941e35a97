package history

import "time"

// Away is what came of requests while nobody was asked, or could be expected to look: nod was paused or quiet, the
// person did not answer, or the screen was locked.
type Away struct {
	From, To time.Time // zero: it has not happened since nod started
	Waited   Found     // for the person to come back
	Missed   Found     // timed out, or were handed back undecided
	Passed   Found     // allowed by the policy
	Denied   Found
}

// Found is how many entries there are of a kind.
type Found struct {
	Count int
	Lines []Line // the newest of them, newest first; those of a request that is pending have no number
}

// Nothing reports whether nothing happened.
func (a Away) Nothing() bool { return a.Waited.Count+a.Missed.Count+a.Passed.Count+a.Denied.Count == 0 }
