package device

import (
	"net/http"
)

// The codes of a [Problem].
const (
	codeNonce       = "nonce"
	codeUnpaired    = "unpaired"
	codeInvitation  = "invitation"
	codeGone        = "gone"
	codeChanged     = "changed"
	codeEarly       = "early"
	codeForbidden   = "forbidden"
	codeInvalid     = "invalid"
	codeBusy        = "busy"
	codeRefused     = "refused"     // the request is not one of the page's
	codeMisdirected = "misdirected" // it is meant for another host
	codeBroken      = "broken"      // nod's own fault
)

var statuses = map[string]int{
	codeNonce: http.StatusUnauthorized, codeUnpaired: http.StatusUnauthorized, codeInvitation: http.StatusForbidden,
	codeGone: http.StatusGone, codeChanged: http.StatusConflict, codeEarly: http.StatusTooEarly,
	codeForbidden: http.StatusForbidden, codeInvalid: http.StatusUnprocessableEntity,
	codeBusy: http.StatusTooManyRequests, codeRefused: http.StatusForbidden,
	codeMisdirected: http.StatusMisdirectedRequest, codeBroken: http.StatusInternalServerError,
}

func (p *Problem) Error() string { return p.Message }

func (p *Problem) status() int { return statuses[p.Code] }

func problem(code, message string) *Problem { return &Problem{Code: code, Message: message} }

func busy() *Problem { return problem(codeBusy, "Too many requests at once: wait a moment.") }
func refused() *Problem {
	return problem(codeRefused, "This did not come from nod's own page.")
}
func stale() *Problem { return problem(codeNonce, "The request came too late, or twice.") }
func uninvited() *Problem {
	return problem(codeInvitation, "This invitation is not valid any more: make a new one.")
}
func unpaired() *Problem { return problem(codeUnpaired, "This device is not paired with nod.") }

// Gone says that a prompt is not pending any more.
func Gone() *Problem { return problem(codeGone, "This is no longer pending.") }

// Changed says that what an answer starts from is no longer so.
func Changed() *Problem {
	return problem(codeChanged, "This has changed since. Look again.")
}

// Forbidden says why a device may not do something.
func Forbidden(why string) *Problem { return problem(codeForbidden, why) }

// Invalid says why something is no answer, and to which question of a form; empty: to all of it.
func Invalid(why, question string) *Problem {
	return &Problem{Code: codeInvalid, Message: why, Question: question}
}
