// Package operator is the private API between nod's two processes: all that a person can do with nod.
//
// The tray process implements [Operator] and serves it to the windows process, and to nobody else: over the pair of
// pipes that the windows process inherits, never on the port or the socket that agents reach. The protocol is
// JSON-RPC 2.0, one message a line, with calls both ways: the tray process says that something has changed and asks
// for a sign of life; the windows process fetches what it shows and delivers what the person did.
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
)

// Operator is what a person can do. All methods may block and are safe for concurrent use.
type Operator interface {
	// Prompts lists what is pending. Prompts that the caller knows in their current revision come without their
	// request, and so do new ones after the first few: fetch again until none has one.
	Prompts(ctx context.Context, known map[interact.ID]int) (Pending, error)
	// Answer ends a pending request. The error is [ErrGone] when it is not pending any more, and [ErrChanged] when
	// an allow that is kept would save something else than what was shown.
	Answer(ctx context.Context, a Answer) error
	// SaveDraft keeps what the person has typed into a pending prompt; an empty draft says that they have typed nothing.
	// The error is [ErrGone] when it is not pending any more.
	SaveDraft(ctx context.Context, id interact.ID, draft []byte) error
	// Snooze puts a pending request off for a while, or ends that early with 0. The error is [ErrGone] when it is not
	// pending any more.
	Snooze(ctx context.Context, id interact.ID, d time.Duration) error
	// Report says what is on screen.
	Report(ctx context.Context, s Screen) error

	// State is what is in force.
	State(ctx context.Context) (State, error)
	// Replace changes the configuration from base to next. The error is [config.ErrChanged] when it is no longer base.
	Replace(ctx context.Context, base, next config.Config) error
	// SettleHeld accepts or undoes a change of the policy file that nod did not make.
	SettleHeld(ctx context.Context, held config.HeldChange, accept bool) error
	// Revoke takes a grant back; with an empty id all of them.
	Revoke(ctx context.Context, id string) error
	// Settle takes back what the person did a moment ago, or lets it stand at once.
	Settle(ctx context.Context, undo int, back bool) error
	// AcceptGrants puts grants in force that another program wrote.
	AcceptGrants(ctx context.Context) error
	// Try says what the policy makes of a call. Nothing is counted or kept.
	Try(ctx context.Context, call policy.Call) (Trial, error)
	// Suggest proposes rules for what the person always answered alike.
	Suggest(ctx context.Context) ([]policy.Suggestion, error)
	// History finds entries of the journal.
	History(ctx context.Context, q history.Query) (history.Page, error)
	// Entry is one entry of the journal, whole.
	Entry(ctx context.Context, seq int64) (history.Entry, error)
	// Facets are the values that there are to filter by.
	Facets(ctx context.Context) (history.Facets, error)
	// Insights sums up what happened since then.
	Insights(ctx context.Context, since time.Time) (history.Insights, error)
	// Away is what happened while the person was away last.
	Away(ctx context.Context) (history.Away, error)
	// Export writes what a query finds, all of it, to a file that does not exist yet, and says how much that is.
	Export(ctx context.Context, q history.Query, path string, format history.Format) (int, error)
	// Verify holds every entry of the journal against their chain, which may take long.
	Verify(ctx context.Context) (Verified, error)
	// SetAutostart says whether nod starts with the session.
	SetAutostart(ctx context.Context, on bool) error
	// Desktop asks the desktop what it offers. It may take a moment.
	Desktop(ctx context.Context) (Desktop, error)

	// Peers is what is paired with this desk, and what asks to be.
	Peers(ctx context.Context) (Peers, error)
	// Pair lets in a key that asks to join, under a name that no other has.
	Pair(ctx context.Context, key remote.Key, name string) error
	// Unpair revokes a key, from this moment on.
	Unpair(ctx context.Context, name string) error
	// SetMay changes what a device may do.
	SetMay(ctx context.Context, name string, may remote.May) error
	// SettlePeers ends a time in which no peer counts, because another program changed the list: it accepts exactly those
	// that the person has seen, or starts anew with none.
	SettlePeers(ctx context.Context, seen []remote.Peer, accept bool) error
	// ForgetApprovals has a machine end what was allowed there for longer than once.
	ForgetApprovals(ctx context.Context, name string) error
	// Invite has the one device that shows what the invitation says, before that ends, ask to be paired. [Pair] lets it
	// in.
	Invite(ctx context.Context, name string, may remote.May) (Invitation, error)
	// WithdrawInvitation has the invitation that was made last let in nobody any more.
	WithdrawInvitation(ctx context.Context) error

	// TestRequest asks the person as an agent would, about something harmless that nobody does, and waits for what comes
	// of it.
	TestRequest(ctx context.Context) (interact.Answer, error)
	// Welcomed says that the person has seen the welcome.
	Welcomed(ctx context.Context) error
}

var (
	// ErrGone says that a request is not pending any more.
	ErrGone = errors.New("this request is not pending any more")
	// ErrChanged says that what an answer starts from is no longer so.
	ErrChanged = errors.New("what would be saved has changed meanwhile")
	// ErrVersion says that the two processes do not belong together, as after an update.
	ErrVersion = errors.New("nod was updated: quit it, in the menu of its tray icon, and start it again")
)

// Exit codes of a windows process.
const (
	ExitNoDisplay   = 3 // the display server refuses it
	ExitVersion     = 4 // it has met with [ErrVersion]
	ExitDisplayLost = 5 // the display server has ended
)

// Pending is what the windows are to show.
type Pending struct {
	Prompts []Prompt // oldest first
	Wanted  []View   // to bring to the front after that, each told once
	Undos   []Undo   // what can be taken back, the newest last
}

// Undo is something that the person did a moment ago and can take back.
type Undo struct {
	ID    int
	Kind  UndoKind
	Text  string    // what it was about, in nobody's safe words
	Until time.Time // from then on it stands
}

// OfPrompt reports whether it was done at a prompt; else in the settings.
func (u Undo) OfPrompt() bool { return u.Kind == UndoDeny || u.Kind == UndoKeep }

// UndoKind says what the person did.
type UndoKind string

// What can be taken back.
const (
	UndoDeny   UndoKind = "deny"   // the agent has not heard of it: then it is asked again
	UndoKeep   UndoKind = "keep"   // an allow saved something; the call itself has run
	UndoRevoke UndoKind = "revoke" // saved approvals were revoked
	UndoRule   UndoKind = "rule"   // rules were deleted
)

// Prompt is a pending request as a window shows it.
type Prompt struct {
	ID       interact.ID
	Revision int               // rises when anything below changes
	Request  *interact.Request // nil: known to the caller; its times are those of
	Times    interact.Times
	Why      policy.Decision
	Offers   policy.Offers // what to say and offer about an approval
	Draft    []byte        // what the person has typed, as the windows wrote it; empty: nothing
}

// MaxDraft is how long a draft is at most, in bytes.
const MaxDraft = 256 << 10

// Answer is what the person did with a prompt.
type Answer struct {
	ID      interact.ID
	Answer  interact.Answer
	Saves   string // what an allow that is kept was shown to save
	Failure string // why the prompt could not be shown; then there is no answer
}

// sentAnswer is an [Answer] on its way to the other process, which may read another clock.
type sentAnswer struct {
	Answer
	Seen time.Duration // since the prompt was first on screen, in the place of that time; 0: it never was
}

func (a Answer) sent(now time.Time) sentAnswer {
	s := sentAnswer{Answer: a}
	if at := a.Answer.Shown.At; !at.IsZero() {
		s.Seen, s.Answer.Answer.Shown.At = max(now.Sub(at), 1), time.Time{}
	}
	return s
}

func (s sentAnswer) received(now time.Time) Answer {
	if s.Seen > 0 {
		s.Answer.Answer.Shown.At = now.Add(-s.Seen)
	}
	return s.Answer
}

// Screen is what is on screen in the windows process.
type Screen struct {
	Focused  bool        // one of nod's windows has the focus
	Open     bool        // a window is open beside the prompts
	Settings bool        // that is, or is also, the one of the settings
	Prompt   interact.ID // the one that is shown, told before it is laid out; empty for none
}

// View is a window that the tray process wants shown.
type View struct {
	Settings bool        // the settings
	Welcome  bool        // with Settings: what a new person sees in their place
	History  HistoryPage // this page of the history; without it and Settings the prompt window
	Entry    int64       // with History: the entry to show
	Request  interact.ID // the prompt to bring to the front; zero: the current one
}

// HistoryPage is a page of the history window.
type HistoryPage string

// The pages.
const (
	HistoryEntries  HistoryPage = "entries"
	HistoryAway     HistoryPage = "away" // while you were away
	HistoryInsights HistoryPage = "insights"
)

// State is what is in force, and what nod says of itself.
type State struct {
	Config     config.Config
	Problem    string             // why configuration or grants are broken; empty: they are not
	Held       *config.HeldChange // a change of the policy file by another program; nil: none
	Grants     []policy.Grant
	HeldGrants []policy.Grant              // written by another program, not in force
	Undos      []Undo                      // as in [Pending]
	Contacts   map[string]interact.Contact // what came of agents' hooks, by agent
	Autostart  Autostart
	Journal    Journal
	Shortcut   string // why the shortcut that brings nod up does not work; empty: it does, or there is none
	Restart    bool   // something was set that counts only once nod is started again
	About      About
}

// Journal is what nod has kept of what was asked.
type Journal struct {
	Path    string // of its file; empty: nothing is known
	Entries int64
	Bytes   int64        // on the disk
	Head    history.Head // the last entry
	Problem string       // why nothing can be kept now; empty: it can
}

// Verified is what holding the journal against its chain has found.
type Verified struct {
	Head    history.Head // the last entry
	Problem string       // with the first entry that was changed, is missing or not where it was; empty: there is none
}

// Autostart says whether nod starts with the session.
type Autostart struct {
	On      bool
	Problem string // why that is not known
}

// About is what nod says of itself.
type About struct {
	Version string
	URL     string // where nod listens
	Socket  string // the same as a Unix socket; empty where there is none
	Config  string // path of the policy file
	Log     string // path of the log
}

// Peers is what else asks and answers.
type Peers struct {
	Desk        remote.Key    // of this desk
	Fingerprint string        // of it, in words
	Peers       []Peer        // by role, then by name
	Joining     []Joining     // those that ask to join, the newest first
	Problem     string        // why no peer counts: another program changed the list; empty: they do
	Held        []remote.Peer // what it made of the list, for the person to accept; none: it cannot be read
	Lines       []Line        // that the configuration asks for, by name
	Phone       Phone
}

// Peer is one of them, and how it is now.
type Peer struct {
	remote.Peer
	remote.State
	Hello   remote.Hello // of a machine or a desk that is or was connected; its own claims
	Line    string       // by name, which connects a machine
	Pending int          // requests of it that wait
	IsOld   bool         // the policy that it applies is an older one
}

// Line is one of the lines that the configuration asks for, and how it is by itself.
type Line struct {
	Name string // such as "ssh me@host", or [NATSLine]
	remote.State
}

// NATSLine is the name of the line over which all come that meet at a NATS server.
const NATSLine = "nats"

// Joining is a key that nobody has paired yet.
type Joining struct {
	Key         remote.Key
	Role        remote.Role
	Fingerprint string // in words, for the person to compare with what the other end shows
	Hello       remote.Hello
	May         remote.May // of a device: what it was invited to
	Line        string     // of a device: none
	Came        time.Time
}

// Phone is how devices reach this desk.
type Phone struct {
	URL         string    // empty: it is off
	Fingerprint string    // SHA-256 of the certificate, as browsers show it
	Problem     string    // why it is not served
	Addresses   []Address // that it could be served at, the best first
}

// Address is one of this machine's own.
type Address struct {
	IP        string
	Interface string // as in tailscale0
	Private   bool   // of a network that is encrypted itself, such as Tailscale's or WireGuard's
}

// Invitation has one device ask to be paired.
type Invitation struct {
	URL   string    // for the code that the device's camera reads: with a secret in it
	Until time.Time // when it ends
}

// Trial is what the policy makes of a call.
type Trial struct {
	Decision policy.Decision
	Steps    []string // that led there
	Parts    []policy.CommandPart
}

// Desktop is what the desktop offers.
type Desktop struct {
	Tray          bool // something shows tray icons
	Notifications bool // something shows notifications
}
