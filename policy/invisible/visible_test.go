package invisible

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"plain\ttext\nof two lines, é 漢 😀", "plain\ttext\nof two lines, é 漢 😀"},
		{"\x1b[2J\x1b]0;title\a", `\u001b[2J\u001b]0;title\u0007`},
		{"a\rb\x00\x7f\u009b", `a\u000db\u0000\u007f\u009b`},
		{"\u202Eabc\u2069\u200B", `\u202eabc\u2069\u200b`},
		{"tag \U000E0041", `tag \udb40\udc41`},
		{"line\u2028end", `line\u2028end`},
		{"bad \xff\xc3(", `bad \xff\xc3(`},
		{"\uFFFD", `\ufffd`},
	}
	for _, test := range tests {
		if got := Visible(test.text); got != test.want {
			t.Errorf("Visible(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

// FuzzVisible: nothing hidden is left, what needs no spelling out stays, and JSON means the same.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b[0m", `{"a":"\u202e"}`, "{\"a\":\"\u202e\"}", "\xff", "\U000E0041", "\uFFFD",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if i := strings.IndexFunc(got, Hidden); i >= 0 {
			t.Errorf("%q is left in %q", got[i:], got)
		}
		if strings.IndexFunc(text, Hidden) < 0 && got != text {
			t.Errorf("%q became %q", text, got)
		}
		var before, after string
		if json.Unmarshal([]byte(text), &before) != nil || !json.Valid([]byte(text)) ||
			strings.ToValidUTF8(text, "") != text {
			return
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil || after != before {
			t.Errorf("%s means %q, %s means %q (%v)", text, before, got, after, err)
		}
	})
}
