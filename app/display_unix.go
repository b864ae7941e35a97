//go:build unix && !darwin

package app

import (
	"context"
	"net"
	"os"
)

// useDisplay chooses the display server for Fyne, or says why there is none.
func useDisplay(ctx context.Context) error {
	platform, err := display{os.Getenv, new(net.Dialer).DialContext}.platform(ctx)
	if err != nil {
		return err
	}
	return os.Setenv("FYNE_PLATFORM", platform)
}
