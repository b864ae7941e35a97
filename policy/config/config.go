// Package config keeps config.yaml, the file that the user edits: it reads the file strictly, changes values without
// touching the rest, watches it, and holds back changes by other programs. Its [Store] also keeps the calls that the
// user allowed for longer than once, and decides calls by these grants and the file together.
package config

import (
	"slices"
	"time"

	"nod/policy"
)

// Config is the content of config.yaml. The zero value is not useful: start from [Default].
type Config struct {
	IPC           ipc           `yaml:"ipc"`
	Prompt        Prompt        `yaml:"prompt"`
	Notifications notifications `yaml:"notifications"`
	Look          look          `yaml:"look"`
	Agents        agents        `yaml:"agents"`
	History       History       `yaml:"history"`
	Remote        Remote        `yaml:"remote"`
	Policy        policy.Policy `yaml:"policy"`
}

type ipc struct {
	Address string `yaml:"address"` // loopback host:port; port 0 picks a free one
}

// Prompt says how prompts behave.
type Prompt struct {
	// Timeout is how long a request without its own time-out waits; 1s to 24h.
	Timeout time.Duration `yaml:"timeout"`
	// ArmAfter is how long the prompt must be visible, focused and unchanged before Allow works; 700ms to 10s.
	ArmAfter time.Duration `yaml:"arm_after"`
	// KeepReady is how long idle windows stay loaded; 0s to 24h.
	KeepReady time.Duration `yaml:"keep_ready"`
	// Undo is how long the user can take back a saved approval or the deletion of a rule; 0s to 60s.
	Undo time.Duration `yaml:"undo"`
	// OnTop keeps the prompt above other windows if the desktop can.
	OnTop bool `yaml:"on_top"`
	// Appear is one of [AppearFocused], [AppearUnfocused] and [AppearInTray].
	Appear string `yaml:"appear"`
}

// Values of [Prompt.Appear].
const (
	AppearFocused   = "focused"   // shown, and takes the keyboard focus
	AppearUnfocused = "unfocused" // shown without taking the focus
	AppearInTray    = "tray"      // waits in the tray, with a notification
)

type notifications struct {
	Prompts bool `yaml:"prompts"` // announce a waiting prompt
	Notices bool `yaml:"notices"` // pass on what agents send with notify
	Sound   bool `yaml:"sound"`   // announce with the desktop's sound
	// DoNotDisturb suppresses notifications and sound, and keeps prompts in the tray.
	DoNotDisturb bool `yaml:"do_not_disturb"`
	// QuietHours turn DoNotDisturb on every day, as [ParseHours] reads them; may be empty.
	QuietHours string `yaml:"quiet_hours"`
	// QuietDays are the days on which QuietHours begin, as in [Days]; empty: every day.
	QuietDays []string `yaml:"quiet_days"`
	// Muted are the agents to which DoNotDisturb always applies.
	Muted []string `yaml:"muted"`
}

type look struct {
	Theme    string `yaml:"theme"`    // system, light or dark
	Language string `yaml:"language"` // system, en or zh-CN
}

type agents struct {
	Strict []string `yaml:"strict"` // agents whose hooks deny while nod-desktop isn't running
	// AskMore makes nod ask about calls without a rule even if the user put the agent into a mode that asks less, such
	// as Claude Code's acceptEdits or auto.
	AskMore bool `yaml:"ask_more"`
}

// History says what nod keeps of past requests.
type History struct {
	Keep       time.Duration `yaml:"keep"`        // 1 to 36500 days
	MaxSize    int           `yaml:"max_size"`    // in MB: 10 to 100000; the oldest entries are deleted first
	KeepInputs bool          `yaml:"keep_inputs"` // keep inputs, not only their digests
}

// Remote says how nod reaches other machines and phones.
type Remote struct {
	Machines []Machine `yaml:"machines"` // to connect to
	NATS     NATS      `yaml:"nats"`     // the cluster that connects machines and desks
	Phone    Phone     `yaml:"phone"`    // the page for phones
	// HandOver is how long a prompt waits for the user here before nod notifies devices; 0s to 1h. It counts from the
	// start of the prompt, even if the screen is locked, nod is paused or hours are quiet.
	HandOver time.Duration `yaml:"hand_over"`
}

// Machine is one that nod connects to by running a command.
type Machine struct {
	Kind string `yaml:"kind"` // ssh, docker or podman
	Host string `yaml:"host"` // as ssh knows it, such as me@build-1; or the container's name
}

// NATS is the cluster through which machines and desks connect.
type NATS struct {
	URL         string `yaml:"url"`         // such as tls://nats.example.com; several with commas; may be empty
	Credentials string `yaml:"credentials"` // absolute path of a .creds file; may be empty
	CA          string `yaml:"ca"`          // absolute path of certificates to trust, not the system's; may be empty
	Prefix      string `yaml:"prefix"`      // of the subjects; empty: nod
}

// Phone is the page on which phones answer.
type Phone struct {
	Address string `yaml:"address"` // IP address and port to listen on; empty: off
	Push    string `yaml:"push"`    // wakes devices: [PushWeb], or the https address of an ntfy topic; may be empty
}

// Default returns the configuration of a fresh installation.
func Default() Config {
	return Config{
		IPC: ipc{Address: "127.0.0.1:7463"},
		Prompt: Prompt{
			Timeout: 5 * time.Minute, ArmAfter: 700 * time.Millisecond, KeepReady: 10 * time.Minute,
			Undo: 10 * time.Second, OnTop: true, Appear: AppearFocused,
		},
		Notifications: notifications{Prompts: true, Notices: true, Sound: true},
		Look:          look{Theme: "system", Language: "system"},
		History:       History{Keep: 90 * day, MaxSize: 1000, KeepInputs: true},
		Remote:        Remote{NATS: NATS{Prefix: "nod"}, HandOver: 30 * time.Second},
		Policy:        policy.Default(),
	}
}

// Clone returns a deep copy.
func (c Config) Clone() Config {
	c.Policy = c.Policy.Clone()
	c.Agents.Strict = slices.Clone(c.Agents.Strict)
	c.Notifications.QuietDays = slices.Clone(c.Notifications.QuietDays)
	c.Notifications.Muted = slices.Clone(c.Notifications.Muted)
	c.Remote.Machines = slices.Clone(c.Remote.Machines)
	return c
}

func (c Config) equal(o Config) bool {
	return len(diff(c, o)) == 0
}
