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
