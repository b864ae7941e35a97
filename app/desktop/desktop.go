// Package desktop finds what the user's desktop session offers: a display, and the services on its bus.
package desktop

import "errors"

// ErrNoDisplay means that there is no screen to ask the user on. The message of an error that wraps it says what to do.
var ErrNoDisplay = errors.New("no screen to ask on")
