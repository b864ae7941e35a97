package interact

import "time"

// Contact is what came of one agent's hooks since nod was started.
type Contact struct {
	Last            time.Time // call of a hook
	Calls           int       // of its hooks
	Passed, Refused int       // by the policy
	Allowed, Denied int       // by the user
	Answered        int       // questions and forms
	Undecided       int       // nobody decided: closed, timed out, withdrawn
}

// Called counts a call.
func (c *Contact) Called() { c.Last, c.Calls = time.Now(), c.Calls+1 }

// Count counts what came of a call that asked.
func (c *Contact) Count(a Answer) {
	byPolicy := a.By == ByPolicy
	switch {
	case a.Outcome == Allowed && byPolicy:
		c.Passed++
	case a.Outcome == Denied && byPolicy:
		c.Refused++
	case a.Outcome == Allowed:
		c.Allowed++
	case a.Outcome == Denied:
		c.Denied++
	case a.Outcome == Answered:
		c.Answered++
	case a.Outcome != "":
		c.Undecided++
	}
}
