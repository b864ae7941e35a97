//go:build !unix || darwin

package app

import "context"

// useDisplay has nothing to choose: the system has one way to the screen.
func useDisplay(context.Context) error { return nil }
