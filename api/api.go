// Package api is the wire: the JSON of every request to nod-desktop and of every reply, as Go types. The server, the Go
// client, the MCP tools, the OpenAPI description and the command line's --json all use these types and no others. It
// also has the only functions that read such JSON ([Decode], [DecodeStrict]) and write it ([Encode]).
package api

import (
	"encoding/json"
	"time"
)

// Process is what the operating system reports about the process that asks. No caller can forge it.
type Process struct {
	PID     int32     `json:"pid"`
	UID     int       `json:"uid"`
	Exe     string    `json:"exe"` // resolved path of its executable; empty when unreadable
	CWD     string    `json:"cwd,omitempty"`
	Started time.Time `json:"started,omitzero"`  // with PID it survives the reuse of process ids
	Parents []Parent  `json:"parents,omitempty"` // nearest first, at most 16
}

// Parent is an ancestor of the process that asks.
type Parent struct {
	PID     int32     `json:"pid"`
	Name    string    `json:"name"`
	Exe     string    `json:"exe,omitempty"`
	Started time.Time `json:"started,omitzero"` // with PID it survives the reuse of process ids
}

// Limits on the wire.
const (
	MaxSeconds = 86_400 // the longest time-out and the longest hold
	MaxWait    = 60     // seconds that one GET of a request waits at most for its end

	// MaxHookWait is the longest that a hook's request waits for the user. Agents end a hook after the time-out in their
	// settings (600 s as nod installs them), and most then continue as if it had allowed; Claude Code has been seen to do
	// so a little before its ten minutes.
	MaxHookWait = 9*time.Minute + 30*time.Second
)

// NoEvent stands for the event of a hook whose payload names none that nod can read.
const NoEvent = "unknown"

// Common are the fields that every request's body may have in addition to its own. The zero value is valid.
type Common struct {
	Agent          string  `json:"agent,omitzero" description:"who asks, as it calls itself" example:"claude-code"`
	Session        string  `json:"session,omitzero" description:"the agent's session, for grouping and session grants"`
	CWD            string  `json:"cwd,omitzero" description:"absolute folder that the agent works in"`
	Timeout        float64 `json:"timeout,omitzero" minimum:"0" maximum:"86400"`
	IdempotencyKey string  `json:"idempotency_key,omitzero"`
	Detach         bool    `json:"detach,omitzero" description:"answer 202 at once; fetch the answer later"`
	Hold           float64 `json:"hold,omitzero" minimum:"0" maximum:"86400"`
	Silence        Silence `json:"silence,omitzero" enum:"terminal,agent"`
}

// Silence says what a caller does when neither policy nor user decides. nod only shows it to the user.
type Silence string

// What a caller can do when neither policy nor user decides.
const (
	TakesNo        Silence = ""         // it goes without: an approval is denied, a confirmation has its default
	AsksInTerminal Silence = "terminal" // it asks the user in its terminal
	AsksItself     Silence = "agent"    // it asks the user in a window of its own
)

// The bodies of requests, one for each route that takes one; [ApproveRequest] is also the body of /v1/evaluate.
type (
	AskRequest struct {
		Ask
		Common
	}
	ConfirmRequest struct {
		Confirm
		Common
	}
	FormRequest struct {
		Form
		Common
	}
	ApproveRequest struct {
		Approve
		Common
	}
	NotifyRequest struct {
		Notify
		Common
	}
)

// Ask is a question with a free answer, or a pick from options.
type Ask struct {
	Question    string   `json:"question" required:"true" minLength:"1" description:"what to ask"`
	Options     []string `json:"options,omitempty" description:"non-empty: one of them is picked"`
	AllowOther  *bool    `json:"allow_other,omitzero" default:"true" description:"with options: also offer a free text"`
	Placeholder string   `json:"placeholder,omitzero" description:"hint in the empty text field"`
	Multiline   bool     `json:"multiline,omitzero" description:"a text field of several lines"`
}

// OffersOther reports whether the user may type a text instead of picking an option.
func (a Ask) OffersOther() bool { return a.AllowOther == nil || *a.AllowOther }

// Confirm is a yes/no question. Without an answer in time its Default is the answer.
type Confirm struct {
	Message  string `json:"message" required:"true" minLength:"1" description:"what to confirm"`
	Default  bool   `json:"default,omitzero" description:"what no answer in time means"`
	YesLabel string `json:"yes_label,omitzero" description:"label of the affirmative button"`
	NoLabel  string `json:"no_label,omitzero" description:"label of the negative button"`
}

// Form is one or more questions on one page.
type Form struct {
	Title     string     `json:"title,omitzero"`
	Questions []Question `json:"questions" required:"true" minItems:"1"`
}

// Question is one question of a [Form].
type Question struct {
	ID          string   `json:"id" required:"true" minLength:"1" description:"key of the answer; unique in the form"`
	Question    string   `json:"question" required:"true" minLength:"1"`
	Header      string   `json:"header,omitzero" description:"a word or two above the question"`
	InputType   string   `json:"input_type,omitzero" enum:"choice,text"`
	Options     []Option `json:"options,omitempty"`
	MultiSelect bool     `json:"multi_select,omitzero"`
	Required    *bool    `json:"required,omitzero" default:"true"`
	AllowOther  *bool    `json:"allow_other,omitzero" default:"true" description:"choice: also offer a free text"`
	Default     Value    `json:"default,omitzero"`
	Placeholder string   `json:"placeholder,omitzero"`
	Format      string   `json:"format,omitzero" enum:"email,uri,date,date-time,integer,number"`
	Min         *float64 `json:"min,omitzero"`
	Max         *float64 `json:"max,omitzero" description:"greatest value, length, or number of picks"`
}

// IsRequired reports whether the question must be answered, which is the default.
func (q Question) IsRequired() bool { return q.Required == nil || *q.Required }

// OffersOther reports whether the user may give a text instead of picking an option.
func (q Question) OffersOther() bool { return q.AllowOther == nil || *q.AllowOther }

// Option is one choice of a [Question].
type Option struct {
	Label       string `json:"label" required:"true" minLength:"1"`
	Value       string `json:"value,omitzero" description:"what is answered when it is picked; default: the label"`
	Description string `json:"description,omitzero"`
	Recommended bool   `json:"recommended,omitzero" description:"shown as a badge"`
	Preview     string `json:"preview,omitzero"`
}

// Approve asks for permission for one tool call.
type Approve struct {
	Tool        string          `json:"tool" required:"true" minLength:"1"`
	Input       json.RawMessage `json:"input" required:"true"`
	Class       string          `json:"class,omitzero"`
	Description string          `json:"description,omitzero" description:"the agent's own words on why"`
	ToolUseID   string          `json:"tool_use_id,omitzero"`
	// Rules that the agent itself would keep, in words. The user may pick one instead of one of nod's grants.
	Suggestions []string `json:"suggestions,omitempty" description:"rules that the agent itself would keep, in words"`
}

// Notify tells the user something and expects no answer.
type Notify struct {
	Message string `json:"message" required:"true" minLength:"1"`
	Title   string `json:"title,omitzero" description:"a heading inside the notification"`
	Level   string `json:"level,omitzero" enum:"info,warning,error" default:"info"`
}

// Kind is the kind of a request. It is also the last part of the path of the route that takes it.
type Kind string

// The kinds of request.
const (
	KindAsk     Kind = "ask"
	KindConfirm Kind = "confirm"
	KindForm    Kind = "form"
	KindApprove Kind = "approve"
	KindNotify  Kind = "notify"
)

// The kinds of the bodies.

func (Ask) Kind() Kind     { return KindAsk }
func (Confirm) Kind() Kind { return KindConfirm }
func (Form) Kind() Kind    { return KindForm }
func (Notify) Kind() Kind  { return KindNotify }

// Outcome says how a request ended, or that it is pending.
type Outcome string

// The outcomes. Only Allowed lets a tool call happen.
const (
	Pending     Outcome = "pending"     // not answered yet
	Answered    Outcome = "answered"    // a question has its answer; a notice was shown
	Allowed     Outcome = "allowed"     // by a rule or by the user
	Denied      Outcome = "denied"      // by a rule or by the user
	Dismissed   Outcome = "dismissed"   // the user closed the prompt, which is no decision
	TimedOut    Outcome = "timed_out"   // the user was away, and has not refused
	Cancelled   Outcome = "cancelled"   // the caller went away
	Withdrawn   Outcome = "withdrawn"   // answered elsewhere, or taken back by the caller
	Unavailable Outcome = "unavailable" // no screen, paused, or nod is shutting down
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{
	Pending, Answered, Allowed, Denied, Dismissed, TimedOut, Cancelled, Withdrawn, Unavailable,
}

// Decision is what an [ApproveReply] or an [EvaluateReply] says.
type Decision string

// The decisions. Only Allow lets a tool call happen; only an [EvaluateReply] says Ask.
const (
	Allow Decision = "allow"
	AskIt Decision = "ask"
	Deny  Decision = "deny"
)

// By says who decided.
type By string

// Who can decide. By is empty if the request was not decided.
const (
	ByHuman   By = "human"
	ByPolicy  By = "policy"
	ByTimeout By = "timeout"
)

// Head is what every reply to a request begins with.
type Head struct {
	ID      string  `json:"id" description:"the request"`
	Outcome Outcome `json:"outcome" enum:"answered,allowed,denied,dismissed,timed_out,withdrawn,unavailable"`
}

// The replies. Members without omit in their tag are always there.
type (
	AskReply struct {
		Head
		Answer string `json:"answer"`
	}
	ConfirmReply struct {
		Head
		Confirmed bool `json:"confirmed"`
		Defaulted bool `json:"defaulted" description:"nobody answered in time: confirmed is the default"`
	}
	FormReply struct {
		Head
		Answer  *Value           `json:"answer,omitzero" description:"of a form with one question"`
		Answers map[string]Value `json:"answers,omitempty" description:"of a form with several questions, by their ids"`
	}
	ApproveReply struct {
		Head
		Decision    Decision `json:"decision" enum:"allow,deny" description:"only allow lets the call happen"`
		Reason      string   `json:"reason" description:"for the model to read; empty if the user gave none"`
		By          By       `json:"by,omitzero" enum:"human,policy,timeout"`
		Rule        string   `json:"rule,omitzero" description:"id of the rule or grant that decided"`
		Scope       string   `json:"scope,omitzero" enum:"once,session,15m,quit,always,everywhere"`
		Covers      string   `json:"covers,omitzero" enum:"input,commands,builds,git,containers,edits,tool,server,host,reads"`
		Suggestion  int      `json:"suggestion,omitzero" description:"the suggestion that the user picked, from 1"`
		ShownSHA256 string   `json:"shown_sha256" description:"SHA-256 of the input that was judged or shown"`
	}
	NotifyReply struct {
		Head
		Sent bool `json:"sent" description:"the desktop took it"`
	}
	EvaluateReply struct {
		Decision Decision `json:"decision" enum:"allow,ask,deny"`
		Reason   string   `json:"reason"`
		Rule     string   `json:"rule,omitzero" description:"id of the rule, grant or built-in that decides"`
		Class    string   `json:"class" enum:"read_only,write,execute,network,destructive,unknown"`
	}
	PendingReply struct {
		ID     string  `json:"id"`
		Status Outcome `json:"status"`
		URL    string  `json:"url" description:"where the answer will be"`
	}
	RequestReply struct {
		ID     string          `json:"id"`
		Kind   Kind            `json:"kind" enum:"ask,confirm,form,approve,notify"`
		Status Outcome         `json:"status"`
		Answer json.RawMessage `json:"answer,omitempty"`
	}
	ListReply struct {
		Requests []Listed `json:"requests" nullable:"false" description:"oldest first"`
	}
	Listed struct {
		ID       string    `json:"id"`
		Kind     Kind      `json:"kind" enum:"ask,confirm,form,approve,notify"`
		Status   Outcome   `json:"status"`
		Created  time.Time `json:"created"`
		Deadline time.Time `json:"deadline"`
		Agent    string    `json:"agent,omitzero"`
		IsAgent  bool      `json:"is_agent,omitzero" description:"the program that asks is known to be that agent"`
		Session  string    `json:"session,omitzero"`
	}
	HealthReply struct {
		Status      string    `json:"status" enum:"ok,paused" description:"paused: nobody is asked; rules still decide"`
		PausedUntil time.Time `json:"paused_until,omitzero" description:"absent: until the user ends the pause"`
		Version     string    `json:"version"`
		Pending     int       `json:"pending" description:"requests that wait for the user"`
		History     string    `json:"history,omitzero" description:"the problem with nod's history; absent: there is none"`

		Relay *RelayHealth `json:"relay,omitzero" description:"of nod relay only"`
	}
	RelayHealth struct {
		Up          bool   `json:"up" description:"a desk is connected"`
		Fingerprint string `json:"fingerprint" description:"its key in words, to compare with the desk's"`
		Problem     string `json:"problem,omitzero" description:"why no desk is connected"`
		Desks       int    `json:"desks" description:"desks whose answers count"`
		Policy      uint64 `json:"policy" description:"serial number of the desk's policy; 0: none, so nod asks about all"`
		Unreported  int    `json:"unreported" description:"decisions that no desk has in its history yet"`
	}
)

// Allowed reports whether the tool call may happen.
func (r ApproveReply) Allowed() bool { return r.Decision == Allow }

// RunRequest asks nod-desktop for a command's sandbox: for an agent's command that nod-desktop said runs there, or one
// of the user's own commands.
type RunRequest struct {
	Command string   `json:"command,omitempty"`  // as the agent's hook had it
	Own     []string `json:"own,omitempty"`      // the user's own, in its place
	CWD     string   `json:"cwd"`                // where it starts
	Folders []string `json:"folders,omitempty"`  // with programs and tools, as the environment of the command names them
	Path    []string `json:"path,omitempty"`     // those with programs
	Shell   string   `json:"snapshot,omitempty"` // the agent's script with the user's shell functions
}

// RunReply is the sandbox of one command. The command starts only after a [RunBegun] without a problem. The client
// closes its side of the connection when the command has ended; a [RunEnded] follows.
type RunReply struct {
	Command string          `json:"command"` // as a shell reads it
	Profile json.RawMessage `json:"sandbox"`
	Project string          `json:"project"`
	Hosts   []string        `json:"hosts,omitempty"` // that it reaches unasked
	PID     int32           `json:"pid,omitempty"`   // of the process with which it ends; 0: none
	Agent   string          `json:"agent,omitempty"` // whose command it is; empty: the user's own
	Session string          `json:"session,omitempty"`
}

// RunBegun says that nod has a snapshot of what a command may change.
type RunBegun struct {
	Noted   json.RawMessage `json:"noted,omitempty"`   // how its changes are noted; none: it can change nothing
	Problem string          `json:"problem,omitempty"` // why it does not start
}

// RunEnded lists the guarded places that a command created and nod moved away.
type RunEnded struct {
	Moved   []string `json:"moved,omitempty"`   // paths in the project
	To      string   `json:"to,omitempty"`      // where they are now
	Problem string   `json:"problem,omitempty"` // why some could not be moved
}

// Code is the stable name of a kind of problem.
type Code string

// The codes.
const (
	CodeInvalidParam     Code = "INTERACT_INVALID_PARAM" // Param names it
	CodeInvalidPath      Code = "INVALID_PATH"           // a required string is missing or not a string; Param names it
	CodeUnauthorized     Code = "UNAUTHORIZED"
	CodeForbidden        Code = "FORBIDDEN"
	CodeNotFound         Code = "NOT_FOUND" // also another caller's request
	CodeMethodNotAllowed Code = "METHOD_NOT_ALLOWED"
	CodeTimeout          Code = "INTERACT_TIMEOUT"
	CodeCancelled        Code = "INTERACT_CANCELLED"
	CodeTooLarge         Code = "TOO_LARGE"
	CodeUnsupportedMedia Code = "UNSUPPORTED_MEDIA_TYPE"
	CodeRateLimited      Code = "RATE_LIMITED"
	CodeNotSupported     Code = "INTERACT_NOT_SUPPORTED" // no screen to prompt on
	CodeInternal         Code = "INTERNAL"
)

// Problem is a reply that is not an answer (RFC 9457): what was refused, or how an unanswered request ended.
type Problem struct {
	Type    string  `json:"type" description:"always about:blank: code tells problems apart"`
	Title   string  `json:"title" description:"the HTTP status in words"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail" description:"what is wrong, for the caller to read"`
	Code    Code    `json:"code"`
	Param   string  `json:"param,omitzero" description:"path of the offending parameter, like questions[0].id"`
	ID      string  `json:"id,omitzero" description:"the request, when it came to exist"`
	Outcome Outcome `json:"outcome,omitzero" enum:"dismissed,timed_out,cancelled,withdrawn,unavailable"`
}
