package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"nod/ownfile"
	"nod/policy"
)

// A HeldChange is a change of the policy file that nod did not make and the user has not accepted. Until then the
// stricter of both texts decides each call. Settings that decide nothing, such as the theme, are never held back.
type HeldChange struct {
	Before, After string // texts of the file
	// IsUnknown says that the accepted text is unknown: Before is empty, and nod asks about everything that the file
	// does not deny.
	IsUnknown bool
}

var errHeld = errors.New("another program changed the policy file: accept or undo that change first")

// setSeal makes the file hold back changes by other programs. Changes written without a seal count as another
// program's.
func (f *file) setSeal(seal *seal) {
	if seal.err != nil {
		f.log.Warn("nod can't tell which policy was accepted: it asks about everything", "err", seal.err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seal = seal
	if _, known := seal.accepted(f.path); known { // from the start, because the file may be broken
		if was, rules, err := f.lastAccepted(); err == nil {
			f.state.Store(&state{Config: was, Policy: rules, Err: errNotRead})
		}
	}
	f.reload()
}

// SealKey also signs the other files that only nod may change. Keep it as secret as the seal. It is nil without a seal.
func (f *file) SealKey() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seal == nil {
		return nil
	}
	return f.seal.key
}

// Held returns the change that is held back, if any.
func (f *file) Held() (HeldChange, bool) {
	held := f.State().Held
	if held == nil {
		return HeldChange{}, false
	}
	return *held, true
}

// Accept puts a held change in force. It fails if seen is not the current change.
func (f *file) Accept(seen HeldChange) error {
	return f.settleHeld(seen, func() error { return f.seal.accept(f.path, seen.After) })
}

// Undo restores the text that was accepted last. It fails if seen is not the current change.
func (f *file) Undo(seen HeldChange) error {
	return f.settleHeld(seen, func() error {
		if seen.IsUnknown {
			return errors.New("undo the change to the policy file: nod can't tell which policy you accepted before")
		}
		return ownfile.Write(f.path, []byte(seen.Before), 0o600)
	})
}

func (f *file) settleHeld(seen HeldChange, settle func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reload() // nothing newer than seen may be accepted or undone
	if held, isHeld := f.Held(); !isHeld || held != seen {
		return errors.New("the policy file has changed again: look again")
	}
	err := settle()
	f.reload()
	return err
}

// hold checks whether text, the source of s, has to be held back, and then restrains s. It needs f.mu.
func (f *file) hold(text string, s *state) error {
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
	if err := f.seal.remember(f.path, text); err != nil {
		f.log.Warn("the pending change was not saved", "err", err)
	}
	was, rules, err := f.lastAccepted()
	if err != nil {
		return fmt.Errorf("compile the accepted policy: %w", err)
	}
	s.Accepted = rules
	s.Held, s.Config = &HeldChange{before, text, f.seal.err != nil}, s.Config.restrained(was)
	return nil
}

// lastAccepted returns the accepted configuration, and its rules with the denials held back since. If what was accepted
// is unknown, it returns a configuration that asks about everything and deletes nothing. It needs f.mu.
func (f *file) lastAccepted() (was Config, rules *policy.Compiled, err error) {
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
	rules, err = policy.Compile(f.withHeld(was.Policy), f.places)
	return was, rules, err
}

// withHeld adds the denials of the last held text to p. It needs f.mu.
func (f *file) withHeld(p policy.Policy) policy.Policy {
	held, err := parseAccepted([]byte(f.seal.held(f.path)), f.path, nil)
	if err != nil {
		return p // an older nod may not understand all of the text
	}
	p = p.Clone()
	for _, r := range held.Policy.Rules {
		for slices.ContainsFunc(p.Rules, func(o policy.Rule) bool { return o.ID == r.ID }) {
			r.ID += "-held"
		}
		if r.Effect == policy.Deny {
			p.Rules = append(p.Rules, r)
		}
	}
	return p
}

// withUnsealed returns a copy of c with the settings of o that the seal does not cover: appearance and notifications.
// It covers everything that could make nod ask less, accept a click too early, or delete history.
func (c Config) withUnsealed(o Config) Config {
	c.Look, c.Notifications = o.Look, o.Notifications
	c.Prompt.KeepReady, c.Prompt.Undo, c.Prompt.OnTop = o.Prompt.KeepReady, o.Prompt.Undo, o.Prompt.OnTop
	c.Prompt.Appear = o.Prompt.Appear
	return c
}

// restrained returns the settings, other than the policy, that apply while the change from was to c is held back: the
// stricter ones.
func (c Config) restrained(was Config) Config {
	c.IPC, c.Prompt.Timeout = was.IPC, was.Prompt.Timeout // a busy address or no time to answer would keep nod from asking
	c.Prompt.ArmAfter = max(c.Prompt.ArmAfter, was.Prompt.ArmAfter)
	c.History = was.History // nothing is deleted
	c.Remote = was.Remote   // the same machines and phones stay connected
	c.Agents.AskMore = c.Agents.AskMore || was.Agents.AskMore
	strict := slices.Concat(was.Agents.Strict, c.Agents.Strict)
	c.Agents.Strict = slices.Compact(slices.Sorted(slices.Values(strict)))
	return c
}

// isHarmless reports whether text decides the same as before, for a known before.
func (s *seal) isHarmless(path, before, text string) bool {
	if s.err != nil || before == text {
		return s.err == nil
	}
	x, errX := parse([]byte(before), path, nil)
	y, errY := parse([]byte(text), path, nil)
	return errX == nil && errY == nil && x.equal(y.withUnsealed(x))
}

// IsAccepted reports whether the policy file at path decides the same as the text accepted last, by the seal in a
// folder, which it does not change. A file that was never sealed counts as accepted.
func IsAccepted(folder, path string) bool {
	s := readSeal(folder, false)
	text, err := ownfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // a file that cannot be read decides nothing
	}
	before, known := s.accepted(path)
	return !known || s.isHarmless(path, before, string(text))
}
