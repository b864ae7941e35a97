// Package interact defines agents' requests, the answers to them, and the [Broker] that handles them.
//
// A server translates its wire format to a [Request] and an [Answer] back. The broker validates, writes the journal,
// asks the policy, then the [Prompter], and waits. Exactly one answer wins, and nothing but an explicit "allow" (from a
// rule or the user) is ever an allow: a time-out, a closed window and a lost caller each have an [Outcome] of their
// own.
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
	// Patience is how long the caller waits at most; 0: for Timeout, and without one for [MaxTimeout].
	Patience time.Duration `json:"patience,omitempty"`
	Until    time.Time     `json:"until,omitzero"`    // set by the broker: Created plus Patience; no deadline is later
	Snoozed  time.Time     `json:"snoozed,omitzero"`  // set by the broker: the user wants to be asked again then
	Silence  api.Silence   `json:"silence,omitempty"` // what the caller does when nobody decides
	// Reported is what the relay of another machine worked out, where Requester.Machine says that it asks; else nil.
	Reported *Reported `json:"reported,omitempty"`
	// Futile says why the call does not happen even if it is allowed; empty: it does. Nobody is asked, and it is denied.
	// Only what would be allowed or asked about is looked at; nil: it happens.
	Futile func() string `json:"-"`
	// The same key from the same requester joins the first request.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	Body           Body   `json:"-"` // one of Ask, Confirm, Form, Approve, Notify
}

// Body is the part of a request that differs from kind to kind: [Ask], [Confirm], [Form], [Approve] or [Notify], always
// as a value, never a pointer.
type Body interface{ Kind() api.Kind }

// Requester says who asks. What nod verified and what the caller claims are kept apart, here and on screen.
type Requester struct {
	Agent   string `json:"agent,omitempty"`   // claim: the agent's name for itself
	Session string `json:"session,omitempty"` // claim
	// Subagent is the one, of those that an agent runs on its own, that asks. Zero: the agent itself does.
	Subagent Subagent `json:"subagent,omitzero"`
	CWD      string   `json:"cwd,omitempty"` // claim: absolute folder
	// Process is verified; zero when the peer could not be determined. With a Machine it is that machine's word.
	Process api.Process `json:"process,omitzero"`
	// IsAgent says that the program that asks is known to be the agent of that name, and not only to call itself so. With
	// a Machine it is that machine's word.
	IsAgent bool `json:"is_agent,omitempty"`
	// Machine is the name, given by the user, of the paired machine whose relay asks; empty for this one. It is verified:
	// no caller can say it.
	Machine string `json:"machine,omitempty"`
	// Title is the agent's name as the user knows it. It is set for windows only.
	Title string `json:"-"`
}

// IsRemote reports whether another machine asks, whose paths and processes mean nothing here.
func (r Requester) IsRemote() bool { return r.Machine != "" }

// Reported is what a relay worked out about a request on the machine where it came from. A desk shows it as that
// machine's word.
type Reported struct {
	Why    policy.Decision `json:"why,omitzero"` // what the policy that the desk gave the relay makes of an approval
	Offers policy.Offers   `json:"offers,omitzero"`
	Risks  []policy.Risk   `json:"risks,omitempty"`
	Files  []ReportedFile  `json:"files,omitempty"` // those that the call names, in the order of its input
}

// ReportedFile is a file on the machine of a relay, as it was when the request came.
type ReportedFile struct {
	Path    string          `json:"path"` // as the request names it
	Where   policy.Location `json:"where,omitzero"`
	Exists  bool            `json:"exists,omitempty"`
	Text    string          `json:"text,omitempty"`    // of one that the call would change
	Problem string          `json:"problem,omitempty"` // why there is no text to compare; in nod's own words
}

// Subagent is a claim of an agent about a part of itself.
type Subagent struct {
	ID   string `json:"id,omitempty"`   // different for two that run at once
	Type string `json:"type,omitempty"` // what it is for, such as "code-reviewer"
}

// Folder is the one that relative paths in a request start from.
func (r Requester) Folder() string { return cmp.Or(r.CWD, r.Process.CWD) }

// Project is the name of that folder, "~" for the user's home on this machine, and "" for the root. It is a claim.
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

// Claim is the name that the requester gives itself, if it is not verified.
func (r Requester) Claim() string {
	if r.IsAgent {
		return ""
	}
	return r.Agent
}

// Program is the verified name of the program that asks; may be empty.
func (r Requester) Program() string {
	exe := Caller(r.Process).Exe
	if exe == "" {
		return ""
	}
	return filepath.Base(fileOf(exe))
}

// fileOf removes Linux's mark of a program whose file was replaced, as by an upgrade.
func fileOf(exe string) string { return strings.TrimSuffix(exe, " (deleted)") }

// Caller is the process that stands for the requester: the nearest that is no go-between such as a shell or nod's
// command, else the requesting one.
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

// The ways in which a [Question] is answered: its InputType.
const (
	Choice = "choice"
	Text   = "text"
)

// Approve asks whether a tool call may run.
type Approve struct {
	Tool        string          `json:"tool"`                  // the tool's name as the agent spells it
	Input       json.RawMessage `json:"input"`                 // a JSON object, shown to the user as it is
	Class       policy.Class    `json:"class,omitempty"`       // the caller's view; can only make nod stricter
	Description string          `json:"description,omitempty"` // the agent's own words on why
	ToolUseID   string          `json:"tool_use_id,omitempty"`
	Refused     bool            `json:"refused,omitempty"` // by the agent's own check: the user may overrule that once
	// Suggestions are rules for the agent itself to save, in words. The user may pick one in place of a grant.
	Suggestions []string `json:"suggestions,omitempty"`
	// Contains says that the caller runs the command in nod's sandbox if told so. It is no longer known after a restart.
	Contains bool `json:"-"`
	// OnlyReads says that it does so only with commands that read.
	OnlyReads bool `json:"-"`
	// Undoes says that a snapshot of the project is kept before the call changes files of it.
	Undoes bool `json:"-"`

	read *readInput // nil: the input is not kept
}

// readInput is what an input says.
type readInput struct {
	input  policy.Input
	fields map[string]jsontext.Value
}

// Keep returns the approval with its input read, so that neither [Approve.Call] nor what is shown of it reads the input
// again, or its command. It is for requests that are pending.
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

// Call is the call for the policy to decide on.
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

// Bare is what is kept of a without its input.
func (a Approve) Bare() Approve { return Approve{Tool: a.Tool, Class: a.Class, ToolUseID: a.ToolUseID} }

// The levels.
const (
	Info    = "info"
	Warning = "warning"
	Error   = "error"
)

func (Approve) Kind() api.Kind { return api.KindApprove }

// SizeOf says roughly how many bytes of memory a request, or a part of one, holds.
func SizeOf(v any) int {
	text, _ := json.Marshal(v)
	return 1024 + len(text)
}
