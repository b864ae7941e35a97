package ipc

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"nod/interact"
)

const keyHeader = "Idempotency-Key"

// keyOf returns the idempotency key of r, or "". inBody is the key in its body, if any.
func keyOf(r *http.Request, inBody string) (string, error) {
	values := r.Header.Values(keyHeader)
	if len(values) == 0 {
		return inBody, nil
	}
	key, err := unquoted(values[0])
	switch {
	case len(values) > 1:
		return "", &interact.ParamError{Param: keyHeader, Problem: "appears twice"}
	case err != nil || key == "" || utf8.RuneCountInString(key) > interact.MaxName:
		problem := fmt.Sprintf("want 1 to %d characters, in quotes or without", interact.MaxName)
		return "", &interact.ParamError{Param: keyHeader, Problem: problem}
	case inBody != "" && inBody != key:
		return "", &interact.ParamError{Param: "idempotency_key", Problem: "is another one than in the header"}
	}
	return key, nil
}

// unquoted returns the text of a header that may be a quoted string, as in the draft standard.
func unquoted(value string) (string, error) {
	if !strings.HasPrefix(value, `"`) {
		return value, nil
	}
	return strconv.Unquote(value)
}
