package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"nod/ownfile"
	"nod/policy"
)

// A HeldChange is a change of the policy file that nod did not make and the person has not accepted. Until
// then the stricter of both texts decides each call: what the new one denies is denied, and what only the new
// one allows is asked about. What decides nothing, such as the theme, is never held back.
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

// hold finds out whether a text of the policy file, which s was made from, has to be held back, and restrains s then.
// It needs f.mu.
func (f *File) hold(text string, s *State) error {
	if f.seal == nil {
		return nil
	}
	before, known := f.seal.accepted(f.path)
	if !known || f.isHarmless(before, text) {
		if err := f.seal.accept(f.path, text); err != nil {
			f.log.Warn("the policy file is not sealed", "err", err)
		}
		return nil
	}
	was, err := parse([]byte(before), f.path, f.getenv)
	if err != nil { // of an older nod: then nothing of it counts
		was = Default()
	}
	if s.Accepted, err = policy.Compile(was.Policy, f.places); err != nil {
		return fmt.Errorf("compile what was accepted: %w", err)
	}
	s.Held, s.Config = &HeldChange{Before: before, After: text}, s.Config.restrained(was)
	return nil
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

// isHarmless reports whether a text of the file decides the same as the one before. When nobody knows what was before,
// it must decide no more than a fresh installation does.
func (f *File) isHarmless(before, text string) bool { return f.seal.isHarmless(f.path, before, text) }

func (s *Seal) isHarmless(path, before, text string) bool {
	if s.err != nil {
		before = ""
	} else if before == text {
		return true
	}
	x, errX := parse([]byte(before), path, nil)
	y, errY := parse([]byte(text), path, nil)
	return errX == nil && errY == nil && x.decidesAs(y)
}

// IsAccepted reports whether the policy file at path decides as the one that the person accepted last, by the seal in a
// folder, which stays as it is. What was never sealed counts as accepted.
func IsAccepted(folder, path string) bool {
	s := &Seal{path: filepath.Join(folder, sealName)}
	key, keyErr := ownfile.Read(filepath.Join(folder, keyName))
	data, err := ownfile.Read(s.path)
	if errors.Is(keyErr, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist) {
		return true
	}
	s.key = key
	s.err = s.read(data, errors.Join(keyErr, err))
	text, err := ownfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // a file that cannot be read decides nothing
	}
	before, known := s.accepted(path)
	return !known || s.isHarmless(path, before, string(text))
}
