package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"nod/ownfile"
	"nod/policy"
)

// A HeldChange is a change of the policy file that nod did not make and the person has not accepted. Until
// then the stricter of both texts decides each call: what the new one denies is denied, and what only the new
// one allows is asked about. What decides nothing, such as the theme, is never held back.
type HeldChange struct {
	Before, After string // texts of the file
	// IsUnknown says that there is no telling what the person accepted: Before is nothing, and whatever the file says,
	// nod asks about all that it does not deny.
	IsUnknown bool
}

// ErrHeld says that the configuration cannot be changed, because a change by another program is held back.
var ErrHeld = errors.New("the policy file was changed by another program: accept that change or undo it first")

// SetSeal makes the file hold back whatever other programs write into it. What is written without a seal counts as
// another program's.
func (f *File) SetSeal(seal *Seal) {
	if seal.err != nil {
		f.log.Warn("there is no telling what was accepted: everything is asked about", "err", seal.err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seal = seal
	if _, known := seal.accepted(f.path); known { // it counts from the start: the file may be broken
		if was, rules, err := f.lastAccepted(); err == nil {
			f.state.Store(&State{Config: was, Policy: rules, Err: errNotRead})
		}
	}
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
	return f.settleHeld(seen, func() error {
		if seen.IsUnknown {
			return errors.New("undo the change of the policy file: there is no telling what you accepted before")
		}
		return ownfile.Write(f.path, []byte(seen.Before), 0o600)
	})
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

// hold finds out whether a text of the policy file, which s was made from, has to be held back, and restrains s then.
// It needs f.mu.
func (f *File) hold(text string, s *State) error {
	if f.seal == nil {
		return nil
	}
	before, known := f.seal.accepted(f.path)
	if !known || f.seal.isHarmless(f.path, before, text) {
		if err := f.seal.accept(f.path, text); err != nil {
			f.log.Warn("the policy file is not sealed", "err", err)
		}
		return nil
	}
	was, rules, err := f.lastAccepted()
	if err != nil {
		return fmt.Errorf("compile what was accepted: %w", err)
	}
	s.Accepted = rules
	s.Held, s.Config = &HeldChange{before, text, f.seal.err != nil}, s.Config.restrained(was)
	return nil
}

// lastAccepted is what the person accepted last. Where there is no telling, that is what asks about everything and
// forgets nothing. It needs f.mu.
func (f *File) lastAccepted() (was Config, rules *policy.Compiled, err error) {
	text, _ := f.seal.accepted(f.path)
	was, err = parseAccepted([]byte(text), f.path, f.getenv)
	if err != nil { // so does what the environment says: that is another matter
		was, err = parseAccepted([]byte(text), f.path, nil)
	}
	if err != nil || f.seal.err != nil {
		was = Default()
		was.Policy = policy.Policy{AskEverything: true}
		was.History.Keep, was.History.MaxSize = maxKeep, maxHistory
	}
	rules, err = policy.Compile(was.Policy, f.places)
	return was, rules, err
}

// withUnsealed returns a copy of c in which o says what the seal does not cover: how nod looks and speaks up. All else
// is covered, because it can make nod ask less, or not at all, or let a click count too early, or forget what happened.
func (c Config) withUnsealed(o Config) Config {
	c.Look, c.Notifications = o.Look, o.Notifications
	c.Prompt.KeepReady, c.Prompt.Undo, c.Prompt.OnTop = o.Prompt.KeepReady, o.Prompt.Undo, o.Prompt.OnTop
	c.Prompt.Appear, c.Prompt.Locked, c.Prompt.Shortcut = o.Prompt.Appear, o.Prompt.Locked, o.Prompt.Shortcut
	return c
}

// decidesAs reports whether two configurations differ at most in what the seal does not cover.
func (c Config) decidesAs(o Config) bool { return c.Equal(o.withUnsealed(c)) }

// restrained is what holds of c beside the policy while the change from was to c is held back: the stricter of both.
func (c Config) restrained(was Config) Config {
	c.IPC, c.Prompt.Timeout = was.IPC, was.Prompt.Timeout // an address in use or no time to answer: nobody is asked
	c.Prompt.ArmAfter = max(c.Prompt.ArmAfter, was.Prompt.ArmAfter)
	c.History = was.History // nothing is forgotten, and nothing told elsewhere
	c.Remote = was.Remote   // nobody else is reached, and nobody less
	c.Agents.AskMore = c.Agents.AskMore || was.Agents.AskMore
	strict := slices.Concat(was.Agents.Strict, c.Agents.Strict)
	slices.Sort(strict)
	c.Agents.Strict = slices.Compact(strict)
	return c
}

// isHarmless reports whether a text of the file decides the same as the one before. Where nobody knows what was before,
// nothing does.
func (s *Seal) isHarmless(path, before, text string) bool {
	if s.err != nil || before == text {
		return s.err == nil
	}
	x, errX := parse([]byte(before), path, nil)
	y, errY := parse([]byte(text), path, nil)
	return errX == nil && errY == nil && x.decidesAs(y)
}

// IsAccepted reports whether the policy file at path decides as the one that the person accepted last, by the seal in a
// folder, which stays as it is. What was never sealed counts as accepted.
func IsAccepted(folder, path string) bool {
	s := readSeal(folder, false)
	text, err := ownfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // a file that cannot be read decides nothing
	}
	before, known := s.accepted(path)
	return !known || s.isHarmless(path, before, string(text))
}
