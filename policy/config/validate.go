package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

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
	if _, _, err := ParseHours(c.Notifications.QuietHours); err != nil && c.Notifications.QuietHours != "" {
		add("notifications.quiet_hours", err.Error())
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
	c.Remote.check(add)
	return append(found, c.Policy.Problems()...)
}

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

// The kinds of [Machine].
const (
	MachineSSH    = "ssh"
	MachineDocker = "docker"
	MachinePodman = "podman"
)

// PushWeb as [Phone.Push] is Web Push, of the device's own browser.
const PushWeb = "webpush"

// maxMachines limits the connections: each is a process.
const maxMachines = 100

// String returns the machine as windows name it.
func (m Machine) String() string { return m.Kind + " " + m.Host }

// Check returns an error if m is invalid. nod runs no command for an invalid machine.
func (m Machine) Check() error {
	if problem := cmp.Or(m.checkKind(), m.checkHost()); problem != "" {
		return errors.New(problem)
	}
	return nil
}

// Check returns an error if the address or the prefix is invalid. It does not show the address: that may hold a
// password.
func (n NATS) Check() error {
	if problem := cmp.Or(checkServers(n.URL), checkPrefix(n.Prefix)); problem != "" {
		return errors.New(problem)
	}
	return nil
}

func (r Remote) check(add func(key, problem string)) {
	if len(r.Machines) > maxMachines {
		add("remote.machines",
			fmt.Sprintf("%d of them: want at most %d; more meet at a NATS server", len(r.Machines), maxMachines))
		return
	}
	for i, m := range r.Machines {
		add(fmt.Sprintf("remote.machines[%d].kind", i), m.checkKind())
		add(fmt.Sprintf("remote.machines[%d].host", i), m.checkHost())
		if slices.Contains(r.Machines[:i], m) {
			add(fmt.Sprintf("remote.machines[%d]", i), fmt.Sprintf("%q appears twice: remove one of them", m))
		}
	}
	add("remote.nats.url", checkServers(r.NATS.URL))
	add("remote.nats.credentials", checkFile(r.NATS.Credentials))
	add("remote.nats.ca", checkFile(r.NATS.CA))
	add("remote.nats.prefix", checkPrefix(r.NATS.Prefix))
	add("remote.phone.address", checkOwnAddress(r.Phone.Address))
	add("remote.phone.push", checkPush(r.Phone.Push))
	add("remote.hand_over", checkRange(r.HandOver, 0, time.Hour))
}

var (
	// ssh hands the host to commands of its configuration: it must contain no shell syntax, and neither host nor user
	// may look like a flag.
	sshHost = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(ssh://)?([\pL\pN_][\pL\pN_.+-]*@)?` +
			`(\[[0-9a-fA-F:.]+\](:[0-9]+)?|[\pL\pN_:][\pL\pN_.:-]*)$`)
	})
	container = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`) })
	// A prefix is one token of the subjects.
	natsToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,32}$`) })
)

func (m Machine) checkKind() string {
	return policy.CheckOneOf(m.Kind, MachineSSH, MachineDocker, MachinePodman)
}

func (m Machine) checkHost() string {
	switch {
	case len(m.Host) > 255 || m.Kind != MachineSSH && !container().MatchString(m.Host):
		return fmt.Sprintf("%q: want the name of a container, which has letters, digits, _ . and -", m.Host)
	case m.Kind == MachineSSH && !sshHost().MatchString(m.Host):
		return fmt.Sprintf("%q: want a host as ssh knows it, such as build-1 or me@build-1; "+
			"what else ssh is to know of it is for its own configuration", m.Host)
	}
	return ""
}

func checkServers(servers string) string {
	if servers == "" {
		return ""
	}
	for server := range strings.SplitSeq(servers, ",") {
		u, err := url.Parse(server)
		if err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" ||
			hasHidden(server) {
			return "want the address of a server, such as tls://nats.example.com:4222; several with commas and no spaces"
		}
	}
	return ""
}

func checkPrefix(prefix string) string {
	if prefix != "" && !natsToken().MatchString(prefix) {
		return fmt.Sprintf("%q: want a prefix of up to 32 letters, digits, - and _", prefix)
	}
	return ""
}

func checkFile(path string) string {
	if path != "" && (!filepath.IsAbs(path) || hasHidden(path)) {
		return fmt.Sprintf("%q: want the absolute path of a file", path)
	}
	return ""
}

// checkOwnAddress requires one address: listening on all would expose nod to unexpected networks.
func checkOwnAddress(address string) string {
	if address == "" {
		return ""
	}
	const want = "want an IP address of this machine with a port, such as 100.64.0.7:7464"
	at, err := netip.ParseAddrPort(address)
	ip := at.Addr()
	switch {
	case err != nil || at.Port() == 0 || ip.Zone() != "" || ip.Is4In6() || ip.IsMulticast():
		return fmt.Sprintf("%q: %s", address, want)
	case ip.IsUnspecified():
		return fmt.Sprintf("%q is reached from every network: %s", address, want)
	}
	return ""
}

func checkPush(to string) string {
	if to == "" || to == PushWeb {
		return ""
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" || hasHidden(to) {
		return fmt.Sprintf("%q: want %s, or the https address of a topic at an ntfy server", to, PushWeb)
	}
	return ""
}

func hasHidden(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}
