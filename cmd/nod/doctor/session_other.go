//go:build !unix || darwin

package doctor

import "context"

// Here a session always has a display, a place for tray icons, and notifications.
var (
	realSession = session{
		Display: func(context.Context, func(string) string) (string, error) { return "", nil },
	}
	sessionChecks []check
)

// isFreedesktop: sessions here are not as freedesktop.org has them.
const isFreedesktop = false
