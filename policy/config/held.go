package config

import (
	"errors"
	"fmt"

	"nod/ownfile"
	"nod/policy"
)

// A HeldChange is a change of the policy file that nod did not make and the person has not accepted. Until
// then the stricter of both texts decides each call: what the new one denies is denied, and what only the new
// one allows is asked about.
type HeldChange struct {
	Before, After string // texts of the file
}

// ErrHeld says that the configuration cannot be changed, because a change by another program is held back.
var ErrHeld = errors.New("the policy file was changed by another program: accept that change or undo it first")

// SetSeal makes the file hold back whatever other programs write into it. What is written without a seal counts as
// another program's.
func (f *File) SetSeal(seal *Seal) {
	if seal.err != nil {
		f.log.Warn("nothing that was accepted can be believed", "err", seal.err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seal = seal
	f.reload()
}

// Held returns the change that is held back, if there is one.
func (f *File) Held() (HeldChange, bool) {
	held := f.State().Held
	if held == nil {
		return HeldChange{}, false
	}
	return *held, true
}

// Accept puts a held change in force: the very one that the person has seen.
func (f *File) Accept(seen HeldChange) error {
	return f.settleHeld(seen, func() error { return f.seal.accept(f.path, seen.After) })
}

// Undo writes the text that was accepted last back into the file.
func (f *File) Undo(seen HeldChange) error {
	return f.settleHeld(seen, func() error { return ownfile.Write(f.path, []byte(seen.Before), 0o600) })
}

func (f *File) settleHeld(seen HeldChange, settle func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reload() // so that nothing newer than what the person saw is settled
	if held, isHeld := f.Held(); !isHeld || held != seen {
		return errors.New("the policy file has changed again: look at it once more")
	}
	err := settle()
	f.reload()
	return err
}

// hold finds out whether a text of the policy file, which says cfg, has to be held back, and by what policy
// it is held back then. It needs f.mu.
func (f *File) hold(text string) (*HeldChange, *policy.Compiled, error) {
	if f.seal == nil {
		return nil, nil, nil
	}
	before, known := f.seal.accepted(f.path)
	if !known || f.isHarmless(before, text) {
		if err := f.seal.accept(f.path, text); err != nil {
			f.log.Warn("the policy file is not sealed", "err", err)
		}
		return nil, nil, nil
	}
	was, err := parse([]byte(before), f.path, nil)
	if err != nil { // of an older nod: then nothing of it counts
		was = Default()
	}
	floor, err := policy.Compile(was.Policy, f.places)
	if err != nil {
		return nil, nil, fmt.Errorf("compile what was accepted: %w", err)
	}
	return &HeldChange{Before: before, After: text}, floor, nil
}

// isHarmless reports whether a text of the file says the same as the one before, but for comments and layout. When
// nobody knows what was before, it must say no more than a fresh installation does.
func (f *File) isHarmless(before, text string) bool {
	if f.seal.err != nil {
		before = ""
	} else if before == text {
		return true
	}
	x, errX := parse([]byte(before), f.path, nil)
	y, errY := parse([]byte(text), f.path, nil)
	return errX == nil && errY == nil && x.Equal(y)
}
