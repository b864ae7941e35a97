package interrupt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"nod/api"
	"nod/ipc/interrupt"
)

func approval(id string) *interrupt.Error {
	return &interrupt.Error{Kind: interrupt.Approval, RequestID: id, Payload: json.RawMessage(`{"tool":"Bash"}`)}
}

// several is an error type of somebody else's that joins.
type several []error

func (s several) Error() string   { return fmt.Sprint([]error(s)) }
func (s several) Unwrap() []error { return s }

func TestInterruptsAreFound(t *testing.T) {
	a, b, c := approval("a"), approval("b"), approval("c")
	other := errors.New("other")
	tests := []struct {
		name string
		err  error
		want []*interrupt.Error
	}{
		{"no error", nil, nil},
		{"another error", other, nil},
		{"nobody decided", &interrupt.UndecidedError{Outcome: api.TimedOut}, nil},
		{"a nil interrupt", (*interrupt.Error)(nil), nil},
		{"itself", a, []*interrupt.Error{a}},
		{"wrapped", fmt.Errorf("call 1: %w", fmt.Errorf("tool: %w", a)), []*interrupt.Error{a}},
		{"wrapped with others", fmt.Errorf("%w, %w", other, a), []*interrupt.Error{a}},
		{"two wrapped", fmt.Errorf("%w, %w", b, a), []*interrupt.Error{b, a}},
		{"joined", errors.Join(other, a, nil), []*interrupt.Error{a}},
		{"joins of joins", errors.Join(fmt.Errorf("x: %w", errors.Join(other, a)), several{b, errors.Join(c)}),
			[]*interrupt.Error{a, b, c}},
		{"hidden on purpose", fmt.Errorf("call 1: %v", a), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := interrupt.All(test.err); !reflect.DeepEqual(got, test.want) {
				t.Errorf("All = %v, want %v", got, test.want)
			}
			first, ok := interrupt.Get(test.err)
			if ok != (len(test.want) > 0) || ok && first != test.want[0] {
				t.Errorf("Get = %v, %v", first, ok)
			}
		})
	}
}

// TestResumeFor: an interrupt resumes the call that it interrupted and no other.
func TestResumeFor(t *testing.T) {
	const asked = `{"tool":"Bash","input":{"command":"a && b"},"cwd":"/srv"}`
	stored := &interrupt.Error{Kind: interrupt.Approval, RequestID: "1", Payload: json.RawMessage(asked)}
	tests := []struct {
		name    string
		value   any
		kind    interrupt.Kind
		payload string
		want    bool
	}{
		{"the same call", stored, interrupt.Approval, asked, true},
		{"with its answer", interrupt.Resume{Interrupt: *stored}, interrupt.Approval, asked, true},
		{"written with other escapes", stored, interrupt.Approval,
			`{"tool":"Bash","input":{"command":"a \u0026\u0026 b"}, "cwd":"/srv"}`, true},
		{"another input", stored, interrupt.Approval,
			`{"tool":"Bash","input":{"command":"a && c"},"cwd":"/srv"}`, false},
		{"another tool", stored, interrupt.Approval, `{"tool":"Sh","input":{"command":"a && b"},"cwd":"/srv"}`, false},
		{"another folder", stored, interrupt.Approval, `{"tool":"Bash","input":{"command":"a && b"},"cwd":"/"}`, false},
		{"another kind", stored, interrupt.Clarify, asked, false},
		{"not JSON", stored, interrupt.Approval, `{`, false},
		{"a plain yes", true, interrupt.Approval, asked, false},
		{"a reply that names no call", api.RequestReply{ID: "1", Status: api.Allowed}, interrupt.Approval, asked, false},
		{"a nil interrupt", (*interrupt.Error)(nil), interrupt.Approval, asked, false},
		{"an interrupt without an id", &interrupt.Error{Kind: interrupt.Approval, Payload: stored.Payload},
			interrupt.Approval, asked, false},
		{"an interrupt that asked nothing", &interrupt.Error{Kind: interrupt.Approval, RequestID: "1"},
			interrupt.Approval, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := interrupt.WithResumeValue(t.Context(), test.value)
			ctx = interrupt.WithResumeValue(ctx, approval("of another call"))
			got, ok := interrupt.ResumeFor(ctx, test.kind, []byte(test.payload))
			if ok != test.want || ok && got.Interrupt.RequestID != "1" {
				t.Errorf("got %+v, %v, want %v", got, ok, test.want)
			}
		})
	}
	if _, ok := interrupt.ResumeFor(context.Background(), interrupt.Approval, []byte(asked)); ok {
		t.Error("a run that is not resumed resumes")
	}
}

// TestStored: encoding/json escapes what it stores, and the call is found all the same.
func TestStored(t *testing.T) {
	const asked = `{"input":{"command":"a && b > c"}}`
	text, err := json.Marshal(interrupt.Error{
		Kind: interrupt.Approval, RequestID: "1", Payload: json.RawMessage(asked),
	})
	if err != nil {
		t.Fatal(err)
	}
	var stored interrupt.Error
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	ctx := interrupt.WithResumeValue(t.Context(), &stored)
	if _, ok := interrupt.ResumeFor(ctx, interrupt.Approval, []byte(asked)); !ok {
		t.Errorf("%s does not resume what asked %s", text, asked)
	}
}

func TestUndecidedErrorSaysSo(t *testing.T) {
	err := error(&interrupt.UndecidedError{RequestID: "1", Outcome: api.TimedOut})
	if got, want := err.Error(), "nobody decided: request 1 was timed_out"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func ExampleGet() {
	// deep in a tool
	err := fmt.Errorf("run the tool: %w", &interrupt.Error{Kind: interrupt.Approval, RequestID: "0192f0c1"})

	// at the top of the agent
	if i, ok := interrupt.Get(err); ok {
		fmt.Println("stop for", i.Kind, "and keep", i.RequestID)
	}
	// Output: stop for approval and keep 0192f0c1
}
