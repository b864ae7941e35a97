//go:build !unix || darwin

package asking

import (
	"context"
	"fmt"

	"nod/policy/config"
)

// listenToKeys says that nod has no way to do so here.
func listenToKeys(context.Context, config.Shortcut, shortcutEvents) error {
	return fmt.Errorf("%w on this system", errNoShortcut)
}
