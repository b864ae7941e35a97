package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Days are the days of the week as the file writes them, in the order of [time.Weekday].
var Days = [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseHours reads hours such as 22:00-07:00, which may end the next day.
func ParseHours(s string) (from, to time.Duration, err error) {
	first, last, _ := strings.Cut(s, "-")
	from, errFrom := timeOfDay(first)
	to, errTo := timeOfDay(last)
	if err := errors.Join(errFrom, errTo); err != nil || from == to {
		return 0, 0, fmt.Errorf("%q: want two different times of the day, as in 22:00-07:00", s)
	}
	return from, to, nil
}

func timeOfDay(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", strings.TrimSpace(s))
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err
}

// Quiet reports whether nod draws no attention at that time.
func (n notifications) Quiet(at time.Time) bool {
	from, to, err := ParseHours(n.QuietHours)
	if n.DoNotDisturb || err != nil { // or no hours are set
		return n.DoNotDisturb
	}
	now := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	if to < from { // past midnight
		to += day
	}
	today, yesterday := at.Weekday(), (at.Weekday()+6)%7
	return n.hasQuiet(today) && from <= now && now < to || n.hasQuiet(yesterday) && now+day < to
}

func (n notifications) hasQuiet(day time.Weekday) bool {
	return len(n.QuietDays) == 0 || slices.Contains(n.QuietDays, Days[day])
}

// Mutes reports whether the agent never draws attention.
func (n notifications) Mutes(agent string) bool { return slices.Contains(n.Muted, agent) }
