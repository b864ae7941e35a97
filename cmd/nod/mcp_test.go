package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// Messages pass, and the other lines are refused.
func TestMessages(t *testing.T) {
	const ping, code = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":`
	withID := func(id string) string { return strings.Replace(ping, ":1,", ":"+id+",", 1) + "\n" }
	for in, want := range map[string]struct{ passed, refused string }{
		"":                                    {},
		ping + "\r\n \n" + ping + " ":         {ping + "\n" + ping + "\n", ""},
		withID(`"1.5"`):                       {withID(`"1.5"`), ""},
		withID("-9007199254740992"):           {withID("-9007199254740992"), ""},
		`{"jsonrpc":"2.0","method":"m"}`:      {`{"jsonrpc":"2.0","method":"m"}` + "\n", ""},
		"garbage\n" + ping:                    {ping + "\n", "-32700"},
		ping + ping + "\n" + ping[:9]:         {"", "-32700 -32700"},
		"[" + ping + "]\n{}\n1\n\"text\"":     {"", "-32600 -32600 -32600 -32600"},
		`{"id":1,"method":"ping"}`:            {"", "-32600"},
		withID("true") + withID("null"):       {"", "-32600 -32600"},
		withID("{}") + withID("[1]"):          {"", "-32600 -32600"},
		withID("1.5") + withID("1e3"):         {"", "-32600 -32600"},
		withID("9007199254740993"):            {"", "-32600"},
		withID("-9007199254740993"):           {"", "-32600"},
		withID("18446744073709551616"):        {"", "-32600"},
		withID("-9223372036854775808") + ping: {ping + "\n", "-32600"},
	} {
		var refusals bytes.Buffer
		passed, err := io.ReadAll(messages(strings.NewReader(in), &refusals))
		if err != nil || string(passed) != want.passed {
			t.Errorf("%q: passed %q, %v, want %q", in, passed, err, want.passed)
		}
		var refused []string
		for line := range strings.Lines(refusals.String()) {
			refused = append(refused, strings.Split(strings.TrimPrefix(line, code), ",")[0])
		}
		if got := strings.Join(refused, " "); got != want.refused {
			t.Errorf("%q: refused with %q, want %q", in, got, want.refused)
		}
	}
}
