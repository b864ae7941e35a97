//go:build !unix || darwin

package app

// trayService reports whether something shows tray icons; here the system itself does.
func trayService() bool { return true }

// notificationService reports whether something shows notifications, and whether it reads markup.
func notificationService() (ok, markup bool) { return true, false }
