package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A HeldChange is a change of the policy file that nod did not make and the person has not accepted. Until
// then the stricter of both texts decides each call: what the new one denies is denied, and what only the new
// one allows is asked about.
type HeldChange struct {
	Before, After string // texts of the file
}

// ErrHeld says that the configuration cannot be changed, because a change by another program is held back.
var ErrHeld = errors.New("the policy file was changed by another program: accept that change or undo it first")

const reasonHeld = "the policy file was changed by another program, and you have not accepted that yet; before, "

// Seal makes the store hold back whatever other programs write into the policy file. What a store without a
// seal writes counts as another program's. The error says that no seal can be kept.
func (s *Store) Seal() error {
	s.mu.Lock()
	wasSealed := len(s.grants.mac) > 0
	s.mu.Unlock()
	seal, err := openSeal(filepath.Dir(s.grants.path), markerPath(s.grants.path), wasSealed)
	if err != nil {
		return err
	}
	if seal.err != nil {
		s.log.Warn("nothing that was accepted can be believed", "err", seal.err)
	}
	s.mu.Lock()
	err = s.grants.sign(seal.key, seal.isNew)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.updates.Lock()
	defer s.updates.Unlock()
	s.seal = seal
	s.reload()
	return nil
}

// Held returns the change that is held back, if there is one.
func (s *Store) Held() (HeldChange, bool) {
	held := s.current.Load().held
	if held == nil {
		return HeldChange{}, false
	}
	return *held, true
}

// Accept puts a held change in force: the very one that the person has seen.
func (s *Store) Accept(seen HeldChange) error {
	return s.settleHeld(seen, func() error { return s.seal.accept(s.path, seen.After) })
}

// Undo writes the text that was accepted last back into the file.
func (s *Store) Undo(seen HeldChange) error {
	return s.settleHeld(seen, func() error { return writeFile(s.path, []byte(seen.Before)) })
}

func (s *Store) settleHeld(seen HeldChange, settle func() error) error {
	s.updates.Lock()
	defer s.updates.Unlock()
	s.reload() // so that nothing newer than what the person saw is settled
	if held, isHeld := s.Held(); !isHeld || held != seen {
		return errors.New("the policy file has changed again: look at it once more")
	}
	if err := settle(); err != nil {
		return err
	}
	s.reload()
	return nil
}

// hold finds out whether a text of the policy file, which says cfg, has to be held back, and by what policy
// it is held back then. It needs s.updates.
func (s *Store) hold(text string) (*HeldChange, *Compiled, error) {
	if s.seal == nil {
		return nil, nil, nil
	}
	before, known := s.seal.accepted(s.path)
	if !known || s.isHarmless(before, text) {
		return nil, nil, s.seal.accept(s.path, text)
	}
	was, err := parse([]byte(before), s.path, nil)
	if err != nil { // of an older nod: then nothing of it counts
		was = Default()
	}
	floor, err := Compile(was.Policy, s.places)
	if err != nil {
		return nil, nil, fmt.Errorf("compile what was accepted: %w", err)
	}
	return &HeldChange{Before: before, After: text}, floor, nil
}

// isHarmless reports whether a text of the file says the same as the one before, but for comments and layout. When
// nobody knows what was before, it must say no more than a fresh installation does.
func (s *Store) isHarmless(before, text string) bool {
	if s.seal.err != nil {
		before = ""
	} else if before == text {
		return true
	}
	x, errX := parse([]byte(before), s.path, nil)
	y, errY := parse([]byte(text), s.path, nil)
	return errX == nil && errY == nil && sameConfig(x, y)
}

// write replaces the file with a text of nod's own, which needs nobody's consent. It needs s.updates.
func (s *Store) write(text []byte) error {
	if err := writeFile(s.path, text); err != nil {
		return err
	}
	if s.seal == nil {
		return nil
	}
	return s.seal.accept(s.path, string(text))
}

// decide is what the rules make of a call, and while a change is held back, what is stricter of that and of
// what was accepted.
func (s *snapshot) decide(c Call, now time.Time) Decision {
	d := Decide(c, s.rules, now)
	if s.floor == nil {
		return d
	}
	was := Decide(c, s.floor, now)
	if was.Effect.strictness() >= d.Effect.strictness() { // no stricter
		return d
	}
	was.Reason = reasonHeld + was.Reason
	return was
}
