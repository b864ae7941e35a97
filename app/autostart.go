package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// appID is nod's name among the programs of the system: of its autostart entry and its window state.
const appID = "io.nod.Desktop"

// autostart is what starts nod with the session: one of several entries, of which each kind of session heeds some. What
// somebody else put in place of one is left alone: turn touches only what carries nod's mark.
type autostart struct {
	entry          // the one for this session
	others []entry // those for others: of all there is never more than one
}

type entry struct {
	place  string                 // names the entry for the user
	text   []byte                 // the entry that starts this very program
	ours   func([]byte) bool      // reports whether nod wrote an entry
	starts func([]byte) bool      // reports whether an entry of ours, of this version or another, starts this program
	read   func() ([]byte, error) // the current entry; fails with os.ErrNotExist without one
	write  func([]byte) error
	remove func() error
}

// newAutostart returns what starts the running program.
func newAutostart() (*autostart, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("autostart: %w", err)
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	a, err := autostartOf(program)
	if err != nil {
		return nil, fmt.Errorf("autostart: %w", err)
	}
	return a, nil
}

// SetAutostart makes nod start with the session, on, or not, off.
func SetAutostart(to string) error {
	if to != "on" && to != "off" {
		return fmt.Errorf("autostart: %q: want on or off", to)
	}
	a, err := newAutostart()
	if err != nil {
		return err
	}
	return a.turn(to == "on")
}

// enabled reports whether nod, this very program, starts with the session.
func (a *autostart) enabled() (bool, error) {
	var errs []error
	for _, e := range a.all() {
		b, err := e.read()
		if err == nil && e.ours(b) && e.starts(b) {
			return true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("autostart: %w", err))
		}
	}
	return false, errors.Join(errs...)
}

func (a *autostart) all() []entry { return append([]entry{a.entry}, a.others...) }

// turn makes nod start with the session, or not. That there is no entry to take away is no error.
func (a *autostart) turn(on bool) error {
	if err := a.set(on); err != nil {
		return err
	}
	for _, e := range a.others {
		if err := e.set(false); err != nil {
			return err
		}
	}
	return nil
}

// adopt has nod start by the entry for this session, where it starts by another.
func (a *autostart) adopt() error {
	on, err := a.enabled()
	if !on || err != nil {
		return err
	}
	return a.turn(true)
}

func (e entry) set(on bool) error {
	b, err := e.read()
	switch {
	case err == nil && !e.ours(b):
		return fmt.Errorf("autostart: %s was not made by nod; remove it yourself to let nod manage it", e.place)
	case err != nil && !errors.Is(err, os.ErrNotExist):
	case on && err == nil && bytes.Equal(b, e.text): // a package's own entry serves as well
		return nil
	case on:
		err = e.write(e.text)
	default:
		err = e.remove()
	}
	if err != nil && (on || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("autostart: %w", err)
	}
	return nil
}
