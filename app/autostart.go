package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// appID is nod's name for the system, in its autostart entry and its window state.
const appID = "io.nod.Desktop"

// autostart is the entry that starts nod with the session. turn changes only an entry with nod's mark, and leaves alone
// what another program put in its place.
type autostart struct {
	place  string                 // names the entry for the user
	text   []byte                 // the entry that starts this very program
	ours   func([]byte) bool      // reports whether nod wrote an entry
	starts func([]byte) bool      // reports whether an entry of ours, of this version or another, starts this program
	read   func() ([]byte, error) // the current entry; fails with os.ErrNotExist without one
	write  func([]byte) error
	remove func() error
}

// oldUnit is the link in the configuration folder with which earlier versions made systemd start nod.
const oldUnit = "systemd/user/graphical-session.target.wants/nod-desktop.service"

// newAutostart returns the entry that starts the running program.
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

// SetAutostart makes nod start with the session ("on") or not ("off").
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

// enabled reports whether the running program starts with the session.
func (a *autostart) enabled() (bool, error) {
	b, err := a.read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("autostart: %w", err)
	}
	return err == nil && a.ours(b) && a.starts(b), nil
}

// turn makes nod start with the session, or not. It is no error if there is no entry to remove.
func (a *autostart) turn(on bool) error {
	_ = os.Remove(filepath.Join(xdg.ConfigHome, oldUnit))
	b, err := a.read()
	switch {
	case err == nil && !a.ours(b):
		return fmt.Errorf("autostart: %s was not made by nod; remove it yourself to let nod manage it", a.place)
	case err != nil && !errors.Is(err, os.ErrNotExist):
	case on && err == nil && bytes.Equal(b, a.text): // a package's own entry serves as well
		return nil
	case on:
		err = a.write(a.text)
	default:
		err = a.remove()
	}
	if err != nil && (on || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("autostart: %w", err)
	}
	return nil
}
