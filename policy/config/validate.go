package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"nod/policy"
)

// Limits of the history: time, and size in MB.
const (
	maxKeep    = 36500 * day
	maxHistory = 100000
)

// Validate reports every problem of a configuration as [*policy.FieldError] values.
func (c Config) Validate() error {
	var errs []error
	for _, p := range c.allProblems() {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// allProblems lists the problems of values. If there are none, it lists failing examples.
func (c Config) allProblems() []*policy.FieldError {
	if found := c.problems(); len(found) > 0 {
		return found
	}
	return c.Policy.FailedExamples(policy.DefaultPlaces())
}

func (c Config) problems() []*policy.FieldError {
	var found []*policy.FieldError
	add := func(key, problem string) {
		if problem != "" {
			found = append(found, &policy.FieldError{Key: key, Problem: problem})
		}
	}
	add("ipc.address", checkAddress(c.IPC.Address))
	add("prompt.timeout", checkRange(c.Prompt.Timeout, time.Second, 24*time.Hour))
	add("prompt.arm_after", checkRange(c.Prompt.ArmAfter, 700*time.Millisecond, 10*time.Second))
	add("prompt.keep_ready", checkRange(c.Prompt.KeepReady, 0, 24*time.Hour))
	add("prompt.undo", checkRange(c.Prompt.Undo, 0, time.Minute))
	add("prompt.appear", policy.CheckOneOf(c.Prompt.Appear, AppearFocused, AppearUnfocused, AppearInTray))
	add("prompt.locked", policy.CheckOneOf(c.Prompt.Locked, LockedCount, LockedWait))
	if c.Prompt.Shortcut != "" {
		_, err := ParseShortcut(c.Prompt.Shortcut)
		add("prompt.shortcut", problem(err))
	}
	if c.Notifications.QuietHours != "" {
		_, _, err := ParseHours(c.Notifications.QuietHours)
		add("notifications.quiet_hours", problem(err))
	}
	for i, day := range c.Notifications.QuietDays {
		add(fmt.Sprintf("notifications.quiet_days[%d]", i), policy.CheckOneOf(day, Days[:]...))
	}
	found = append(found, policy.CheckAgents("notifications.muted", c.Notifications.Muted)...)
	add("look.theme", policy.CheckOneOf(c.Look.Theme, "system", "light", "dark"))
	add("look.language", policy.CheckOneOf(c.Look.Language, "system", "en", "zh-CN"))
	found = append(found, policy.CheckAgents("agents.strict", c.Agents.Strict)...)
	add("history.keep", checkRange(c.History.Keep, day, maxKeep))
	if size := c.History.MaxSize; size < 10 || size > maxHistory {
		add("history.max_size", fmt.Sprintf("%d: want 10 to %d (MB)", size, maxHistory))
	}
	if to := c.History.Forward; to != "" && to != ForwardSyslog && !filepath.IsAbs(to) {
		add("history.forward", fmt.Sprintf("%q: want the absolute path of a file, or %s", to, ForwardSyslog))
	}
	return slices.Concat(found, c.Remote.problems(), c.Policy.Problems())
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// checkAddress accepts loopback addresses only.
func checkAddress(address string) string {
	const want = "want a loopback address with a port, as in 127.0.0.1:7463"
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Sprintf("%q: %s", address, want)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Sprintf("%q: the port is no number from 0 to 65535: %s", address, want)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback() || ip.Zone() != "") {
		return fmt.Sprintf("%q could be reached from elsewhere: %s", address, want)
	}
	return ""
}

func checkRange(d, least, most time.Duration) string {
	if d < least || d > most {
		return fmt.Sprintf("%s: want %s to %s", FormatDuration(d), FormatDuration(least), FormatDuration(most))
	}
	return ""
}
