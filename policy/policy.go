// Package policy decides which tool calls a person need not be asked about.
//
// A [Call] is what an agent wants to run; a [Rule] has an effect (allow, ask or deny) on the calls it
// matches; [Decide] weighs them all. The strictest effect wins and order never matters, so a rule can be
// read on its own: no other rule makes a deny softer. Whatever nod does not understand is asked about.
//
// [Decide] is pure. [Store] keeps the file that a person edits (config.yaml), watches it, and keeps the
// grants that come from answering prompts.
package policy

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"nod/policy/shell"
)

// Effect is what a rule does to the calls it matches.
type Effect string

// The effects, from lax to strict. The strictest that matches decides.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Class says what kind of harm a tool can do.
type Class string

// The classes, in rising order of care.
const (
	ReadOnly    Class = "read_only"
	Write       Class = "write"
	Execute     Class = "execute"
	Network     Class = "network"
	Destructive Class = "destructive"
	Unknown     Class = "unknown"
)

// Classes lists every class in rising order of care.
var Classes = []Class{ReadOnly, Write, Execute, Network, Destructive, Unknown}

// Call is one tool call that an agent wants to make.
type Call struct {
	Agent    string          // as the caller names itself; a claim
	Session  string          // the caller's session; a claim
	CWD      string          // absolute folder the caller says it works in; a claim
	Programs []string        // verified executables: the requesting process, then its ancestors, nearest first
	Tool     string          // the tool's name, exactly as the agent spells it
	Input    json.RawMessage // the tool's input: a JSON object
	Declared Class           // what the caller says the tool is; empty when it says nothing
}

// Decision is what the policy says of one call, and why.
type Decision struct {
	Effect Effect
	Rule   string // id of the rule, grant or built-in that decided; empty when nothing matched
	Reason string // one sentence a person can read
	Class  Class  // the class that counts
	Grant  bool   // Rule is the id of a grant: the human said so at an earlier prompt
}

// Rule has an effect on the calls it matches. An empty matcher matches everything; a rule with no matcher
// at all is refused when the file is read.
type Rule struct {
	ID       string   `yaml:"id" mapstructure:"id" json:"id"`
	Effect   Effect   `yaml:"effect" mapstructure:"effect" json:"effect"`
	Agent    string   `yaml:"agent,omitempty" mapstructure:"agent" json:"agent,omitempty"`                // exact name the caller gives itself
	Program  string   `yaml:"program,omitempty" mapstructure:"program" json:"program,omitempty"`          // doublestar pattern on a verified executable of the caller or its ancestors
	Tool     string   `yaml:"tool,omitempty" mapstructure:"tool" json:"tool,omitempty"`                   // glob on the tool's name: * and ?
	Class    Class    `yaml:"class,omitempty" mapstructure:"class" json:"class,omitempty"`                // the class that counts
	Path     string   `yaml:"path,omitempty" mapstructure:"path" json:"path,omitempty"`                   // doublestar pattern on every path in the input; ~ is the home folder
	Command  string   `yaml:"command,omitempty" mapstructure:"command" json:"command,omitempty"`          // the shell command, byte for byte
	Run      []string `yaml:"run,omitempty" mapstructure:"run" json:"run,omitempty"`                      // commands by their leading words and flags, such as go test: each part of a command line counts by itself
	CWD      string   `yaml:"cwd,omitempty" mapstructure:"cwd" json:"cwd,omitempty"`                      // doublestar pattern on the folder the call works in
	Session  string   `yaml:"session,omitempty" mapstructure:"session" json:"session,omitempty"`          // exact session, as the caller names it
	Server   string   `yaml:"mcp_server,omitempty" mapstructure:"mcp_server" json:"mcp_server,omitempty"` // glob on SERVER of a tool named mcp__SERVER__TOOL
	Host     string   `yaml:"host,omitempty" mapstructure:"host" json:"host,omitempty"`                   // of every address in the input: example.com, or *.example.com for all below it
	Args     []Arg    `yaml:"args,omitempty" mapstructure:"args" json:"args,omitempty"`                   // on fields of the input, all of them
	Expires  string   `yaml:"expires,omitempty" mapstructure:"expires" json:"expires,omitempty"`          // a day, which it still holds on, or a time as in RFC 3339; then it is no longer in force
	Disabled bool     `yaml:"disabled,omitempty" mapstructure:"disabled" json:"disabled,omitempty"`
	Note     string   `yaml:"note,omitempty" mapstructure:"note" json:"note,omitempty"`            // for the reader; never matched
	Examples Examples `yaml:"examples,omitempty" mapstructure:"examples" json:"examples,omitzero"` // must come out as they say, or the file is refused
}

// Arg is a matcher on one field of a tool's input.
type Arg struct {
	Field string `yaml:"field" mapstructure:"field" json:"field"` // name of a field, or a JSON pointer (RFC 6901) such as /options/force
	Value string `yaml:"value" mapstructure:"value" json:"value"` // glob on its text, number, true or false: * and ?
}

// Examples are calls that a rule is meant to match, and others that it is not. Each is a command, or a call as
// JSON: {"tool": …, "input": {…}, "agent": …, "session": …, "cwd": …, "program": …}. What it leaves out is as
// the rule wants it.
type Examples struct {
	Match   []string `yaml:"match,omitempty" mapstructure:"match" json:"match,omitempty"`
	NoMatch []string `yaml:"no_match,omitempty" mapstructure:"no_match" json:"no_match,omitempty"`
}

// SameRules reports whether two lists hold the same rules in the same order.
func SameRules(a, b []Rule) bool { return slices.EqualFunc(a, b, Rule.Equal) }

// Equal reports whether two rules say the same.
func (r Rule) Equal(o Rule) bool { return reflect.DeepEqual(r, o) }

// Scope says how long an allow that the human gave at a prompt holds.
type Scope string

// The scopes a prompt offers. Every one wider than Once is a [Grant].
const (
	Once        Scope = "once"
	ThisSession Scope = "session"
	QuarterHour Scope = "15m"
	UntilQuit   Scope = "quit" // until nod quits
	Always      Scope = "always"
)

// Scopes are all of them, from the narrowest.
var Scopes = []Scope{Once, ThisSession, QuarterHour, UntilQuit, Always}

// Cover says what an allow that is kept is about.
type Cover string

// What an allow that is kept may cover.
const (
	CoverInput    Cover = "input"    // exactly this input
	CoverCommands Cover = "commands" // each part of the command line that nothing covers yet, also in other lines
	CoverEdits    Cover = "edits"    // changes of files in the project or among temporary ones
)

// Grant is a rule that the human made by answering a prompt, for one agent as nod verified it. It allows exactly
// one input of one tool in one folder, or a simple command wherever it is part of a command line in one project,
// or changes of the files below one folder.
type Grant struct {
	ID          string         `json:"id"` // UUID
	Scope       Scope          `json:"scope"`
	Agent       string         `json:"agent"`
	Program     string         `json:"program"`                // verified executable of the requester; empty when it could not be verified
	Session     string         `json:"session,omitempty"`      // set when Scope is ThisSession
	CWD         string         `json:"cwd"`                    // folder that the agent works in, or the project
	Tool        string         `json:"tool,omitempty"`         // empty with Edits
	InputSHA256 string         `json:"input_sha256,omitempty"` // of the canonical JSON of the input
	Command     *shell.Pattern `json:"command,omitempty"`
	Folder      string         `json:"folder,omitempty"` // of an exact Command: where it runs
	Edits       string         `json:"edits,omitempty"`  // absolute folder or file; with a slash at its end a folder for temporary files
	Shown       string         `json:"shown"`            // the input as the human saw it, cut for the list
	Created     time.Time      `json:"created"`
	Expires     time.Time      `json:"expires,omitzero"`
	LastUsed    time.Time      `json:"last_used,omitzero"`
	Uses        int            `json:"uses"`
}
