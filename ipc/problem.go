package ipc

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"nod/interact"
)

// code is the stable name of a kind of problem.
type code string

// The codes.
const (
	codeInvalidParam     code = "INTERACT_INVALID_PARAM"
	codeInvalidPath      code = "INVALID_PATH"
	codeUnauthorized     code = "UNAUTHORIZED"
	codeForbidden        code = "FORBIDDEN"
	codeNotFound         code = "NOT_FOUND"
	codeMethodNotAllowed code = "METHOD_NOT_ALLOWED"
	codeTimeout          code = "INTERACT_TIMEOUT"
	codeCancelled        code = "INTERACT_CANCELLED"
	codeTooLarge         code = "TOO_LARGE"
	codeUnsupportedMedia code = "UNSUPPORTED_MEDIA_TYPE"
	codeRateLimited      code = "RATE_LIMITED"
	codeNotSupported     code = "INTERACT_NOT_SUPPORTED"
	codeInternal         code = "INTERNAL"
)

// problem is a reply that is no answer (RFC 9457).
type problem struct {
	Type    string           `json:"type" description:"always about:blank: code tells problems apart"`
	Title   string           `json:"title" description:"the HTTP status in words"`
	Status  int              `json:"status"`
	Detail  string           `json:"detail" description:"what is wrong, for the caller to read"`
	Code    code             `json:"code" enum:"INTERACT_INVALID_PARAM,INVALID_PATH,UNAUTHORIZED,FORBIDDEN,NOT_FOUND,METHOD_NOT_ALLOWED,INTERACT_TIMEOUT,INTERACT_CANCELLED,TOO_LARGE,UNSUPPORTED_MEDIA_TYPE,RATE_LIMITED,INTERACT_NOT_SUPPORTED,INTERNAL" description:"stable name of the problem"`
	Param   string           `json:"param,omitempty" description:"path of the offending parameter, like questions[0].id"`
	ID      interact.ID      `json:"id,omitempty" description:"the request, when it came to exist"`
	Outcome interact.Outcome `json:"outcome,omitempty" enum:"dismissed,timed_out,cancelled,withdrawn,unavailable" description:"what came of the request, when it came to exist"`

	header http.Header // what the reply carries besides
}

func newProblem(status int, c code, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: c, Detail: detail}
}

func forbidden(detail string) *problem {
	return newProblem(http.StatusForbidden, codeForbidden, detail)
}

func unauthorized() *problem {
	p := newProblem(http.StatusUnauthorized, codeUnauthorized, "want Authorization: Bearer and the token from endpoint.json")
	p.header = http.Header{"Www-Authenticate": {"Bearer"}}
	return p
}

func unsupportedMedia(detail string) *problem {
	return newProblem(http.StatusUnsupportedMediaType, codeUnsupportedMedia, detail)
}

func tooLarge() *problem {
	return newProblem(http.StatusRequestEntityTooLarge, codeTooLarge, fmt.Sprintf("the body is longer than %d bytes", maxBody))
}

func notFound(detail string) *problem {
	return newProblem(http.StatusNotFound, codeNotFound, detail)
}

func invalidParam(param, detail string) *problem {
	p := newProblem(http.StatusBadRequest, codeInvalidParam, detail)
	p.Param = param
	return p
}

func rateLimited(detail string, seconds int) *problem {
	p := newProblem(http.StatusTooManyRequests, codeRateLimited, detail)
	p.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return p
}

// problemOf is what an error of the broker or of the decoder amounts to. The text of an error that nobody
// foresaw is not for callers.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if wrong, ok := errors.AsType[*interact.ParamError](err); ok {
		p := invalidParam(wrong.Param, wrong.Error())
		if wrong.Missing {
			p.Code = codeInvalidPath
		}
		return p
	}
	if busy, ok := errors.AsType[*interact.BusyError](err); ok {
		return rateLimited(busy.Error(), max(1, int(math.Ceil(busy.RetryAfter.Seconds()))))
	}
	if errors.Is(err, interact.ErrNotFound) {
		return notFound("no such request of yours")
	}
	return newProblem(http.StatusInternalServerError, codeInternal, "nod failed at this; its log says more")
}

// Error implements error.
func (p *problem) Error() string { return string(p.Code) + ": " + p.Detail }

// unanswered is the problem that a request amounts to which nobody answered.
func unanswered(id interact.ID, a interact.Answer) *problem {
	var p *problem
	switch a.Outcome {
	case interact.TimedOut:
		p = newProblem(http.StatusRequestTimeout, codeTimeout, reasonOf(a))
	case interact.Dismissed, interact.Withdrawn, interact.Cancelled:
		p = newProblem(http.StatusConflict, codeCancelled, reasonOf(a))
	case interact.Unavailable:
		p = newProblem(http.StatusNotImplemented, codeNotSupported, reasonOf(a))
	default:
		return newProblem(http.StatusInternalServerError, codeInternal, "nod has no words for what came of this request")
	}
	p.ID, p.Outcome = id, a.Outcome
	return p
}
