// Package operator is the private API between nod's two processes: everything that the user can do with nod.
//
// The tray process implements [Operator] and serves it to the windows process only, over a pair of inherited pipes,
// never on the port or the socket for agents. The protocol is JSON-RPC 2.0, one message per line, with calls both ways:
// the tray process announces changes and pings; the windows process fetches what it shows and delivers what the user
// did.
package operator

import (
	"context"
	"errors"
	"time"

	"nod/interact"
	"nod/interact/history"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/config"
	"nod/sandbox/snapshot"
)

// Operator is what the user can do. All methods may block and are safe for concurrent use.
type Operator interface {
	// Prompts lists the pending prompts. It omits the requests of prompts that the caller knows in their current revision,
	// and of new ones after the first few: call it again until none is missing.
	Prompts(ctx context.Context, known map[interact.ID]int) (Pending, error)
	// Answer ends a pending request. It fails with [ErrGone] if the request is no longer pending, with [ErrChanged] if the
	// answer is not a no and not to the current prompt, and as [interact.Request.Check] if it is not valid.
	Answer(ctx context.Context, a Answer) error
	// SaveDraft saves the user's unfinished answer; an empty draft deletes it. It fails with [ErrGone].
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
	// Snooze hides a pending request for a while; 0 ends that early. It fails with [ErrGone].
	Snooze(ctx context.Context, id interact.ID, d time.Duration) error
	// Report reports what is on screen.
	Report(ctx context.Context, s Screen) error

	// State returns the settings and rules in force.
	State(ctx context.Context) (State, error)
	// Replace changes the configuration from base to next. It fails with [config.ErrChanged] if it is no longer base.
	Replace(ctx context.Context, base, next config.Config) error
	// Pause starts or ends a pause.
	Pause(ctx context.Context, p Pause) error
	// SettleHeld accepts or undoes a change of the policy file that nod did not make.
	SettleHeld(ctx context.Context, held config.HeldChange, accept bool) error
	// Revoke deletes a grant, or all if id is empty.
	Revoke(ctx context.Context, id string) error
	// Undo undoes what the user has just saved or deleted.
	Undo(ctx context.Context, id int) error
	// AcceptGrants puts grants that another program wrote in force.
	AcceptGrants(ctx context.Context) error
	// Suggest proposes rules for prompts that the user always answered the same way.
	Suggest(ctx context.Context) ([]policy.Suggestion, error)
	// History finds entries of the journal.
	History(ctx context.Context, q history.Query) (history.Page, error)
	// Entry returns a complete entry of the journal.
	Entry(ctx context.Context, seq int64) (history.Entry, error)
	// Changed returns what the command or the edit of an entry changed, if that is kept.
	Changed(ctx context.Context, seq int64) (Changed, error)
	// Diff returns how it changed one file.
	Diff(ctx context.Context, seq int64, path string) (Diff, error)
	// PlanTakeBack returns what taking an entry's changes back would do now.
	PlanTakeBack(ctx context.Context, seq int64) (TakeBack, error)
	// TakeBack takes an entry's changes back, and returns what it left alone because it changed meanwhile. It fails with
	// [ErrChanged] if that would not do what the plan with this digest says.
	TakeBack(ctx context.Context, seq int64, digest string) ([]snapshot.Conflict, error)
	// Facets returns the values to filter by.
	Facets(ctx context.Context) (history.Facets, error)
	// SetAutostart sets whether nod starts with the session.
	SetAutostart(ctx context.Context, on bool) error

	// Peers returns what is paired with this desk, and what asks to be paired.
	Peers(ctx context.Context) (Peers, error)
	// Pair admits a key that asks to join, in the role that the user was shown, under a new name.
	Pair(ctx context.Context, key remote.Key, role remote.Role, name string) error
	// Unpair revokes a key immediately.
	Unpair(ctx context.Context, name string) error
	// SetMay changes what a device may do.
	SetMay(ctx context.Context, name string, may remote.May) error
	// SettlePeers ends the distrust of a list of peers that another program changed: it accepts exactly the peers that the
	// user has seen, or starts over with none.
	SettlePeers(ctx context.Context, seen []remote.Peer, accept bool) error
	// ForgetApprovals makes a machine revoke what was allowed there for more than once.
	ForgetApprovals(ctx context.Context, name string) error
	// Invite lets one device ask to be paired, until the invitation ends. [Pair] admits it.
	Invite(ctx context.Context, name string, may remote.May) (Invitation, error)
	// WithdrawInvitation ends the current invitation.
	WithdrawInvitation(ctx context.Context) error

	// TestRequest shows the user a harmless test prompt, as if by an agent, and waits for the result.
	TestRequest(ctx context.Context) (interact.Answer, error)
	// Welcomed notes that the user has seen the welcome.
	Welcomed(ctx context.Context) error
}

var (
	// ErrGone says that a request is no longer pending.
	ErrGone = errors.New("this request is no longer pending")
	// ErrChanged says that the state on which the user's action is based has changed.
	ErrChanged = errors.New("the content has changed since")
	// ErrVersion says that the two processes have different versions, for example after an update.
	ErrVersion = errors.New("nod was updated: quit it, in the menu of its tray icon, and start it again")
)

// Exit codes of a windows process.
const (
	ExitNoDisplay   = 3 // the display server refuses it
	ExitVersion     = 4 // after an [ErrVersion]
	ExitDisplayLost = 5 // the display server ended
)

// Pending is what the windows have to show.
type Pending struct {
	Prompts []Prompt // oldest first
	Wanted  []View   // to bring to the front after that, each reported once
}

// Undo is a recent deletion that the user can undo.
type Undo struct {
	ID    int
	Kind  string    // [UndoRevoke] or [UndoRule]
	Text  string    // what it was about; may contain an agent's text
	Until time.Time // can be undone until then
}

// The kinds of action that can be undone.
const (
	UndoRevoke = "revoke" // saved approvals were revoked
	UndoRule   = "rule"   // rules were deleted
)

// Prompt is a pending request as a window shows it.
type Prompt struct {
	ID       interact.ID
	Revision int               // rises when anything below changes
	Request  *interact.Request // nil if the caller knows it; without its times
	Times    interact.Times
	Why      policy.Decision
	Offers   policy.Offers // what to say and offer about an approval
	Digest   string        // of all of it but times and draft
	Draft    []byte        // the user's unfinished answer, as the windows encoded it; may be empty
}

// MaxDraft limits a draft, in bytes.
const MaxDraft = 256 << 10

// Answer is what the user did with a prompt.
type Answer struct {
	ID      interact.ID
	Digest  string // of the prompt as it was shown
	Answer  interact.Answer
	Failure string // why the prompt could not be shown; then there is no answer
}

type Screen struct {
	Focused  bool        // one of nod's windows has the focus
	Open     bool        // another window than the prompts is open
	Settings bool        // the settings window is open
	Prompt   interact.ID // the prompt shown, reported before its layout; may be empty
}

// View is a window to show.
type View struct {
	Settings bool          // the settings
	Welcome  bool          // with Settings: the welcome page instead
	History  bool          // the history; without it and Settings the prompt window
	Query    history.Query // with History: the entries to list; zero: those it listed last
	Request  interact.ID   // the prompt to bring to the front; zero: the current one
}

// State is the settings and rules in force, and nod's own state.
type State struct {
	Config     config.Config
	Problem    string             // why configuration or grants are broken; may be empty
	Held       *config.HeldChange // a change of the policy file by another program; may be nil
	Grants     []policy.Grant
	HeldGrants []policy.Grant              // written by another program, not in force
	Undos      []Undo                      // as in [Pending]
	Contacts   map[string]interact.Contact // how agents' hooks last reached nod, by agent
	Pause      Pause
	Autostart  Autostart
	Journal    Journal
	Sandbox    string // why commands cannot run in a sandbox here, and what to do; empty: they can
	Restart    bool   // a setting takes effect only after a restart
	About      About
}

// Pause is a time in which nod does not ask the user. The zero value is no pause.
type Pause struct {
	On    bool
	Until time.Time // zero: until the user resumes
}

// Journal describes the history file.
type Journal struct {
	Path    string // of its file; empty if unknown
	Entries int64
	Bytes   int64        // on the disk
	Head    history.Head // the last entry
	Problem string       // why nothing can be written; may be empty
}

// Changed is what a command or an edit did to the files of its project, up to now if it still runs.
type Changed struct {
	Run   snapshot.Run      // the number is 0 if nothing is kept of it; once it is taken back, this is the run that did so
	Files []snapshot.Change // the first of Run.Files
}

// Diff is the change of a file in the format of patch.
type Diff struct {
	Text []byte
	Cut  bool // there is more
}

// TakeBack is what taking changes back would do.
type TakeBack struct {
	Digest    string
	Files     []snapshot.Change   // the first of Count
	Conflicts []snapshot.Conflict // files that are left alone, the first of Left

	Count, Left int
}

// Autostart says whether nod starts with the session.
type Autostart struct {
	On      bool
	Problem string // why that is unknown
}

// About describes nod itself.
type About struct {
	Version string
	URL     string // where nod listens
	Socket  string // the same as a Unix socket; empty where there is none
	Config  string // path of the policy file
	Log     string // path of the log
}

// Peers describes the machines, desks and devices that ask and answer.
type Peers struct {
	Desk        remote.Key    // of this desk
	Fingerprint string        // of it, in words
	Peers       []Peer        // by role, then by name
	Joining     []Joining     // those that ask to join, the newest first
	Problem     string        // why all peers are ignored: another program changed the list; may be empty
	Held        []remote.Peer // the changed list, for the user to accept; empty: unreadable
	Lines       []Line        // the configured connections, by name
	Phone       Phone
}

// Peer is a peer with its current state.
type Peer struct {
	remote.Peer
	remote.State
	Hello   remote.Hello // of a machine or a desk that is or was connected; its own claims
	Line    string       // by name, which connects a machine
	Pending int          // its pending requests
	IsOld   bool         // the policy that it applies is outdated
}

// Line is a configured connection and its state.
type Line struct {
	Name string // such as "ssh me@host", or [NATSLine]
	remote.State
}

// NATSLine is the name of the connection to NATS.
const NATSLine = "nats"

// Joining is a key that is not paired yet.
type Joining struct {
	Key         remote.Key
	Role        remote.Role
	Fingerprint string // in words, for the user to compare with what the other end shows
	Hello       remote.Hello
	May         remote.May // of a device: the rights that it was invited to
	Line        string     // of a device: none
	Came        time.Time
}

// Phone says how devices reach this desk.
type Phone struct {
	URL         string    // empty: off
	Fingerprint string    // SHA-256 of the certificate, as browsers show it
	Problem     string    // why it is not served
	Addresses   []Address // addresses for it, the best first
}

// Address is one of this machine's addresses.
type Address struct {
	IP        string
	Interface string // as in tailscale0
	Private   bool   // of an encrypted network, such as Tailscale's or WireGuard's
}

// Invitation lets one device ask to be paired.
type Invitation struct {
	URL   string    // for the code that the device's camera scans: contains a secret
	Until time.Time // when it ends
}

// SelfTestFlag makes the windows process print a [SelfTest] as JSON and exit.
const SelfTestFlag = "--self-test"

// SelfTest says whether the windows process works in its session.
type SelfTest struct {
	Version string   `json:"version"`
	Problem string   `json:"problem,omitempty"` // why it can show no window; may be empty
	Undrawn []Script `json:"undrawn,omitempty"` // scripts that no installed font can draw
}

// Script is a kind of characters that needs its own fonts.
type Script string

// The scripts of a [SelfTest].
const (
	Chinese  Script = "Chinese"
	Japanese Script = "Japanese"
	Korean   Script = "Korean"
	Emoji    Script = "emoji"
)

// Sample returns a character of the script.
func (s Script) Sample() rune {
	return map[Script]rune{Chinese: '请', Japanese: 'か', Korean: '한', Emoji: '😀'}[s]
}
