// Package interact is the heart of nod: what an agent may ask of its human, what may come of it, and the
// [Broker] through which every request travels, whichever door it came in by.
//
// A door translates its wire format to a [Request] and an [Answer] back. The broker validates, writes the
// journal, asks the policy, then the [Prompter], and waits. Exactly one answer wins, and nothing but an
// explicit "allow" (from a rule or a person) is ever an allow: a time-out, a closed window, a caller that
// hung up and a lost screen each have an [Outcome] of their own.
package interact

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"time"

	"nod/policy"
)

// ID names a request: a UUID version 7, so ids sort by time.
type ID string

// Kind is the kind of a request, as it appears in URLs, the journal and the log.
type Kind string

// The kinds of request.
const (
	KindAsk     Kind = "ask"
	KindConfirm Kind = "confirm"
	KindForm    Kind = "form"
	KindApprove Kind = "approve"
	KindNotify  Kind = "notify"
)

// Request is what an agent wants of its human. It is immutable once the broker has it.
type Request struct {
	ID             ID            // set by the broker
	Requester      Requester     //
	Created        time.Time     // set by the broker
	Deadline       time.Time     // set by the broker: Created plus Timeout
	Timeout        time.Duration // 0: the configured default; at most [MaxTimeout]
	IdempotencyKey string        // the same key from the same requester joins the first request
	Body           Body          // one of Ask, Confirm, Form, Approve, Notify
}

// Body is the part of a request that differs from kind to kind: [Ask], [Confirm], [Form], [Approve] or
// [Notify], always as a value, never a pointer.
type Body interface {
	Kind() Kind
	// Validate returns a [*ParamError] that names the offending parameter, or nil.
	Validate() error
}

// Requester says who asks. What nod verified and what the caller claims are kept apart, here and on screen.
type Requester struct {
	Agent   string  `json:"agent,omitempty"`   // claim: the agent's name for itself
	Session string  `json:"session,omitempty"` // claim
	CWD     string  `json:"cwd,omitempty"`     // claim: absolute folder
	Process Process `json:"process,omitzero"`  // verified; zero when the peer could not be determined
}

// Folder is the one that relative paths in a request start from: the one that the requester names, else the
// one that its process works in.
func (r Requester) Folder() string { return cmp.Or(r.CWD, r.Process.CWD) }

// Process is what the operating system says of the process on the other end.
type Process struct {
	PID     int32     `json:"pid"`
	UID     int       `json:"uid"`
	Exe     string    `json:"exe"` // resolved path of its executable; empty when unreadable
	CWD     string    `json:"cwd,omitempty"`
	Started time.Time `json:"started,omitzero"`  // with PID it survives the reuse of process ids
	Parents []Parent  `json:"parents,omitempty"` // nearest first
}

// Caller is the process that stands for the requester: the nearest, from the requesting process up, that is
// more than a go-between. Agents start their hooks through a shell and nod's own command, which say nothing
// about who asks. Where there is no such process it is the requesting one.
func (p Process) Caller() Parent {
	self := Parent{PID: p.PID, Name: filepath.Base(p.Exe), Exe: p.Exe}
	if p.Exe != "" && !policy.IsGoBetween(p.Exe) {
		return self
	}
	for _, parent := range p.Parents {
		if parent.Exe != "" && !policy.IsGoBetween(parent.Exe) {
			return parent
		}
	}
	return self
}

// programs lists the verified executables of p and its ancestors, nearest first.
func (p Process) programs() []string {
	if p.Exe == "" && len(p.Parents) == 0 {
		return nil
	}
	list := make([]string, 0, 1+len(p.Parents))
	if p.Exe != "" {
		list = append(list, p.Exe)
	}
	for _, parent := range p.Parents {
		if parent.Exe != "" {
			list = append(list, parent.Exe)
		}
	}
	return list
}

// Parent is an ancestor of the requesting process.
type Parent struct {
	PID  int32  `json:"pid"`
	Name string `json:"name"`
	Exe  string `json:"exe,omitempty"`
}

// Ask is a question with a free answer, or a pick from options.
type Ask struct {
	Question    string   `json:"question" required:"true" minLength:"1" description:"what the human is asked"`
	Options     []string `json:"options,omitempty" description:"non-empty: one of them is picked"`
	AllowOther  *bool    `json:"allow_other,omitempty" default:"true" description:"with options: also offer a free text"`
	Placeholder string   `json:"placeholder,omitempty" description:"hint in the empty text field"`
	Multiline   bool     `json:"multiline,omitempty" description:"a text field of several lines"`
}

// Confirm is a yes/no question. Without an answer in time its Default is the answer, marked as such.
type Confirm struct {
	Message  string `json:"message" required:"true" minLength:"1" description:"what the human is asked to confirm"`
	Default  bool   `json:"default,omitempty" description:"what silence means"`
	YesLabel string `json:"yes_label,omitempty" description:"label of the affirmative button"`
	NoLabel  string `json:"no_label,omitempty" description:"label of the negative button"`
}

// Form is one or more questions on one page.
type Form struct {
	Title     string     `json:"title,omitempty"`
	Questions []Question `json:"questions" required:"true" minItems:"1"`
}

// Question is one question of a [Form].
type Question struct {
	ID          string    `json:"id" required:"true" minLength:"1" description:"key of the answer; unique in the form"`
	Question    string    `json:"question" required:"true" minLength:"1"`
	Header      string    `json:"header,omitempty" description:"a word or two above the question"`
	InputType   InputType `json:"input_type,omitempty" enum:"choice,text" description:"default: choice when there are options, else text"`
	Options     []Option  `json:"options,omitempty"`
	MultiSelect bool      `json:"multi_select,omitempty"`
	Required    *bool     `json:"required,omitempty" default:"true"`
	AllowOther  *bool     `json:"allow_other,omitempty" default:"true" description:"choice: also offer a free text"`
	Default     Value     `json:"default,omitzero"`
	Placeholder string    `json:"placeholder,omitempty"`
	Format      Format    `json:"format,omitempty" enum:"email,uri,date,date-time,integer,number" description:"text: what the answer must be"`
	Min         *float64  `json:"min,omitempty" description:"integer, number: least value; other text: least length in characters; choice: least number of picks"`
	Max         *float64  `json:"max,omitempty" description:"the same for the most"`
}

// IsRequired reports whether the question must be answered; it must unless it says otherwise.
func (q Question) IsRequired() bool { return q.Required == nil || *q.Required }

// OffersOther reports whether a free text may be given in place of an option.
func (q Question) OffersOther() bool { return q.AllowOther == nil || *q.AllowOther }

// Format says what the text that answers a [Question] must be.
type Format string

// The formats, those of MCP elicitation and the two kinds of number.
const (
	Email    Format = "email"
	URI      Format = "uri"
	Date     Format = "date"      // RFC 3339 full-date
	DateTime Format = "date-time" // RFC 3339
	Integer  Format = "integer"
	Number   Format = "number"
)

// InputType says how a [Question] is answered.
type InputType string

// The input types.
const (
	Choice InputType = "choice"
	Text   InputType = "text"
)

// Option is one choice of a [Question].
type Option struct {
	Label       string `json:"label" required:"true" minLength:"1"`
	Value       string `json:"value,omitempty" description:"what is answered when it is picked; default: the label"`
	Description string `json:"description,omitempty"`
	Recommended bool   `json:"recommended,omitempty" description:"shown as a badge"`
	Preview     string `json:"preview,omitempty" description:"what picking it would look like: code, a sketch; shown as plain text"`
}

// Approve asks leave for one tool call.
type Approve struct {
	Tool        string          `json:"tool" required:"true" minLength:"1" description:"the tool's name as the agent spells it"`
	Input       json.RawMessage `json:"input" required:"true" description:"the tool's input, a JSON object, shown to the human as it is"`
	Class       policy.Class    `json:"class,omitempty" enum:"read_only,write,mutating,execute,network,destructive,unknown" description:"what the caller holds the tool for; can only make nod stricter"`
	Description string          `json:"description,omitempty" description:"the agent's own words on why"`
	ToolUseID   string          `json:"tool_use_id,omitempty"`
	// Suggestions are rules that the agent itself would keep, in words; the human may pick one in place of
	// a grant of nod's. Only the hooks set them.
	Suggestions []string `json:"-"`
}

// Call is what the policy decides on when who asks leave for a.
func (a Approve) Call(who Requester) policy.Call {
	return policy.Call{
		Agent: who.Agent, Session: who.Session, CWD: who.Folder(), Programs: who.Process.programs(),
		Tool: a.Tool, Input: a.Input, Declared: a.Class,
	}
}

// Notify tells the human something and expects no answer.
type Notify struct {
	Message string `json:"message" required:"true" minLength:"1"`
	Title   string `json:"title,omitempty" description:"a heading inside the notification"`
	Level   Level  `json:"level,omitempty" enum:"info,warning,error" default:"info"`
}

// Level is how urgent a notice is.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

func (Ask) Kind() Kind     { return KindAsk }
func (Confirm) Kind() Kind { return KindConfirm }
func (Form) Kind() Kind    { return KindForm }
func (Approve) Kind() Kind { return KindApprove }
func (Notify) Kind() Kind  { return KindNotify }

// size says roughly how many bytes of memory the request holds.
func (r Request) size() int {
	const fixed = 512
	switch b := r.Body.(type) {
	case Approve:
		return fixed + len(b.Input) + len(b.Description)
	case Ask:
		n := fixed + len(b.Question)
		for _, o := range b.Options {
			n += len(o)
		}
		return n
	case Form:
		n := fixed
		for _, q := range b.Questions {
			n += fixed + len(q.Question) + len(q.Default.String())
			for _, o := range q.Options {
				n += len(o.Label) + len(o.Value) + len(o.Description)
			}
		}
		return n
	case Confirm:
		return fixed + len(b.Message)
	case Notify:
		return fixed + len(b.Message)
	}
	return fixed
}
