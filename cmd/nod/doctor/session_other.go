//go:build !unix || darwin

package doctor

import "context"

// Sessions here always have a display, a tray and notifications.
var (
	realSession = session{
		display: func(context.Context, func(string) string) (string, error) { return "", nil },
	}
	sessionChecks []check
)

const isFreedesktop = false
