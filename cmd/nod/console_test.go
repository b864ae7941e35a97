package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"nod/api"
	"nod/ipc/client"
	"nod/ipc/client/waiting"
)

// An interrupt at the question ends it, whatever is typed afterwards.
func TestConsentIsInterrupted(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	c := &console{in: in, err: io.Discard}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := c.consent(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestConsole(t *testing.T) {
	var out, complaints bytes.Buffer
	c := &console{out: &out, err: &complaints}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	check(c.print("a\x1b\n"))
	check(c.printReply(api.AskReply{Answer: "<\u202e>"}))
	c.terminal = true
	check(c.print("b\x1b\n"))
	check(c.printReply(api.AskReply{Answer: "<\u202e>"}))
	const reply = `{"id":"","outcome":"","answer":"<`
	if got, want := out.String(), "a\x1b\n"+reply+"\u202e>\"}\nb\\u001b\n"+reply+`\u202e>"}`+"\n"; got != want {
		t.Errorf("out %q, want %q", got, want)
	}
	c.complain("ask", "two\nlines \x1b[0m")
	if got, want := complaints.String(), "nod: ask: two\\nlines \\u001b[0m\n"; got != want {
		t.Errorf("err %q, want %q", got, want)
	}
}

// A standard input to which nobody writes is read until the user interrupts.
func TestReadUntilInterrupted(t *testing.T) {
	in, nobody := io.Pipe()
	defer nobody.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	c := &console{in: in}
	if _, err := c.readFile(ctx, "-"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// concluded is how nod ends after a command that ended with err, and what it says about that.
func concluded(err error) (status, string) {
	var complaints strings.Builder
	c := &console{err: &complaints, ran: true}
	return status(c.conclude(context.Background(), &cobra.Command{Use: "nod"}, err)), complaints.String()
}

// TestStatus: no error, however wrapped, is ever exit status 0.
func TestStatus(t *testing.T) {
	problem := func(code api.Code, outcome api.Outcome) error {
		return &client.Problem{Problem: api.Problem{Code: code, Outcome: outcome}}
	}
	tests := []struct {
		err  error
		want status
	}{
		{wrongUsage("x"), exitUsage},
		{fmt.Errorf("also: %w", wrongUsage("x")), exitUsage},
		{inputError("f", errors.New("x")), exitUsage},
		{client.ErrNotRunning, exitUnreachable},
		{fmt.Errorf("%w: user 1", client.ErrForeign), exitUnreachable},
		{&client.LostError{Err: errors.New("EOF")}, exitUnreachable},
		{unreachable(fs.ErrPermission), exitUnreachable},
		{waiting.ErrHung, exitUnreachable},
		{&client.Pending{PendingReply: api.PendingReply{ID: "1"}}, exitUnanswered},
		{errors.New("x"), exitOther},
		{problem(api.CodeInvalidParam, ""), exitUsage},
		{problem(api.CodeInvalidPath, ""), exitUsage},
		{problem(api.CodeTooLarge, ""), exitUsage},
		{problem(api.CodeNotFound, ""), exitUsage},
		{problem(api.CodeTimeout, api.TimedOut), exitUnanswered},
		{problem(api.CodeTimeout, ""), exitUnanswered},
		{problem(api.CodeCancelled, api.Dismissed), exitDismissed},
		{problem(api.CodeCancelled, api.Withdrawn), exitDismissed},
		{problem(api.CodeCancelled, ""), exitDismissed},
		{problem(api.CodeNotSupported, api.Unavailable), exitUnanswered},
		{problem(api.CodeUnauthorized, ""), exitOther},
		{problem(api.CodeRateLimited, ""), exitOther},
		{problem("NEW", "new"), exitOther},
		{problem("NEW", api.Allowed), exitOther},
	}
	for _, test := range tests {
		if got, _ := concluded(errors.Join(test.err, errors.New("also this"))); got != test.want {
			t.Errorf("%v: exit status %d, want %d", test.err, got, test.want)
		}
	}
}

// TestStatusOfDecision: only an allow is 0, whatever else the reply says.
func TestStatusOfDecision(t *testing.T) {
	for outcome, want := range map[api.Outcome]status{
		api.Allowed: exitOther, api.Answered: exitOther, api.Denied: exitNo, api.TimedOut: exitUnanswered,
		api.Dismissed: exitDismissed, api.Withdrawn: exitDismissed, api.Cancelled: exitDismissed,
		api.Unavailable: exitUnanswered, "": exitOther, "new": exitOther,
	} {
		if got := statusOfDecision(api.ApproveReply{Decision: api.Deny, Head: api.Head{Outcome: outcome}}); got != want {
			t.Errorf("deny, %q: exit status %d, want %d", outcome, got, want)
		}
	}
	allowed := api.ApproveReply{Decision: api.Allow, Head: api.Head{Outcome: api.Allowed}}
	if got := statusOfDecision(allowed); got != exitYes {
		t.Errorf("allow: exit status %d", got)
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{
			&client.Problem{
				Problem: api.Problem{Detail: "64 requests wait", Code: api.CodeRateLimited}, RetryAfter: 5 * time.Second,
			},
			"64 requests wait: try again in 5s",
		},
		{
			&client.Problem{Problem: api.Problem{Detail: "bad token", Code: api.CodeUnauthorized}},
			"bad token: nod-desktop restarted; try again",
		},
		{
			&client.Problem{Problem: api.Problem{Detail: "is empty", Param: "question", Code: api.CodeInvalidParam}},
			"question: is empty",
		},
		{
			&client.Problem{Problem: api.Problem{Detail: "question: is empty", Param: "question", Code: api.CodeInvalidParam}},
			"question: is empty",
		},
		{
			unreachable(fmt.Errorf("%w: dial unix", client.ErrNotRunning)),
			"nod-desktop isn't running; start it with: nod start",
		},
		{
			fmt.Errorf("%w: it runs as user 7", client.ErrForeign),
			"the server on nod's address belongs to another user: it runs as user 7: nod sent nothing to it; see: nod status",
		},
		{
			&client.LostError{Err: errors.New("EOF")},
			"lost nod-desktop before it answered: EOF: nobody decided; see: nod status",
		},
	}
	for _, test := range tests {
		if _, got := concluded(test.err); got != "nod: "+test.want+"\n" {
			t.Errorf("got  %s\nwant nod: %s", got, test.want)
		}
	}
}

// FuzzForm: any file gives a form or an error that names a line of it.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`[{"id":"a","question":"?"}]`, `{"questions":[],"timeout":1.5,"detach":true}`, `{"questions":[{"optoins":1}]}`,
		"{\n\"questions\":\n[1]}", `[`, ``, `null`, `[] []`, `{"timeout":"x"}`, "\xef\xbb\xbf[]", `{"":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := parseForm(text)
		if err == nil {
			if !json.Valid(text) {
				t.Error("a form that is not JSON")
			}
			return
		}
		var line int
		if n, scanErr := fmt.Sscanf(err.Error(), "line %d: ", &line); n != 1 || scanErr != nil {
			t.Fatalf("no line in %q", err)
		}
		if most := 1 + bytes.Count(text, []byte("\n")); line < 1 || line > most {
			t.Errorf("line %d of %d: %v", line, most, err)
		}
	})
}
