package interact

import "time"

// Contact is what came of one agent's hooks since nod was started.
type Contact struct {
	Last            time.Time // a hook of its called
	Calls           int       // of its hooks, for whatever reason
	Passed, Refused int       // let through and denied by the policy alone
	Allowed, Denied int       // by the person
	Answered        int       // questions and forms, by the person
	Undecided       int       // nobody decided: closed, timed out, withdrawn
}

// Called takes note of a call.
func (c *Contact) Called() { c.Last, c.Calls = time.Now(), c.Calls+1 }

// Count takes note of what came of a call that wanted a decision or an answer.
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
