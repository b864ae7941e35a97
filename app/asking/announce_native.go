//go:build !unix || darwin

package asking

import (
	"context"

	"nod/interact"
)

// newBoard returns what shows an [announcement]. Here it is one of beeep's notifications, which disappears by itself
// and leads nowhere.
func newBoard(ctx context.Context, n *notifier) func(*announcement) {
	return func(a *announcement) {
		if a != nil && a.fresh {
			go n.send(ctx, a.text, interact.Info)
		}
	}
}
