package interact

import (
	"encoding/json"
	"fmt"

	"nod/api"
)

// plain is a [Request] without its methods.
type plain Request

// requestJSON is a [Request] on its way between two processes of nod.
type requestJSON struct {
	plain
	Kind api.Kind        `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// approveJSON keeps the input of an [Approve] byte for byte.
type approveJSON struct {
	Approve
	Input []byte `json:"input"`
}

// MarshalJSON implements [json.Marshaler]. A request without a body is an error. Paths of programs that are not valid
// UTF-8 come back with U+FFFD in them; everything else comes back as it was.
func (r Request) MarshalJSON() ([]byte, error) {
	if r.Body == nil {
		return nil, fmt.Errorf("encode request %s: it has no body", r.ID)
	}
	text, err := json.Marshal(r.plain())
	if err != nil {
		return nil, fmt.Errorf("encode request %s: %w", r.ID, err)
	}
	return text, nil
}

func (r *Request) plain() any {
	var body any = r.Body
	if a, ok := r.Body.(Approve); ok {
		body = &approveJSON{a, a.Input}
	}
	return &struct {
		*plain
		Kind api.Kind `json:"kind"`
		Body any      `json:"body"`
	}{(*plain)(r), r.Body.Kind(), body}
}

// Plain has r's JSON, whose request has a body. encoding/json does not read it again, as it does what a MarshalJSON
// writes.
func (r *Record) Plain() any {
	return &struct {
		*Record
		Request any `json:"request"`
	}{r, r.Request.plain()}
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON writes and does not validate it.
func (r *Request) UnmarshalJSON(text []byte) error {
	var in requestJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*r = Request(in.plain)
	var err error
	if r.Body, err = decodeBody(in.Kind, in.Body); err != nil {
		return fmt.Errorf("decode request %s: %w", r.ID, err)
	}
	return nil
}

func decodeBody(kind api.Kind, text []byte) (Body, error) {
	switch kind {
	case api.KindAsk:
		return decodeAs[api.Ask](text)
	case api.KindConfirm:
		return decodeAs[api.Confirm](text)
	case api.KindForm:
		return decodeAs[api.Form](text)
	case api.KindNotify:
		return decodeAs[api.Notify](text)
	case api.KindApprove:
		in, err := decodeAs[approveJSON](text)
		in.Approve.Input = in.Input
		return in.Approve, err
	}
	return nil, fmt.Errorf("%q is not a kind of request", kind)
}

func decodeAs[T any](text []byte) (body T, err error) {
	err = json.Unmarshal(text, &body)
	return body, err
}
