// Package history defines queries of the journal and their results, without its database.
package history

import (
	"time"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// Query selects entries of the journal. A zero field matches all.
type Query struct {
	ID      interact.ID
	Text    string // words; an entry matches if for each it has a word with that prefix
	Agent   string
	Project string // folder
	Session string
	Tool    string
	Machine string // that asked
	Device  string // that answered
	Rule    string // id of the rule or grant that decided
	Kind    api.Kind
	Outcome api.Outcome
	By      api.By
	Asked   bool      // only what nod asked about or denied, not what passed
	Since   time.Time // not before it
	Until   time.Time // before it
	Before  int64     // lower numbers only: the next page
	Limit   int       // 0: [PageSize]
}

// Sandboxed is an outcome only for queries and display: an allowed command that ran in the sandbox.
const Sandboxed api.Outcome = "sandboxed"

// PageSize is the default number of entries on a page.
const PageSize = 100

// Page is what a query finds, newest first.
type Page struct {
	Lines []Line
	More  bool // older entries follow
}

// Line is an entry in a list.
type Line struct {
	Seq     int64        `json:"seq"` // its number, from 1, without gaps
	ID      interact.ID  `json:"id"`
	Kind    api.Kind     `json:"kind"`
	Created time.Time    `json:"created"`
	Settled time.Time    `json:"settled"`
	Agent   string       `json:"agent,omitempty"`
	Session string       `json:"session,omitempty"`
	Project string       `json:"project,omitempty"` // folder
	Tool    string       `json:"tool,omitempty"`
	Class   policy.Class `json:"class,omitempty"`
	Gist    string       `json:"gist,omitempty"`     // what it was about, in one line, as the agent wrote it
	Machine string       `json:"machine,omitempty"`  // that asked; empty: this one
	IsAgent bool         `json:"is_agent,omitempty"` // the program was verified to be the agent
	Program string       `json:"program,omitempty"`  // verified name of a program that named no agent

	Outcome api.Outcome `json:"outcome"`
	By      api.By      `json:"by,omitempty"`
	Device  string      `json:"device,omitempty"` // on which the user answered; empty: here
	Rule    string      `json:"rule,omitempty"`
	Sandbox bool        `json:"sandbox,omitempty"` // it ran in the sandbox
}

// Result returns the outcome to display.
func (l Line) Result() api.Outcome {
	if l.Sandbox {
		return Sandboxed
	}
	return l.Outcome
}

// Requester returns the requester, as far as a line describes it.
func (l Line) Requester() interact.Requester {
	return interact.Requester{
		Agent: l.Agent, IsAgent: l.IsAgent, Session: l.Session, CWD: l.Project, Machine: l.Machine,
		Process: api.Process{Exe: l.Program},
	}
}

// Entry is one complete entry.
type Entry struct {
	Line
	Record interact.Record
	// Withheld says why Record lacks the exact input: [Secret], [NotKept] or [Expired]. It is empty if Record has the
	// input.
	Withheld string
	Hash     string // hex SHA-256 of the entry and the hash of the one before it
}

// Why an entry is incomplete.
const (
	Secret  = "secret"   // contained values that look like secrets; digests replace them
	NotKept = "not kept" // inputs are not kept
	Expired = "expired"  // older than inputs are kept
)

// Head is the last entry of the chain. If you note it elsewhere you can prove later that nothing before it changed.
type Head struct {
	Seq  int64
	Hash string
}

// Facets are the values to filter by, most frequent first.
type Facets struct {
	Agents, Projects, Tools, Machines, Devices []string
}

// Count counts the outcomes of entries.
type Count struct {
	Day      time.Time     `json:"day,omitzero"` // local midnight
	Agent    string        `json:"agent,omitempty"`
	Project  string        `json:"project,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Asked    int           `json:"asked"`    // decided by the user
	Passed   int           `json:"passed"`   // allowed by the policy
	Denied   int           `json:"denied"`   // by the user or the policy
	Missed   int           `json:"missed"`   // timed out, or handed back undecided
	Answered time.Duration `json:"answered"` // total time from prompt to answer of those that the user decided
}

// Insights are sums over a period.
type Insights struct {
	Days     []Count     `json:"days"`   // oldest first; only Day and the sums
	Agents   []Count     `json:"agents"` // most first; only Agent and the sums
	Projects []Count     `json:"projects"`
	Tools    []Count     `json:"tools"`
	Rules    []RuleCount `json:"rules"` // most first
}

// RuleCount counts the prompts that a rule or a grant has saved.
type RuleCount struct {
	Rule  string    `json:"rule"`
	Saved int       `json:"saved"`
	Last  time.Time `json:"last"`
}
