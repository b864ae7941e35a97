package device

import "net/http"

// The codes of a [failure].
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

func (f *failure) Error() string { return f.Message }

func failed(code, message string) error { return &failure{Code: code, Message: message} }

var (
	errBusy      = failed(codeBusy, "Too many requests at once: wait a moment.")
	errRefused   = failed(codeRefused, "This did not come from nod's own page.")
	errStale     = failed(codeNonce, "The request came too late, or twice.")
	errUninvited = failed(codeInvitation, "This invitation is not valid any more: make a new one.")
	errUnpaired  = failed(codeUnpaired, "This device is not paired with nod.")

	// ErrGone says that a prompt is no longer pending.
	ErrGone = failed(codeGone, "This is no longer pending.")
	// ErrChanged says that what an answer is based on has changed.
	ErrChanged = failed(codeChanged, "This has changed since. Look again.")
)

// Forbidden returns an error that says why a device may not do something.
func Forbidden(why string) error { return failed(codeForbidden, why) }

// Invalid returns an error that says why an answer is not valid, and to which question of a form; "" means the whole
// answer.
func Invalid(why, question string) error {
	return &failure{Code: codeInvalid, Message: why, Question: question}
}
