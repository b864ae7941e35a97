package language_test

import (
	"strings"
	"testing"

	"nod/policy/shell/language"
)

func TestWordsHas(t *testing.T) {
	const all language.Words = "-a --all --all-match all -x"
	for word, want := range map[string]bool{
		"-a": true, "--all": true, "--all-match": true, "all": true, "-x": true,
		"": false, " ": false, "-": false, "--": false, "match": false, "--all-": false, "a": false,
		"-a --all": false, " all": false, "all ": false, "-x ": false, "--all-match all": false,
	} {
		if got := all.Has(word); got != want {
			t.Errorf("Has(%q) = %t, want %t", word, got, want)
		}
	}
}

func TestWildcard(t *testing.T) {
	tests := []struct {
		glob, name string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b", true}, {"?", "", false}, {"?", "中", true},
		{"a*", "a", true}, {"a*c", "abcbc", true}, {"a*c", "abcb", false}, {"*b*", "abc", true}, {"a?c", "abc", true},
		{"a?c", "ac", false}, {"a**c", "ac", true}, {`a\*`, `a\x`, true}, {"[a]", "a", false}, {"a", "A", false},
	}
	for _, tt := range tests {
		if got := language.Wildcard(tt.glob, tt.name); got != tt.want {
			t.Errorf("%q on %q: %v, want %v", tt.glob, tt.name, got, tt.want)
		}
	}
	hostile := strings.Repeat("*a", 50) + "b" // must not take for ever
	if language.Wildcard(hostile, strings.Repeat("a", 2000)) {
		t.Error("matched")
	}
}
