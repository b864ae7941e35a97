package version

import "testing"

func TestString(t *testing.T) {
	for _, tt := range []struct{ number, commit, date, want string }{
		{"1.2.3", "0123abcd4567", "2026-11-22T10:00:00+02:00", "1.2.3 (0123abcd, 2026-11-22)"},
		{"1.2.3", "0123abcd4567", "", "1.2.3 (0123abcd)"},
		{"1.2.3", "", "yesterday", "1.2.3"},
		{"1.2.3", "ab", "2026-11-22T00:00:00Z", "1.2.3 (ab, 2026-11-22)"},
	} {
		number, commit, date = tt.number, tt.commit, tt.date
		if got := Get().String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt, got, tt.want)
		}
	}
}

func TestUnstamped(t *testing.T) {
	number, commit, date = "", "", ""
	if Number() == "" {
		t.Error("a build without a stamp has no version")
	}
}
