package ipc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nod/api"
	"nod/interact"
)

type problem struct {
	api.Problem
	header http.Header // further headers of the reply
}

var statusOf = map[api.Code]int{
	api.CodeInvalidParam: http.StatusBadRequest, api.CodeInvalidPath: http.StatusBadRequest,
	api.CodeUnauthorized: http.StatusUnauthorized, api.CodeForbidden: http.StatusForbidden,
	api.CodeNotFound: http.StatusNotFound, api.CodeMethodNotAllowed: http.StatusMethodNotAllowed,
	api.CodeTimeout: http.StatusRequestTimeout, api.CodeCancelled: http.StatusConflict,
	api.CodeTooLarge: http.StatusRequestEntityTooLarge, api.CodeUnsupportedMedia: http.StatusUnsupportedMediaType,
	api.CodeRateLimited: http.StatusTooManyRequests, api.CodeNotSupported: http.StatusNotImplemented,
	api.CodeInternal: http.StatusInternalServerError,
}

func newProblem(c api.Code, detail string) *problem {
	status := statusOf[c]
	return &problem{Problem: api.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: c, Detail: detail,
	}}
}

func unauthorized() *problem {
	p := newProblem(api.CodeUnauthorized, "want Authorization: Bearer and the token from endpoint.json")
	p.header = http.Header{"Www-Authenticate": {"Bearer"}}
	return p
}

func tooLarge() *problem {
	return newProblem(api.CodeTooLarge, fmt.Sprintf("the body is longer than %d bytes", maxBody))
}

// invalidParam returns the problem of one parameter. isMissing says that a required string is missing or not a string.
func invalidParam(param, detail string, isMissing bool) *problem {
	code := api.CodeInvalidParam
	if isMissing {
		code = api.CodeInvalidPath
	}
	p := newProblem(code, detail)
	p.Param = param
	return p
}

func rateLimited(detail string, seconds int) *problem {
	p := newProblem(api.CodeRateLimited, detail)
	p.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return p
}

// problemOf converts an error of the broker or of the decoder to a problem. It does not show callers the text of an
// unexpected error.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if wrong, ok := errors.AsType[*interact.ParamError](err); ok {
		return invalidParam(wrong.Param, wrong.Error(), wrong.Missing)
	}
	if wrong, ok := errors.AsType[*api.DecodeError](err); ok {
		return invalidParam(cmp.Or(wrong.Param, "body"), wrong.Error(), wrong.Text && isRequiredText(wrong.Param))
	}
	if busy, ok := errors.AsType[*interact.BusyError](err); ok {
		return rateLimited(busy.Error(), max(1, int(math.Ceil(busy.RetryAfter.Seconds()))))
	}
	if none, ok := errors.AsType[*interact.UnansweredError](err); ok {
		p := newProblem(none.Code(), none.Reason)
		p.ID, p.Outcome = string(none.ID), none.Outcome
		return p
	}
	if errors.Is(err, interact.ErrNotFound) {
		return newProblem(api.CodeNotFound, "no such request of yours")
	}
	return newProblem(api.CodeInternal, "nod failed at this; its log says more")
}

// isRequiredText reports whether a request must have the string with this path.
func isRequiredText(param string) bool {
	name := param[strings.LastIndexByte(param, '.')+1:]
	return slices.Contains([]string{"question", "message", "tool", "id", "label"}, name)
}

func (p *problem) Error() string { return string(p.Code) + ": " + p.Detail }
