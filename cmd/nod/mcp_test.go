package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// Messages pass unchanged, and the other lines are answered.
func TestMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for in, want := range map[string]struct{ passed, answers string }{
		"":                                     {},
		ping + "\r\n" + ping:                   {ping + "\r\n" + ping, ""},
		"[" + ping + "]\n":                     {"[" + ping + "]\n", ""},
		"garbage\n\n \n" + ping + "\n":         {ping + "\n", "-32700"},
		ping + ping + "\n" + ping[:9] + "\n{}": {"", "-32700 -32700 -32600"},
	} {
		var answers bytes.Buffer
		passed, err := io.ReadAll(messages(strings.NewReader(in), &answers))
		if err != nil || string(passed) != want.passed {
			t.Errorf("%q: passed %q, %v, want %q", in, passed, err, want.passed)
		}
		lines := strings.SplitAfter(answers.String(), "\n")
		for i, code := range strings.Fields(want.answers) {
			if !strings.HasPrefix(lines[i], `{"jsonrpc":"2.0","id":null,"error":{"code":`+code+`,`) {
				t.Errorf("%q: answer %d is %s, want %s", in, i, lines[i], code)
			}
		}
		if got := len(strings.Fields(want.answers)) + 1; len(lines) != got {
			t.Errorf("%q: %d answers: %q", in, len(lines)-1, lines)
		}
	}
}
