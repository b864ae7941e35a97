//go:build !unix || darwin

package desktop

import (
	"context"
	"errors"
)

// CarryFlag has no effect here.
const CarryFlag = "carry-bus"

// Carry is for desktops with a session bus.
func Carry(func(string) string) error { return errors.ErrUnsupported }

// ShareBus is for desktops with a session bus.
func ShareBus(context.Context, string) error { return nil }
