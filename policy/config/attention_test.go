package config

import (
	"strings"
	"testing"
	"time"
)

func TestQuiet(t *testing.T) {
	at := func(s string) time.Time { // in a week that begins with a Sunday, the first
		clock, err := time.Parse("2 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 2, clock.Day(), clock.Hour(), clock.Minute(), 59, 0, time.UTC)
	}
	tests := []struct {
		hours, days string
		at          string
		want        bool
	}{
		{"", "", "3 23:00", false},
		{"22:00-07:00", "", "3 21:59", false},
		{"22:00-07:00", "", "3 22:00", true},
		{"22:00-07:00", "", "3 00:00", true},
		{"22:00-07:00", "", "3 06:59", true},
		{"22:00-07:00", "", "3 07:00", false},
		{"12:00-13:00", "", "3 12:30", true},
		{"12:00-13:00", "", "3 13:00", false},
		{"00:00-23:59", "", "3 23:58", true},
		{"22:00-07:00", "fri", "6 22:00", true},  // Friday evening
		{"22:00-07:00", "fri", "7 06:59", true},  // which lasts into Saturday
		{"22:00-07:00", "fri", "6 06:59", false}, // and not from Thursday
		{"22:00-07:00", "fri", "7 22:00", false},
		{"22:00-07:00", "sat", "8 03:00", true}, // over the end of the week
		{"12:00-13:00", "sun mon", "2 12:00", true},
		{"12:00-13:00", "sun mon", "3 12:00", false},
	}
	for _, tt := range tests {
		n := notifications{QuietHours: tt.hours, QuietDays: strings.Fields(tt.days)}
		if got := n.Quiet(at(tt.at)); got != tt.want {
			t.Errorf("%s on %q at %s: %v, want %v", tt.hours, tt.days, tt.at, got, tt.want)
		}
		if n.DoNotDisturb = true; !n.Quiet(at(tt.at)) {
			t.Errorf("%s: disturbs all the same", tt.hours)
		}
	}
}

func TestParseHours(t *testing.T) {
	for _, s := range []string{"", "22:00", "22:00-", "-7:00", "22:00-22:00", "24:00-7:00", "22:60-7:00", "22-7",
		"a-b", "22:00-07:00-08:00"} {
		if from, to, err := ParseHours(s); err == nil {
			t.Errorf("%q: %v to %v, want an error", s, from, to)
		}
	}
	from, to, err := ParseHours("22:30 - 7:00")
	if err != nil || from != 22*time.Hour+30*time.Minute || to != 7*time.Hour {
		t.Errorf("%v to %v, %v", from, to, err)
	}
}
