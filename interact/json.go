package interact

import (
	"encoding/json"
	"fmt"

	"nod/api"
)

// plain is a [Request] without its methods.
type plain Request

// requestJSON is a [Request] sent between two processes of nod.
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

// MarshalJSON implements [json.Marshaler]. It fails for a request without a body. Decoding restores everything except
// paths of programs that are not valid UTF-8, which get U+FFFD.
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

// Plain returns a value that encodes to r's JSON, for a request with a body. encoding/json does not parse it a second
// time, as it does with the output of a MarshalJSON.
func (r *Record) Plain() any {
	return &struct {
		*Record
		Request any `json:"request"`
	}{r, r.Request.plain()}
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON writes, without validation.
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
