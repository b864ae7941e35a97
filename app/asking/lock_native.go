//go:build !unix || darwin

package asking

import (
	"context"
	"log/slog"
)

// watchLock calls changed whenever the screen is locked or unlocked. Here nod does not know.
func watchLock(context.Context, func(locked bool), *slog.Logger) {}
