package devicetest

import (
	"nod/api"
	"nod/interact"
	"nod/ipc/device"
	"nod/ipc/remote"
)

// The protocol, as a page has it: see package device.

// Nonce is a number that a device signs with a request, once.
type Nonce struct {
	Nonce string `json:"nonce"`
}

// Pairing is how a device becomes one of the user's.
type Pairing struct {
	Secret string `json:"secret"`          // of the invitation
	Key    string `json:"key"`             // as in Authorization
	Waits  bool   `json:"waits,omitempty"` // for what the user decides, 25 seconds at most; else for nothing
}

// Paired is how far a pairing is.
type Paired struct {
	Words  string  `json:"words"`            // of the device's key, to compare with those at the desk
	Device *Device `json:"device,omitempty"` // once they have
}

// Device is what the user calls a device, and what it may do.
type Device struct {
	Name string     `json:"name"`
	May  remote.May `json:"may"`
}

// Prompts is what is pending.
type Prompts struct {
	Cursor  string            `json:"cursor"`
	Desk    device.About      `json:"desk"`
	Device  Device            `json:"device"`
	Push    string            `json:"push,omitempty"` // the key of applicationServerKey, in base64url; empty: no Web Push
	Prompts []device.Headline `json:"prompts"`
}

// Answer is what the user did with a prompt.
type Answer struct {
	ID       interact.ID `json:"id"`
	Revision string      `json:"revision"` // of the view
	Digest   string      `json:"digest"`   // hex SHA-256 of the bytes of the view
	Seen     bool        `json:"seen"`     // the end of what must be read has been in view

	// Outcome is allowed or denied for an approval, else answered or dismissed (decline to answer): no other counts.
	Outcome    api.Outcome          `json:"outcome"`
	Reason     string               `json:"reason,omitempty"`     // with denied
	Suggestion int                  `json:"suggestion,omitempty"` // with allowed: of the button
	Text       string               `json:"text,omitempty"`       // to a question
	Confirmed  bool                 `json:"confirmed,omitempty"`  // to a confirmation: the yes, else the no
	Values     map[string]api.Value `json:"values,omitempty"`     // of a form: a list for a choice, else a text
}

// Problem says why a request failed.
type Problem struct {
	Code     string `json:"code"`
	Message  string `json:"message"` // for the user: the key of a sentence of the page, or one in the desk's language
	Question string `json:"question,omitempty"`
	WaitMS   int64  `json:"wait_ms,omitempty"` // with "early": after how long it will do
}

// Level is how much attention something calls for.
type Level string

// The levels.
const (
	Note    Level = "note"
	Caution Level = "caution"
	Danger  Level = "danger"
)

// View is a prompt as a page shows it. All text of a requester's is spelled out already: what would not show is
// visible, so it is to be set as text, never as markup. What it has not is not to be shown.
type View struct {
	ID       interact.ID `json:"id"`
	Revision string      `json:"revision"`
	Kind     api.Kind    `json:"kind"` // approve, ask, confirm or form
	ArmMS    int64       `json:"arm_ms"`
	Head     Head        `json:"head"`

	// Of an approval.
	Level    Level    `json:"level,omitempty"`    // of the worst that is known of it
	Facts    []Fact   `json:"facts,omitempty"`    // what nod worked out: what the call can do first, then the worst
	Reporter string   `json:"reporter,omitempty"` // whose word Reported, Parts and Why are; empty: nod's here
	Reported []Fact   `json:"reported,omitempty"` // what the machine that asks says beside Facts
	Dangers  []string `json:"dangers,omitempty"`  // the dangerous parts of a long command
	Warnings []string `json:"warnings,omitempty"`
	Lines    []Line   `json:"lines,omitempty"` // the exact input; of a question or a confirmation its text
	Must     int      `json:"must,omitempty"`  // the first so many lines must have been in view; 0: all of them
	TooLong  bool     `json:"too_long"`        // it cannot be shown whole, so nobody can allow it
	Prose    bool     `json:"prose,omitempty"` // the lines are a plan, to be read rather than executed
	Parts    []Part   `json:"parts,omitempty"` // of a command line: what of it the rules let pass
	Raw      []Line   `json:"raw,omitempty"`   // the whole input as JSON, where Lines show it in another way
	Says     string   `json:"says,omitempty"`  // the agent's own description
	WhyLabel string   `json:"why_label,omitempty"`
	Why      string   `json:"why,omitempty"`    // why the user is asked
	Title    string   `json:"title,omitempty"`  // of a form
	Silence  string   `json:"silence,omitzero"` // what happens when nobody answers, with {time} for how long that is in
	Fields   []Field  `json:"fields,omitempty"` // of a question one, of a form all

	Affirm []Affirmation `json:"affirm,omitempty"` // the buttons that say yes; none when this device may not
	Refuse *Refusal      `json:"refuse,omitempty"` // the button that says no; nil when this device may not
	Limit  string        `json:"limit,omitempty"`  // what this device may not do here, and why
}

type Head struct {
	Agent   string   `json:"agent"`
	Project string   `json:"project,omitempty"`
	Wish    string   `json:"wish"`              // as in "wants to run"
	Object  string   `json:"object,omitempty"`  // of that, in the requester's own word: set it apart
	Machine string   `json:"machine,omitempty"` // as in "on build-1"; empty: on the desk's own
	Origin  []Origin `json:"origin"`
}

type Origin struct {
	Label string `json:"label"` // as in "verified"
	Level Level  `json:"level"` // caution for what is not verified
	Text  string `json:"text"`
}

type Fact struct {
	Text  string `json:"text"`
	Level Level  `json:"level"`
}

type Line struct {
	// Style is text, added, removed, title (big), key (name of a field), note (nod's own words), rule (parts two sections,
	// with nod's own words or none) or cut (something is left out here).
	Style string `json:"style"`
	Lead  string `json:"lead,omitempty"` // in front of it, where no text of a requester gets: numbers, + and -
	Spans []Span `json:"spans,omitempty"`
}

type Span struct {
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"` // hidden, run or suspicious, as package safetext has them; empty: plain
	Why  string `json:"why,omitempty"`  // what is odd about it
}

type Part struct {
	Text  string `json:"text"`
	State string `json:"state"` // as [policy.PartState]
	Note  string `json:"note,omitempty"`
}

// Affirmation is a button that says yes.
type Affirmation struct {
	Label      string `json:"label"`
	Suggestion int    `json:"suggestion,omitempty"` // goes into the answer
}

// Refusal is the button that says no.
type Refusal struct {
	Label       string `json:"label"`
	Why         string `json:"why,omitempty"`         // the label of what asks for a reason; empty: none can be given
	Send        string `json:"send,omitempty"`        // the label while there is one
	Placeholder string `json:"placeholder,omitempty"` // of the field for it
}

type Field struct {
	ID          string   `json:"id"` // key in an answer's values; of a question that is not in a form empty
	Header      string   `json:"header,omitempty"`
	Question    []Line   `json:"question"`
	Input       string   `json:"input"` // choice or text
	Required    bool     `json:"required"`
	Hint        string   `json:"hint,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Multiline   bool     `json:"multiline,omitempty"`
	Format      string   `json:"format,omitempty"` // of a text: email, uri, date, date-time, integer, number
	Multi       bool     `json:"multi,omitempty"`  // of a choice: more than one may be picked
	Other       bool     `json:"other,omitempty"`  // of a choice: a text of one's own will do, too
	Options     []Option `json:"options,omitempty"`
	Default     []string `json:"default,omitempty"` // of a choice what is picked, else the text
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
}

type Option struct {
	Value       string `json:"value"` // goes into the answer as it is; never shown
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Recommended bool   `json:"recommended,omitempty"`
	Preview     []Line `json:"preview,omitempty"`
}
