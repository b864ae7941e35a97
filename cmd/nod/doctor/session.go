package doctor

import "context"

// session is what the desktop session of an environment offers.
type session struct {
	// Display returns the platform of the windows, x11 or wayland; empty if there is only one.
	Display func(ctx context.Context, getenv func(string) string) (platform string, err error)
	Bus     func(ctx context.Context, getenv func(string) string) (bus, error)
}

type bus interface {
	HasTray() bool
	// Notifier returns the notification service; an empty name means none. It does not start a service that the first
	// notification would start; that one has the name "on demand".
	Notifier(ctx context.Context) (notifier, error)
	Close() error
}

type notifier struct {
	Name, Version string
	Capabilities  []string
}

const onDemand = "on demand"
