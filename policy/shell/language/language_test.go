package language_test

import (
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
