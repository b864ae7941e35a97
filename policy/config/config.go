// Package config keeps the file that a person edits, config.yaml: it reads the file strictly, writes changes without
// touching what a person wrote around them, watches it, and holds back what other programs write into it.
package config

import (
	"fmt"
	"slices"
	"time"

	strict "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"nod/policy"
)

// Config is everything config.yaml holds. The zero value is not useful: start from [Default].
type Config struct {
	IPC           IPC           `yaml:"ipc"`
	Prompt        Prompt        `yaml:"prompt"`
	Notifications Notifications `yaml:"notifications"`
	Look          Look          `yaml:"look"`
	Agents        Agents        `yaml:"agents"`
	History       History       `yaml:"history"`
	Remote        Remote        `yaml:"remote"`
	Policy        policy.Policy `yaml:"policy"`
}

// IPC says where nod listens.
type IPC struct {
	Address string `yaml:"address"` // loopback host:port; port 0 picks a free one
}

// Prompt says how prompts behave.
type Prompt struct {
	// Timeout is how long a request without its own time-out waits; 1s to 24h.
	Timeout time.Duration `yaml:"timeout"`
	// ArmAfter is how long the prompt must be visible, focused and unchanged before Allow works; 700ms to 10s.
	ArmAfter time.Duration `yaml:"arm_after"`
	// KeepReady is how long the windows stay loaded when nobody needs them; 0s to 24h.
	KeepReady time.Duration `yaml:"keep_ready"`
	// Undo is how long an answer, or the deletion of a rule, can be undone; a denial is held for as long. 0s to 60s.
	Undo time.Duration `yaml:"undo"`
	// OnTop keeps the prompt above other windows where the desktop allows.
	OnTop bool `yaml:"on_top"`
	// Appear is how a prompt comes: one of [AppearFocused], [AppearUnfocused] and [AppearInTray].
	Appear string `yaml:"appear"`
	// Locked is what becomes of the time to answer while the screen is locked: one of [LockedCount] and [LockedWait].
	Locked string `yaml:"locked"`
	// Shortcut brings nod up from anywhere, as [ParseShortcut] reads it; empty: none.
	Shortcut string `yaml:"shortcut"`
}

// The ways in which a prompt comes.
const (
	AppearFocused   = "focused"   // it is shown, and takes the keyboard
	AppearUnfocused = "unfocused" // it is shown, and leaves the keyboard where it is
	AppearInTray    = "tray"      // it waits in the tray, with a notification, until the person asks for it
)

// What becomes of the time to answer while the screen is locked.
const (
	LockedCount = "count" // it goes by as ever
	LockedWait  = "wait"  // it stands still, for as long as the caller can wait
)

// Notifications says when nod draws attention.
type Notifications struct {
	Prompts bool `yaml:"prompts"` // announce a waiting prompt
	Notices bool `yaml:"notices"` // pass on what agents send with notify
	Sound   bool `yaml:"sound"`   // announce with the desktop's sound
	// DoNotDisturb means that nod draws no attention: no notification, no sound, and prompts wait in the tray.
	DoNotDisturb bool `yaml:"do_not_disturb"`
	// QuietHours are the same, every day from one time to another, as [ParseHours] reads them; empty: none.
	QuietHours string `yaml:"quiet_hours"`
	// QuietDays are the days on which QuietHours begin, as in [Days]; none: every day.
	QuietDays []string `yaml:"quiet_days"`
	// Muted are agents that never draw attention: to them DoNotDisturb always applies.
	Muted []string `yaml:"muted"`
}

// Look says how nod looks.
type Look struct {
	Theme    string `yaml:"theme"`    // system, light or dark
	Language string `yaml:"language"` // system, en or zh-CN
}

// Agents says how nod works with coding agents.
type Agents struct {
	Strict []string `yaml:"strict"` // agents whose hooks deny while nod-desktop isn't running
	// AskMore asks also about calls that no rule speaks of where the person has put the agent into a mode in which it
	// asks less, such as Claude Code's acceptEdits or auto.
	AskMore bool `yaml:"ask_more"`
}

// History says what nod keeps of what was asked.
type History struct {
	Keep       time.Duration `yaml:"keep"`        // for how long: 1 to 36500 days
	MaxSize    int           `yaml:"max_size"`    // in MB: 10 to 100000; above it the oldest goes
	KeepInputs bool          `yaml:"keep_inputs"` // the exact inputs, too; else only their digests
	// Forward is where each outcome is sent as a line of JSON: the absolute path of a file, or [ForwardSyslog]; empty:
	// nowhere.
	Forward string `yaml:"forward"`
}

// Remote says how nod reaches beyond this machine.
type Remote struct {
	Machines []Machine `yaml:"machines"` // to which nod keeps a line
	NATS     NATS      `yaml:"nats"`     // that connects machines, and desks that share them
	Phone    Phone     `yaml:"phone"`    // the page for phones
	// HandOver is how long a prompt waits for the person here before devices are told of it; 0s to 1h. While the screen is
	// locked, nod is paused or it is quiet, it counts from the start of the prompt all the same.
	HandOver time.Duration `yaml:"hand_over"`
}

// Machine is one that nod keeps a line to, by a command of the person's own.
type Machine struct {
	Kind string `yaml:"kind"` // ssh, docker or podman
	Host string `yaml:"host"` // as ssh knows it, such as me@build-1; or the name of the container
}

// NATS is where machines and desks meet.
type NATS struct {
	URL         string `yaml:"url"`         // such as tls://nats.example.com; several with commas; empty: nowhere
	Credentials string `yaml:"credentials"` // absolute path of a .creds file; empty: none
	CA          string `yaml:"ca"`          // absolute path of certificates to trust in place of the system's; empty: none
	Prefix      string `yaml:"prefix"`      // of the names of streams, buckets and subjects
}

// Phone is the page on which devices answer.
type Phone struct {
	Address string `yaml:"address"` // IP address and port to serve it at; empty: it is off
	Push    string `yaml:"push"`    // wakes devices: [PushWeb], or the https address of a topic of ntfy; empty: nothing
}

// ForwardSyslog as [History.Forward] is the system's log.
const ForwardSyslog = "syslog"

// Default is the configuration of a fresh installation.
func Default() Config {
	return Config{
		IPC: IPC{Address: "127.0.0.1:7463"},
		Prompt: Prompt{
			Timeout: 5 * time.Minute, ArmAfter: 700 * time.Millisecond, KeepReady: 10 * time.Minute,
			Undo: 10 * time.Second, OnTop: true, Appear: AppearFocused, Locked: LockedCount,
		},
		Notifications: Notifications{Prompts: true, Notices: true, Sound: true},
		Look:          Look{Theme: "system", Language: "system"},
		History:       History{Keep: 90 * day, MaxSize: 1000, KeepInputs: true},
		Remote:        Remote{NATS: NATS{Prefix: "nod"}, HandOver: 30 * time.Second},
		Policy:        policy.Default(),
	}
}

// Clone returns a copy that shares nothing with the configuration.
func (c Config) Clone() Config {
	c.Policy = c.Policy.Clone()
	c.Agents.Strict = slices.Clone(c.Agents.Strict)
	c.Notifications.QuietDays = slices.Clone(c.Notifications.QuietDays)
	c.Notifications.Muted = slices.Clone(c.Notifications.Muted)
	c.Remote.Machines = slices.Clone(c.Remote.Machines)
	return c
}

// Equal reports whether two configurations say the same.
func (c Config) Equal(o Config) bool {
	return c.IPC == o.IPC && c.Prompt == o.Prompt && len(changes(c.Notifications, o.Notifications)) == 0 &&
		c.Look == o.Look && slices.Equal(c.Agents.Strict, o.Agents.Strict) && c.Agents.AskMore == o.Agents.AskMore &&
		c.History == o.History && c.Remote.equal(o.Remote) && c.Policy.Equal(o.Policy)
}

// UnmarshalJSON reads what encoding/json writes. A field that this nod does not know is an error: it would be lost.
func (c *Config) UnmarshalJSON(data []byte) error {
	type plain Config
	asWritten := jsonv1.FormatDurationAsNano(true)
	if err := strict.Unmarshal(data, (*plain)(c), strict.RejectUnknownMembers(true), asWritten); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	return nil
}
