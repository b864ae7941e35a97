// Package interact defines agents' requests, the answers to them, and the [Broker] that handles them.
//
// A server translates its wire format to a [Request] and an [Answer] back. The broker validates, writes the journal,
// asks the policy, then the [Prompter], and waits. Exactly one answer wins, and only an explicit "allow" (from a rule
// or the user) is ever an allow: a time-out, a closed window and a lost caller each have their own [Outcome].
package interact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"nod/api"
	"nod/policy"
	"nod/policy/process"
)

// ID names a request: a UUID version 7, so ids sort by time.
type ID string

// Request is what an agent asks. It is immutable once the broker has it.
type Request struct {
	ID        ID            `json:"id,omitempty"` // set by the broker
	Requester Requester     `json:"requester"`
	Created   time.Time     `json:"created,omitzero"`  // set by the broker
	Deadline  time.Time     `json:"deadline,omitzero"` // set by the broker: Created plus Timeout, and later once snoozed
	Timeout   time.Duration `json:"timeout,omitempty"` // 0: the configured default; at most [MaxTimeout]
	// Patience is how long the caller waits at most. 0 means Timeout or, without one, [MaxTimeout].
	Patience time.Duration `json:"patience,omitempty"`
	Until    time.Time     `json:"until,omitzero"`    // set by the broker: Created plus Patience; no deadline is later
	Snoozed  time.Time     `json:"snoozed,omitzero"`  // set by the broker: the user wants to be asked again then
	Silence  api.Silence   `json:"silence,omitempty"` // what the caller does without a decision
	// Reported is what the relay of another machine found out about the request. It is nil without Requester.Machine.
	Reported *Reported `json:"reported,omitempty"`
	// Futile returns why the call would have no effect even if it were allowed, or "". A futile call is denied without
	// asking the user. Futile is called only for calls that would be allowed or asked about. May be nil.
	Futile func() string `json:"-"`
	// The same key from the same requester joins the first request.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	Body           Body   `json:"-"` // one of Ask, Confirm, Form, Approve, Notify
}

// Body is the part of a request that depends on its kind: [Ask], [Confirm], [Form], [Approve] or [Notify], always as a
// value, never a pointer.
type Body interface{ Kind() api.Kind }

// Requester says who asks. It keeps what nod verified and what the caller claims apart, as the windows do.
type Requester struct {
	Agent   string `json:"agent,omitempty"`   // claim: the agent's name for itself
	Session string `json:"session,omitempty"` // claim
	// Subagent is the agent's subagent that asks. It is zero if the agent itself asks.
	Subagent Subagent `json:"subagent,omitzero"`
	CWD      string   `json:"cwd,omitempty"` // claim: absolute folder
	// Process is verified; it is zero if the peer could not be determined. With a Machine it is only that machine's claim.
	Process api.Process `json:"process,omitzero"`
	// IsAgent says that the program that asks is known to be the agent with that name, and does not just call itself so.
	// With a Machine it is only that machine's claim.
	IsAgent bool `json:"is_agent,omitempty"`
	// Machine is the name, given by the user, of the paired machine whose relay asks; empty for this one. It is verified:
	// no caller can claim it.
	Machine string `json:"machine,omitempty"`
	// Title is the agent's name as the user knows it. It is set only for windows.
	Title string `json:"-"`
}

// IsRemote reports whether another machine asks. Its paths and processes mean nothing here.
func (r Requester) IsRemote() bool { return r.Machine != "" }

// Reported is what a relay found out about a request on the machine that it came from. A desk shows it as that
// machine's claim.
type Reported struct {
	Why    policy.Decision `json:"why,omitzero"` // what the policy that the desk gave the relay makes of an approval
	Offers policy.Offers   `json:"offers,omitzero"`
	Risks  []policy.Risk   `json:"risks,omitempty"`
	Files  []ReportedFile  `json:"files,omitempty"` // those that the call names, in the order of its input
}

// ReportedFile is a file on a relay's machine, as it was when the request arrived.
type ReportedFile struct {
	Path    string          `json:"path"` // as the request names it
	Where   policy.Location `json:"where,omitzero"`
	Exists  bool            `json:"exists,omitempty"`
	Text    string          `json:"text,omitempty"`    // of one that the call would change
	Problem string          `json:"problem,omitempty"` // why there is no text to compare; in nod's own words
}

// Subagent is an agent's claim about a part of itself.
type Subagent struct {
	ID   string `json:"id,omitempty"`   // different for two that run at once
	Type string `json:"type,omitempty"` // what it is for, such as "code-reviewer"
}

// Folder returns the folder that relative paths in a request start from.
func (r Requester) Folder() string { return cmp.Or(r.CWD, r.Process.CWD) }

// Project returns the name of that folder, "~" for the user's home on this machine, and "" for the root. It is a claim.
func (r Requester) Project() string {
	folder := filepath.Clean(r.Folder())
	name := filepath.Base(folder)
	if name == "." || name == string(filepath.Separator) {
		return ""
	}
	if home, err := os.UserHomeDir(); r.Machine == "" && err == nil && folder == filepath.Clean(home) {
		return "~"
	}
	return name
}

// Claim returns the name that the requester gives itself, or "" if it is verified.
func (r Requester) Claim() string {
	if r.IsAgent {
		return ""
	}
	return r.Agent
}

// Program returns the verified name of the program that asks. It may be empty.
func (r Requester) Program() string {
	exe := Caller(r.Process).Exe
	if exe == "" {
		return ""
	}
	return filepath.Base(fileOf(exe))
}

// fileOf removes the suffix with which Linux marks a program whose file was replaced, for example by an upgrade.
func fileOf(exe string) string { return strings.TrimSuffix(exe, " (deleted)") }

// Caller returns the process that represents the requester: the nearest one that is not a go-between, such as a shell
// or nod's command, else the requesting process.
func Caller(p api.Process) api.Parent {
	for _, program := range chain(p) {
		if !process.IsGoBetween(program.Exe) {
			return program
		}
	}
	return process.Itself(p)
}

// chain lists p and its ancestors, nearest first, as far as their executables are verified.
func chain(p api.Process) []api.Parent {
	all := append([]api.Parent{process.Itself(p)}, p.Parents...)
	return slices.DeleteFunc(all, func(p api.Parent) bool { return p.Exe == "" })
}

// The formats, those of MCP elicitation and the two kinds of number.
const (
	Email    = "email"
	URI      = "uri"
	Date     = "date"      // RFC 3339 full-date
	DateTime = "date-time" // RFC 3339
	Integer  = "integer"
	Number   = "number"
)

// The ways to answer a [Question]: its InputType.
const (
	Choice = "choice"
	Text   = "text"
)

// Approve asks whether a tool call may run.
type Approve struct {
	Tool        string          `json:"tool"`                  // the tool's name as the agent spells it
	Input       json.RawMessage `json:"input"`                 // a JSON object, shown to the user as it is
	Class       policy.Class    `json:"class,omitempty"`       // the caller's view
	Description string          `json:"description,omitempty"` // the agent's own words on why
	ToolUseID   string          `json:"tool_use_id,omitempty"`
	Refused     bool            `json:"refused,omitempty"` // by the agent's own check: the user may overrule that once
	// Suggestions describe rules that the agent itself can save. The user may pick one instead of a grant.
	Suggestions []string `json:"suggestions,omitempty"`
	// Contains says that the caller can run the command in nod's sandbox if told to. It is no longer known after a
	// restart.
	Contains bool `json:"-"`
	// OnlyReads says that it can do so only with commands that read.
	OnlyReads bool `json:"-"`
	// Undoes says that nod keeps a snapshot of the project before the call changes files in it.
	Undoes bool `json:"-"`

	read *readInput // nil: the input is not kept
}

// readInput is the parsed content of an input.
type readInput struct {
	input  policy.Input
	fields map[string]jsontext.Value
}

// Keep returns the approval with its input parsed, so that neither [Approve.Call] nor its display parses the input or
// its command again. It is for pending requests.
func (a Approve) Keep() Approve {
	if !a.isKept() {
		a.read = &readInput{policy.ReadInput(a.Input).Keep(), a.fields()}
	}
	return a
}

func (a Approve) isKept() bool { return a.read != nil && bytes.Equal(a.read.input.Raw, a.Input) }

func (a Approve) input() policy.Input {
	if a.isKept() {
		return a.read.input
	}
	return policy.ReadInput(a.Input)
}

// fields returns the input's fields; none if two readers could read them differently.
func (a Approve) fields() (fields map[string]jsontext.Value) {
	if a.isKept() {
		return a.read.fields
	}
	if strict.Unmarshal(a.Input, &fields) != nil {
		return nil
	}
	return fields
}

// Call returns the call for the policy to decide on.
func (a Approve) Call(who Requester) policy.Call {
	var programs []string
	for _, program := range chain(who.Process) {
		programs = append(programs, program.Exe)
	}
	return policy.Call{
		Agent: who.Agent, Session: who.Session, CWD: who.Folder(), Programs: programs,
		Tool: a.Tool, Input: a.input(), Declared: a.Class, Refused: a.Refused,
		Contains: a.Contains, OnlyReads: a.OnlyReads, Undoes: a.Undoes,
	}
}

// Bare returns what is kept of a without its input.
func (a Approve) Bare() Approve { return Approve{Tool: a.Tool, Class: a.Class, ToolUseID: a.ToolUseID} }

// The levels.
const (
	Info    = "info"
	Warning = "warning"
	Error   = "error"
)

func (Approve) Kind() api.Kind { return api.KindApprove }

// SizeOf returns roughly how many bytes of memory a request, or a part of one, takes.
func SizeOf(v any) int {
	text, _ := json.Marshal(v)
	return 1024 + len(text)
}
