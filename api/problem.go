package api

// Code is the stable name of a kind of problem.
type Code string

// The codes.
const (
	CodeInvalidParam     Code = "INTERACT_INVALID_PARAM" // Param names it
	CodeInvalidPath      Code = "INVALID_PATH"           // a required string is missing or not a string; Param names it
	CodeUnauthorized     Code = "UNAUTHORIZED"
	CodeForbidden        Code = "FORBIDDEN"
	CodeNotFound         Code = "NOT_FOUND" // also a request of somebody else's
	CodeMethodNotAllowed Code = "METHOD_NOT_ALLOWED"
	CodeTimeout          Code = "INTERACT_TIMEOUT"
	CodeCancelled        Code = "INTERACT_CANCELLED"
	CodeTooLarge         Code = "TOO_LARGE"
	CodeUnsupportedMedia Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeRateLimited      Code = "RATE_LIMITED"
	CodeNotSupported     Code = "INTERACT_NOT_SUPPORTED" // no screen to prompt on
	CodeInternal         Code = "INTERNAL"
)

// Problem is a reply that is no answer (RFC 9457): what was refused, or what came of a request that nobody answered.
type Problem struct {
	Type    string  `json:"type" description:"always about:blank: code tells problems apart"`
	Title   string  `json:"title" description:"the HTTP status in words"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail" description:"what is wrong, for the caller to read"`
	Code    Code    `json:"code"`
	Param   string  `json:"param,omitzero" description:"path of the offending parameter, like questions[0].id"`
	ID      string  `json:"id,omitzero" description:"the request, when it came to exist"`
	Outcome Outcome `json:"outcome,omitzero" enum:"dismissed,timed_out,cancelled,withdrawn,unavailable"`
}
