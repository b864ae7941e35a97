// Package remote defines the messages between a desk and the machines paired with it.
//
// A desk is a nod-desktop with a user before the screen. A machine without one runs a relay, a headless nod: it takes
// the requests of the agents there as nod-desktop does here, applies the policy that a desk gave it, and asks the desks
// about the rest. Package session connects the two, over the standard input and output of a command such as ssh, or
// over NATS (package cluster).
//
// Whatever carries it, a connection is TLS 1.3 between two keys. A desk knows machines by keys that its user has
// paired, a relay its desks by the keys that it was started with or that connected first. A machine can ask and report
// what it knows; only a desk answers.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"nod/interact"
	"nod/policy"
)

// Hello is what a machine says about itself when it is connected. All of it is only a claim.
type Hello struct {
	Name    string    `json:"name"`    // of the machine, as its system has it
	User    string    `json:"user"`    // whose relay it is
	System  string    `json:"system"`  // as in linux/amd64
	Version string    `json:"version"` // of its nod
	Clock   time.Time `json:"clock"`   // its own
	Policy  uint64    `json:"policy"`  // serial of the desk's policy that it applies; 0: none yet, so it always asks
	Grants  int       `json:"grants"`  // approvals that it keeps for longer than once
	Desks   []Key     `json:"desks"`   // whose answers it takes
	Wants   []Key     `json:"wants"`   // desks that connected and need one of Desks to pair them first
}

// Request is a request sent from a relay to a desk. Its times are durations, so that the clocks of two machines are
// never compared.
type Request struct {
	Request interact.Request `json:"-"`       // with what the relay reports; Requester.Machine is empty
	Text    json.RawMessage  `json:"request"` // of Request, without its times
	Times   interact.Times   `json:"times"`
}

// NewRequest encodes a request once, for its digest and for all desks. It encodes the decoded form, so that text that
// JSON cannot represent, such as a path that is not UTF-8, becomes the same bytes again after the relay restarts.
func NewRequest(r interact.Request) (Request, error) {
	sent := Request{Request: r}
	r.Created, r.Deadline, r.Until, r.Snoozed = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	r.Requester.Machine = ""
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil {
		sent.Text, err = json.Marshal(r)
	}
	if err != nil {
		return Request{}, fmt.Errorf("encode request %s: %w", r.ID, err)
	}
	return sent, nil
}

// Digest returns the hex SHA-256 of the request, its requester and what the relay reports. It covers the bytes that are
// sent, so that it is the same at both ends, but not the times, which change each time the request is sent. An answer
// contains it.
func (r Request) Digest() string { return interact.Digest(r.Text) }

// Read decodes the received text. It refuses unknown members at any depth, because the digest covers them but no user
// would see them.
func (r *Request) Read() error {
	if err := json.Unmarshal(r.Text, &r.Request); err != nil {
		return err
	}
	again, err := json.Marshal(r.Request)
	if err == nil && !bytes.Equal(again, r.Text) {
		err = fmt.Errorf("request %s contains something that this nod does not know", r.Request.ID)
	}
	return err
}

// Answer is what a user at a desk did with a request, or how it ended.
type Answer struct {
	ID     interact.ID     `json:"id"`
	Digest string          `json:"digest"` // of the very request that was shown: see [Request.Digest]
	Answer interact.Answer `json:"answer"` // its Device names the desk, or the phone, where there is one
}

// Policy is what a desk makes its machines apply.
type Policy struct {
	Serial  uint64        `json:"serial"` // rises with every change: an older one is never applied again
	Policy  policy.Policy `json:"policy"`
	Timeout time.Duration `json:"timeout"` // of requests that have none
	AskMore bool          `json:"ask_more"`
}

// State is the state of a link or a line.
type State struct {
	Up      bool          `json:"up"`
	Since   time.Time     `json:"since,omitzero"`   // when it came up, or went down
	Problem string        `json:"problem,omitzero"` // why it is down, and what to do; empty: it is up, or coming
	Trip    time.Duration `json:"trip,omitzero"`    // how long a message and its receipt took last
	Skew    time.Duration `json:"skew,omitzero"`    // how far the clock at the other end is ahead, as it says
}

// Line is a desk's connection to a machine, or to all machines that one broker connects. It is safe for concurrent use.
type Line interface {
	// Run connects, and reconnects, until ctx ends. The error says why no connection is possible.
	Run(ctx context.Context) error
	// Commit sends a machine the answer to one of its requests and returns the answer that the relay settled: this one,
	// another desk's, or how the request had ended before. The error wraps [ErrDown] while the machine cannot be reached;
	// the same answer can be sent again and counts once.
	Commit(ctx context.Context, machine Key, a Answer) (interact.Answer, error)
	// Forget makes a machine end all approvals that were given for more than once. The error is like that of Commit.
	Forget(ctx context.Context, machine Key) error
	// Greet tells all connected machines now which desks are paired here, and the policy if it has changed.
	Greet()
	// Drop ends the connection with a machine that was just unpaired. Nothing more that it sends is accepted.
	Drop(machine Key)
	// State returns the state of the connection with a machine or, for the zero key, of the line.
	State(machine Key) State
}

// Desk is the part of a desk that a [Line] needs.
type Desk interface {
	// Join notes that a machine is connected, and returns its peer. The error is [ErrNotPaired] until the user has paired
	// it; until then nothing that it sends is accepted.
	Join(machine Key, h Hello) (Peer, error)
	// Leave notes that a machine is no longer connected.
	Leave(machine Key)
	// Take accepts a request. The same request may be sent again and is accepted once. Errors are those of
	// [interact.Broker]'s Begin.
	Take(from Peer, r Request) error
	// Open lists the requests of a machine that wait for an answer here, by the machine's ids. A line sends them to the
	// machine, which reports how those ended that it no longer knows as pending.
	Open(from Peer) []interact.ID
	// Policy returns what machines apply now. Its serial tells which machine already has it.
	Policy() (Policy, error)
	// Desks lists the other desks that the user has paired, whose answers relays may accept, too.
	Desks() []Key
	// End notes how a request ended that this desk did not answer.
	End(from Peer, a Answer)
	// Keep writes what a relay decided by the policy to the journal. The same record may be sent again.
	Keep(from Peer, decided []interact.Record) error
}

var (
	// ErrNotPaired says that the user has not paired a key, or has revoked it.
	ErrNotPaired = errors.New("not paired with this desk")
	// ErrDown says that the other end cannot be reached now.
	ErrDown = errors.New("not reachable now")
	// ErrProtocol says that the nod at the other end speaks another protocol.
	ErrProtocol = errors.New("the nod there is not compatible with this one: install the same version on both")
)

// Role is the role of a paired key.
type Role string

// The roles.
const (
	RoleMachine Role = "machine" // it asks
	RoleDesk    Role = "desk"    // it answers as this desk does
	RoleDevice  Role = "device"  // it answers what its user may answer there
)

// Peer is a key that the user has paired.
type Peer struct {
	Name  string    `json:"name"` // which the user gave it; no two have the same
	Role  Role      `json:"role"`
	Key   Key       `json:"key"`
	May   May       `json:"may,omitzero"`
	Added time.Time `json:"added"`
	Seen  time.Time `json:"seen,omitzero"`   // when it was last connected
	Desks []Key     `json:"desks,omitempty"` // of a machine: those whose answers it took then
}

// May is what a device may do in addition to seeing what is pending.
type May struct {
	Questions bool         `json:"questions,omitempty"` // answer questions and forms, and confirm
	Approvals policy.Class `json:"approvals,omitempty"` // answer approvals up to this class; empty: deny them only
}

// Allows reports whether a device may allow calls of a class.
func (m May) Allows(c policy.Class) bool {
	most, class := slices.Index(policy.Classes, m.Approvals), slices.Index(policy.Classes, c)
	return most >= 0 && class >= 0 && class <= most
}

// Key is the public key of a machine, a desk or a device.
type Key struct {
	Sign string `json:"sign"` // an nkey (Ed25519), or the P-256 key of a device
}
