package policy

import (
	"fmt"
	"strings"
)

// This file stands in for grants and rules by parts until the real ones are there.

// Cover says what an allow that is kept is about.
type Cover string

// What an allow that is kept may cover.
const (
	CoverInput    Cover = "input"    // exactly this input
	CoverCommands Cover = "commands" // each part of the command line that nothing covers yet, also in other lines
	CoverEdits    Cover = "edits"    // changes of files in the project
)

// PartState says what a part of a command line is to the policy.
type PartState string

// The states of parts.
const (
	PartReads   PartState = "reads"
	PartCovered PartState = "covered" // by a rule or a grant
	PartNew     PartState = "new"
)

// A CommandPart is a part of a command line as a prompt shows it.
type CommandPart struct {
	Text  string
	State PartState
	By    string // id of the rule or grant that covers it
	Why   string // one sentence: why it does not only read; empty where it does
}

// Grant keeps an allow wider than once.
func (s *Store) Grant(c Call, scope Scope, cover Cover) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	g, err := newGrant(c, scope, cover == CoverCommands, s.current.Load().good, now)
	if err != nil {
		return err
	}
	if err := s.grants.add(g, now); err != nil {
		return err
	}
	s.republish()
	return nil
}

// GrantText says what Grant would keep, word for word.
func (s *Store) GrantText(c Call, scope Scope, cover Cover) string {
	prefix, err := grantable(c, scope, cover == CoverCommands, s.current.Load().good)
	if err != nil || cover == CoverEdits {
		return ""
	}
	return c.text(scope, prefix, s.places.Home)
}

// Parts says of each part of a command line what it is to the policy.
func (s *Store) Parts(Call) []CommandPart { return nil }

func (g Grant) coverText() string {
	who := fmt.Sprintf("allow %s (%s)", g.Agent, g.Program)
	if g.Edits != "" {
		return fmt.Sprintf("%s to change files in %s, but none that settings, hooks or keys are kept in, %s", who, g.CWD, g.Scope.until())
	}
	return fmt.Sprintf("%s to run %q, with other plain words or paths of the project, in %s, %s", who, g.Command, g.CWD, g.Scope.until())
}

func checkRun(r Rule) *FieldError {
	for i, text := range r.Run {
		if strings.ContainsAny(text, "|&;<>") {
			return &FieldError{fmt.Sprintf("run[%d]", i), fmt.Sprintf("%q: want one command, such as go test: no pipe, no redirection, no cd", text)}
		}
	}
	return nil
}
