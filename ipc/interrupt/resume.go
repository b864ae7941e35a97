package interrupt

import (
	"bytes"
	"context"

	"nod/api"
)

// Resume is an interrupt with its answer, for those who have got it already.
type Resume struct {
	Interrupt Error            `json:"interrupt"`
	Reply     api.RequestReply `json:"reply"` // what nod says of the request; zero: to be fetched
}

type resumeKey struct{}

// resumption is the value in a context, with those that the context carried before.
type resumption struct {
	value any
	outer *resumption
}

// WithResumeValue returns a context in which an interrupted call goes on. For the calls of an Approver or Asker v is
// the stored [*Error], whose answer is then fetched by its RequestID, or a [Resume], which has it. A call that the
// value does not belong to takes no notice of it. To go on with several calls, add one value for each.
func WithResumeValue(ctx context.Context, v any) context.Context {
	outer, _ := ctx.Value(resumeKey{}).(*resumption)
	return context.WithValue(ctx, resumeKey{}, &resumption{v, outer})
}

// ResumeFor returns the interrupt in ctx that asked exactly this, with its answer when that is there, too. Payloads are
// the same when they differ in space between tokens and in how strings are escaped, and in nothing else.
func ResumeFor(ctx context.Context, kind Kind, payload []byte) (Resume, bool) {
	want, err := api.Canonical(payload)
	if err != nil {
		return Resume{}, false
	}
	r, _ := ctx.Value(resumeKey{}).(*resumption)
	for ; r != nil; r = r.outer {
		resume, ok := resumeOf(r.value)
		if !ok || resume.Interrupt.Kind != kind || resume.Interrupt.RequestID == "" {
			continue
		}
		if asked, err := api.Canonical(resume.Interrupt.Payload); err == nil && bytes.Equal(asked, want) {
			return resume, true
		}
	}
	return Resume{}, false
}

func resumeOf(value any) (Resume, bool) {
	switch v := value.(type) {
	case *Error:
		if v != nil {
			return Resume{Interrupt: *v}, true
		}
	case Resume:
		return v, true
	}
	return Resume{}, false
}
