package prompt

import "testing"

// An input that two readers could understand differently is not taken apart.
func TestParseArgumentsIsStrict(t *testing.T) {
	bad := []string{
		``, `[]`, `{} {}`, `{"a":"\ud800"}`, `{"a":"\udc00"}`, `{"a":"\ud800\ud800"}`, `{"\ud800":1}`, "{\"a\":\"\xff\"}",
		`{"a":1,"\u0061":2}`, `{"x":{"a":1,"a":2}}`, `{"a":[{"b":1,"b":2}]}`,
	}
	for _, input := range bad {
		if _, ok := parseArguments([]byte(input)); ok {
			t.Errorf("%q is taken", input)
		}
	}
	for _, input := range []string{" {\n} ", `{"a":"\ud83d\ude00"}`, `{"a":{"a":1}}`, `{"a":"\\ud800"}`} {
		if _, ok := parseArguments([]byte(input)); !ok {
			t.Errorf("%q is not taken", input)
		}
	}
}
