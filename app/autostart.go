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

// autostart is the entry that starts nod with the session. What somebody else put in its place is left
// alone: Set touches only what carries nod's mark.
type autostart struct {
	place  string                 // names the entry for a person
	text   []byte                 // the entry that starts this very program
	ours   func([]byte) bool      // reports whether nod wrote an entry
	read   func() ([]byte, error) // the entry that there is; os.ErrNotExist when there is none
	write  func([]byte) error
	remove func() error
}

// newAutostart returns the entry for the running program.
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

// Enabled reports whether nod, this very program, starts with the session.
func (a *autostart) Enabled() (bool, error) {
	b, err := a.read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("autostart: %w", err)
	}
	return err == nil && bytes.Equal(b, a.text), nil
}

// Set makes nod start with the session, or not. That there is no entry to take away is no error.
func (a *autostart) Set(on bool) error {
	b, err := a.read()
	switch {
	case err == nil && !a.ours(b):
		return fmt.Errorf("autostart: %s was not made by nod; remove it yourself to let nod manage it", a.place)
	case err != nil && !errors.Is(err, os.ErrNotExist):
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
