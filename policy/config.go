package policy

import "time"

// Config is everything config.yaml holds. The zero value is not useful: start from [Default].
type Config struct {
	IPC           IPCConfig          `yaml:"ipc" mapstructure:"ipc"`
	Prompt        PromptConfig       `yaml:"prompt" mapstructure:"prompt"`
	Notifications NotificationConfig `yaml:"notifications" mapstructure:"notifications"`
	Look          LookConfig         `yaml:"look" mapstructure:"look"`
	Agents        AgentsConfig       `yaml:"agents" mapstructure:"agents"`
	Policy        Policy             `yaml:"policy" mapstructure:"policy"`
}

// IPCConfig says where nod listens.
type IPCConfig struct {
	Address string `yaml:"address" mapstructure:"address"` // loopback host:port; port 0 picks a free one
}

// PromptConfig says how prompts behave.
type PromptConfig struct {
	Timeout  time.Duration `yaml:"timeout" mapstructure:"timeout"`     // how long a request without its own time-out waits; 1s to 24h
	ArmAfter time.Duration `yaml:"arm_after" mapstructure:"arm_after"` // visible, focused and unchanged this long before Allow works; 700ms to 10s
	OnTop    bool          `yaml:"on_top" mapstructure:"on_top"`       // keep the prompt above other windows where the desktop allows
}

// NotificationConfig says when the desktop's notification service is used.
type NotificationConfig struct {
	Prompts bool `yaml:"prompts" mapstructure:"prompts"` // announce a waiting prompt
	Notices bool `yaml:"notices" mapstructure:"notices"` // pass on what agents send with notify
}

// LookConfig says how nod looks.
type LookConfig struct {
	Theme    string `yaml:"theme" mapstructure:"theme"`       // system, light or dark
	Language string `yaml:"language" mapstructure:"language"` // system, en or zh-CN
}

// AgentsConfig says how nod works with coding agents.
type AgentsConfig struct {
	Strict []string `yaml:"strict" mapstructure:"strict"` // agents whose hooks deny while nod-desktop is away
}

// Policy is what decides calls: built-in knowledge, switched by a person, and the person's own rules.
type Policy struct {
	AutoAllow     []Class  `yaml:"auto_allow" mapstructure:"auto_allow"`         // classes that pass without a prompt
	AskEverything bool     `yaml:"ask_everything" mapstructure:"ask_everything"` // every allow becomes ask
	TrustedAgents []string `yaml:"trusted_agents" mapstructure:"trusted_agents"` // agents believed when they classify a tool nod does not know
	TrustedRoots  []string `yaml:"trusted_roots" mapstructure:"trusted_roots"`   // folders that a class may read in, and where git may be believed; none: everywhere, and git nowhere
	Rules         []Rule   `yaml:"rules" mapstructure:"rules"`
}

// Default is the configuration of a fresh installation.
func Default() Config {
	return Config{
		IPC:           IPCConfig{Address: "127.0.0.1:7463"},
		Prompt:        PromptConfig{Timeout: 5 * time.Minute, ArmAfter: 700 * time.Millisecond, OnTop: true},
		Notifications: NotificationConfig{Prompts: true, Notices: true},
		Look:          LookConfig{Theme: "system", Language: "system"},
		Policy:        Policy{AutoAllow: []Class{ReadOnly}},
	}
}
