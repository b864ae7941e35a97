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
func (n Notifications) Quiet(at time.Time) bool {
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

func (n Notifications) hasQuiet(day time.Weekday) bool {
	return len(n.QuietDays) == 0 || slices.Contains(n.QuietDays, Days[day])
}

// Mutes reports whether the agent never draws attention.
func (n Notifications) Mutes(agent string) bool { return slices.Contains(n.Muted, agent) }

// Shortcut is a combination of keys.
type Shortcut struct {
	Ctrl, Alt, Shift, Super bool
	Key                     string // A to Z, 0 to 9, F1 to F12 or Space
}

// ParseShortcut reads a combination such as Ctrl+Alt+N. It refuses combinations that produce text.
func ParseShortcut(s string) (Shortcut, error) {
	const want = "want a combination such as Ctrl+Alt+N"
	var c Shortcut
	keys := strings.Split(strings.ReplaceAll(s, " ", ""), "+")
	for _, name := range keys[:len(keys)-1] {
		held := map[string]*bool{"ctrl": &c.Ctrl, "alt": &c.Alt, "shift": &c.Shift, "super": &c.Super}[strings.ToLower(name)]
		if held == nil || *held {
			return c, fmt.Errorf("%q in %q is not Ctrl, Alt, Shift or Super, or appears twice: %s", name, s, want)
		}
		*held = true
	}
	last := keys[len(keys)-1]
	i := slices.IndexFunc(shortcutKeys, func(key string) bool { return strings.EqualFold(key, last) })
	switch {
	case i < 0:
		return c, fmt.Errorf("%q in %q is not a letter, digit, F1 to F12 or Space: %s", last, s, want)
	case !c.Ctrl && !c.Alt && !c.Super:
		return c, fmt.Errorf("%q lacks Ctrl, Alt or Super: %s", s, want)
	}
	c.Key = shortcutKeys[i]
	return c, nil
}

var shortcutKeys = append(strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", ""),
	"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "Space")

// String writes the combination as [ParseShortcut] reads it.
func (c Shortcut) String() string {
	var keys []string
	for _, held := range []struct {
		down bool
		name string
	}{{c.Ctrl, "Ctrl"}, {c.Alt, "Alt"}, {c.Shift, "Shift"}, {c.Super, "Super"}} {
		if held.down {
			keys = append(keys, held.name)
		}
	}
	return strings.Join(append(keys, c.Key), "+")
}
