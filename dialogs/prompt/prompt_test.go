package prompt

import "testing"

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
