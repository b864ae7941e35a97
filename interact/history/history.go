// Package history is what a person can ask of the journal: queries, and what they find. The journal itself is in
// package journal; windows and the command line need no database to speak of it.
package history

import (
	"time"

	"nod/interact"
	"nod/policy"
)

// Query picks entries of the journal. What is zero picks all.
type Query struct {
	ID      interact.ID
	Text    string // words; an entry has for each a word that begins with it
	Agent   string
	Project string // folder
	Session string
	Tool    string
	Machine string // that asked, by its name
	Device  string // that answered, by its name
	Rule    string // id of the rule or grant that decided
	Kind    interact.Kind
	Outcome interact.Outcome
	By      interact.By
	Since   time.Time // not before it
	Until   time.Time // before it
	Before  int64     // entries with a lower number: the next page
	Limit   int       // how many at most; 0: [PageSize]
}

// PageSize is how many entries a page has.
const PageSize = 100

// Page is what a query finds, newest first.
type Page struct {
	Lines []Line
	More  bool // there are others, before the last of Lines
}

// Line is an entry in a list.
type Line struct {
	Seq     int64         `json:"seq"` // its number: entries count up from 1, without a gap
	ID      interact.ID   `json:"id"`
	Kind    interact.Kind `json:"kind"`
	Created time.Time     `json:"created"`
	Settled time.Time     `json:"settled"`
	Agent   string        `json:"agent,omitempty"`
	Session string        `json:"session,omitempty"`
	Project string        `json:"project,omitempty"` // folder
	Tool    string        `json:"tool,omitempty"`
	Class   policy.Class  `json:"class,omitempty"`
	Gist    string        `json:"gist,omitempty"`     // what it was about, in one line, in nobody's safe words
	Machine string        `json:"machine,omitempty"`  // that asked; empty: this one
	IsAgent bool          `json:"is_agent,omitempty"` // the program that asked was known to be the agent

	Outcome interact.Outcome `json:"outcome"`
	By      interact.By      `json:"by,omitempty"`
	Device  string           `json:"device,omitempty"` // on which the person answered; empty: here
	Rule    string           `json:"rule,omitempty"`
}

// Requester is who asked, as far as a line says it.
func (l Line) Requester() interact.Requester {
	return interact.Requester{
		Agent: l.Agent, IsAgent: l.IsAgent, Session: l.Session, CWD: l.Project, Machine: l.Machine,
	}
}

// Entry is one entry, whole.
type Entry struct {
	Line
	Record interact.Record
	// Withheld says why Record has not the exact input: [Secret], [NotKept] or [Expired]; empty: it has.
	Withheld Withheld
	Hash     string // hex SHA-256 of the entry and the hash of the one before it
}

// Withheld says why the journal has not all of an entry.
type Withheld string

// The reasons.
const (
	Secret  Withheld = "secret"   // values in it looked like secrets: their digests stand in their place
	NotKept Withheld = "not kept" // inputs are not kept
	Expired Withheld = "expired"  // it was older than inputs are kept
)

// Head is the last entry of the chain: whoever notes it elsewhere can tell later that nothing before it has changed.
type Head struct {
	Seq  int64
	Hash string
}

// Facets are the values that a person can choose from to filter, the most frequent first.
type Facets struct {
	Agents, Projects, Tools, Machines, Devices []string
}

// Count is how often something was decided in one way.
type Count struct {
	Day      time.Time     `json:"day,omitzero"` // local midnight
	Agent    string        `json:"agent,omitempty"`
	Project  string        `json:"project,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Asked    int           `json:"asked"`    // decided by the person
	Passed   int           `json:"passed"`   // allowed by the policy
	Denied   int           `json:"denied"`   // by the person or the policy
	Missed   int           `json:"missed"`   // timed out, or handed back undecided
	Answered time.Duration `json:"answered"` // in all, from prompt to answer, of those that the person decided
}

// Insights are sums over a time.
type Insights struct {
	Days     []Count     `json:"days"`   // oldest first; only Day and the sums
	Agents   []Count     `json:"agents"` // most first; only Agent and the sums
	Projects []Count     `json:"projects"`
	Tools    []Count     `json:"tools"`
	Rules    []RuleCount `json:"rules"` // most first
}

// RuleCount is how many prompts a rule or a grant has saved.
type RuleCount struct {
	Rule  string    `json:"rule"`
	Saved int       `json:"saved"`
	Last  time.Time `json:"last"`
}
