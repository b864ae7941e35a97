// Package policy decides which tool calls a user need not be asked about.
//
// A [Call] is what an agent wants to run; a [Rule] has an effect (allow, ask or deny) on the calls it
// matches; [Decide] weighs them all. The strictest effect wins and order never matters, so a rule can be
// read on its own: no other rule softens a deny. nod asks about everything it does not understand.
//
// It stores nothing, and reads only the files that a call is about. Package config reads the file that the user
// edits, stores the grants and decides by both.
package policy

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"nod/policy/shell"
)

// Effect is what a rule does to the calls it matches.
type Effect string

// The effects, from lax to strict. The strictest that matches decides.
const (
	Allow   Effect = "allow"
	Sandbox Effect = "sandbox" // it runs unasked, in the sandbox
	Ask     Effect = "ask"
	Deny    Effect = "deny"
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
	Agent    string   // as the caller names itself; a claim
	Session  string   // the caller's session; a claim
	CWD      string   // absolute folder the caller says it works in; a claim
	Programs []string // verified executables: the requesting process, then its ancestors, nearest first
	Tool     string   // the tool's name, exactly as the agent spells it
	Input    Input    // see [ReadInput]
	Declared Class    // what the caller says the tool is; empty when it says nothing
	Refused  bool     // the agent's own check refused it: only the user can overrule that, this once
	Contains bool     // the caller runs the command in nod's sandbox if told so
	// OnlyReads says that this machine's sandbox is for commands that read.
	OnlyReads bool
	// Undoes says that the caller keeps a snapshot of the project before files are changed, or does not change them.
	Undoes bool
}

// Decision is the policy's decision on one call, and the reason.
type Decision struct {
	Effect Effect
	Rule   string // id of the rule, grant or built-in that decided; empty when nothing matched
	Reason string // one sentence a user can read
	Class  Class  // the class that counts
	Grant  bool   // Rule is the id of a grant: the user said so at an earlier prompt

	Confinement Confinement `json:",omitzero"` // of what runs in the sandbox
}

// A Confinement is what a command in the sandbox may change. The zero value means no sandbox.
type Confinement struct {
	// Project is absolute, with links followed. The command sees no other files of the user except tools.
	Project string `json:"project"`
	// Write lets it change the project, except what is guarded there.
	Write bool `json:"write,omitempty"`
	// Git lets it change the project's repository, except hooks and configuration.
	Git bool `json:"git,omitempty"`
	// Near lets it ask for the servers of this computer through the proxy: it means none of its own.
	Near bool `json:"near,omitempty"`
}

// Why returns the reason for a user who is asked, without the obvious part: that no rule decides.
func (d Decision) Why() string {
	if rest, ok := strings.CutPrefix(d.Reason, "no rule covers this"); ok {
		return strings.TrimPrefix(rest, "; ")
	}
	return d.Reason
}

// Insists reports whether a rule or a guard asks, rather than no rule deciding: then nod asks even if the agent's own
// settings would let the call pass.
func (d Decision) Insists() bool { return d.Effect == Ask && d.Rule != "" && d.Rule != askOutside.Rule }

// Rule has an effect on the calls it matches. An empty matcher matches everything; a rule with no matcher
// at all is refused when the file is read.
type Rule struct {
	ID     string `yaml:"id" json:"id"`
	Effect Effect `yaml:"effect" json:"effect"`
	// Agent is the exact name the caller gives itself.
	Agent string `yaml:"agent,omitempty" json:"agent,omitempty"`
	// Program is a doublestar pattern on a verified executable of the caller or its ancestors.
	Program string `yaml:"program,omitempty" json:"program,omitempty"`
	// Tool is a glob on the tool's name: * and ?.
	Tool string `yaml:"tool,omitempty" json:"tool,omitempty"`
	// Class is the class that counts.
	Class Class `yaml:"class,omitempty" json:"class,omitempty"`
	// Path is a doublestar pattern on every path in the input; ~ is the home folder.
	Path string `yaml:"path,omitempty" json:"path,omitempty"`
	// Command is the shell command, byte for byte.
	Command string `yaml:"command,omitempty" json:"command,omitempty"`
	// Run are commands by their leading words and flags, such as go test: each part of a command line counts by itself.
	Run []string `yaml:"run,omitempty" json:"run,omitempty"`
	// CWD is a doublestar pattern on the folder the call works in.
	CWD string `yaml:"cwd,omitempty" json:"cwd,omitempty"`
	// Session is the exact session, as the caller names it.
	Session string `yaml:"session,omitempty" json:"session,omitempty"`
	// Server is a glob on SERVER of a tool named mcp__SERVER__TOOL.
	Server string `yaml:"mcp_server,omitempty" json:"mcp_server,omitempty"`
	// Host is the host of every address in the input: example.com, or *.example.com for all below it.
	Host string `yaml:"host,omitempty" json:"host,omitempty"`
	// Args match fields of the input; all must match.
	Args []Arg `yaml:"args,omitempty" json:"args,omitempty"`
	// Expires is the last day that the rule is in force, or the time when it ends as in RFC 3339.
	Expires  string `yaml:"expires,omitempty" json:"expires,omitempty"`
	Disabled bool   `yaml:"disabled,omitempty" json:"disabled,omitempty"`
	// Note is for the reader, and never matched.
	Note string `yaml:"note,omitempty" json:"note,omitempty"`
	// Examples must come out as they say, or the file is refused.
	Examples Examples `yaml:"examples,omitempty" json:"examples,omitzero"`
}

// Arg is a matcher on one field of a tool's input.
type Arg struct {
	// Field is the name of a field, or a JSON pointer (RFC 6901) such as /options/force.
	Field string `yaml:"field" json:"field"`
	// Value is a glob on its text, number, true or false: * and ?.
	Value string `yaml:"value" json:"value"`
}

// Examples are calls that a rule is meant to match, and others that it is not. Each is a command, or a call as JSON:
// {"tool": …, "input": {…}, "agent": …, "session": …, "cwd": …, "program": …}. Whatever it omits is set to match the
// rule.
type Examples struct {
	Match   []string `yaml:"match,omitempty" json:"match,omitempty"`
	NoMatch []string `yaml:"no_match,omitempty" json:"no_match,omitempty"`
}

// Policy decides calls: built-in knowledge that the user can switch on and off, and the user's own rules.
type Policy struct {
	// AutoAllow are the classes that pass without a prompt.
	AutoAllow []Class `yaml:"auto_allow"`
	// AskEverything makes every allow an ask.
	AskEverything bool `yaml:"ask_everything"`
	// TrustedAgents are believed when they classify a tool nod does not know.
	TrustedAgents []string `yaml:"trusted_agents"`
	// TrustedRoots are folders that a class may read in, and git is believed; none: everywhere, and git nowhere.
	TrustedRoots []string `yaml:"trusted_roots"`
	// Sandbox says which projects' commands run in the sandbox.
	Sandbox Containment `yaml:"sandbox"`
	Rules   []Rule      `yaml:"rules"`
}

// Containment says what runs in the sandbox without a rule for it.
type Containment struct {
	// Projects are folders whose commands run there where nothing else allows them; ~ is the home folder.
	Projects []string `yaml:"projects"`
	// Hosts are those that a command in the sandbox reaches without a prompt: example.com, or *.example.com.
	Hosts []string `yaml:"hosts"`
	// ReadOnly runs commands that only read there, too: the sandbox keeps them from doing more.
	ReadOnly bool `yaml:"read_only"`
}

// Default is the policy of a fresh installation.
func Default() Policy {
	return Policy{AutoAllow: []Class{ReadOnly}, Sandbox: Containment{ReadOnly: true}}
}

// Clone returns a copy that shares nothing with the policy.
func (p Policy) Clone() Policy {
	p.AutoAllow = slices.Clone(p.AutoAllow)
	p.TrustedAgents = slices.Clone(p.TrustedAgents)
	p.TrustedRoots = slices.Clone(p.TrustedRoots)
	p.Sandbox.Projects = slices.Clone(p.Sandbox.Projects)
	p.Sandbox.Hosts = slices.Clone(p.Sandbox.Hosts)
	p.Rules = slices.Clone(p.Rules)
	for i := range p.Rules {
		r := &p.Rules[i]
		r.Run, r.Args = slices.Clone(r.Run), slices.Clone(r.Args)
		r.Examples = Examples{slices.Clone(r.Examples.Match), slices.Clone(r.Examples.NoMatch)}
	}
	return p
}

// Equal reports whether two rules are the same.
func (r Rule) Equal(o Rule) bool { return reflect.DeepEqual(r, o) }

// Scope says how long an allow that the user gave at a prompt lasts.
type Scope string

// The scopes a prompt offers. Every one wider than Once is a [Grant].
const (
	Once        Scope = "once"
	ThisSession Scope = "session"
	QuarterHour Scope = "15m"
	UntilQuit   Scope = "quit"       // until nod quits
	Always      Scope = "always"     // in one project or folder
	Everywhere  Scope = "everywhere" // always, in any folder
)

// Scopes are all scopes, narrowest first.
var Scopes = []Scope{Once, ThisSession, QuarterHour, UntilQuit, Always, Everywhere}

// IsPermanent reports whether what is allowed stays allowed until the user revokes it.
func (s Scope) IsPermanent() bool { return s == Always || s == Everywhere }

// Cover says what a saved allow is about.
type Cover string

// What a saved allow may cover.
const (
	CoverInput    Cover = "input"    // exactly this input
	CoverCommands Cover = "commands" // each part of the command line that is not covered yet, also in other lines
	CoverEdits    Cover = "edits"    // changes of files in the project or among temporary ones
	CoverTool     Cover = "tool"     // every call of this tool of an MCP server, or every web search
	CoverServer   Cover = "server"   // every call of the tools of this MCP server that neither delete nor run code
	CoverHost     Cover = "host"     // every page of this host, for this tool that fetches
	CoverReads    Cover = "reads"    // reading below this folder, for the tools that read
	CoverSandbox  Cover = "sandbox"  // every command of the project, in the sandbox: no grant, but a setting

	// All commands of a kind of work in the project, for [Grant.Work]: see shell/programs/work.txt.
	CoverBuilds     Cover = "builds"     // build, test, check and format it
	CoverGit        Cover = "git"        // commit, switch branches, pull and push, without force
	CoverContainers Cover = "containers" // build, start and stop its containers, and work in them
)

// Works are the covers of kinds of work.
var Works = []Cover{CoverBuilds, CoverGit, CoverContainers}

// Covers are all that a grant can cover, starting with those that cover more than the input.
var Covers = slices.Concat([]Cover{CoverCommands}, Works,
	[]Cover{CoverEdits, CoverTool, CoverServer, CoverHost, CoverReads, CoverInput})

// Grant is a rule that the user made by answering a prompt, for one agent as nod verified it. It allows exactly one
// input of one tool in one folder, or, in one project: a simple command wherever it is part of a command line, all of
// one kind of work, changes or reading of the files below one folder, every input of one tool or of a server's tools,
// or the pages of one host. With the scope Everywhere CWD is empty: it is tied to no folder.
type Grant struct {
	ID          string         `json:"id"` // UUID
	Scope       Scope          `json:"scope"`
	Agent       string         `json:"agent"`
	Program     string         `json:"program"`                // verified executable of the requester, if any
	Session     string         `json:"session,omitempty"`      // set when Scope is ThisSession
	CWD         string         `json:"cwd"`                    // folder that the agent works in, or the project
	Tool        string         `json:"tool,omitempty"`         // empty with Edits and Reads
	InputSHA256 string         `json:"input_sha256,omitempty"` // of the input as canonical JSON and of where links lead
	Command     *shell.Pattern `json:"command,omitempty"`
	Work        Cover          `json:"work,omitempty"`   // of [Works]: any command of that kind
	Folder      string         `json:"folder,omitempty"` // of an exact Command: where it runs
	Edits       string         `json:"edits,omitempty"`  // absolute folder or file; a temporary folder with a slash
	Reads       string         `json:"reads,omitempty"`  // absolute folder
	Host        string         `json:"host,omitempty"`   // in small letters; Tool may fetch its pages
	AnyInput    bool           `json:"any_input,omitempty"`
	Shown       string         `json:"shown"` // the input as the user saw it, cut for the list
	Created     time.Time      `json:"created"`
	Expires     time.Time      `json:"expires,omitzero"`
	LastUsed    time.Time      `json:"last_used,omitzero"`
	Uses        int            `json:"uses"`
}
