// Package assets embeds what nod shows and is not code: icons and translations.
package assets

import (
	"embed"
	"fmt"
)

//go:generate go run ./gen

//go:embed icons/*.png
var icons embed.FS

// TrayState is what the tray icon tells at a glance.
type TrayState string

// The tray's states.
const (
	Idle    TrayState = "idle"    // nothing to do
	Waiting TrayState = "waiting" // somebody waits for the person
	Paused  TrayState = "paused"  // nobody is asked
	Broken  TrayState = "broken"  // the policy file cannot be read: everything is asked about
)

// Tray returns the PNG of the tray icon for a dark or a light panel. It panics on a state that does not exist.
func Tray(s TrayState, dark bool) []byte {
	if dark {
		return icon("tray-" + string(s) + "-dark")
	}
	return icon("tray-" + string(s) + "-light")
}

// Level returns the PNG that goes with a notification of level info, warning or error; it is info's for
// any other.
func Level(level string) []byte {
	if level != "warning" && level != "error" {
		level = "info"
	}
	return icon("level-" + level)
}

// App returns the PNG of the program's icon, 256 pixels square.
func App() []byte { return icon("app-256") }

func icon(name string) []byte {
	b, err := icons.ReadFile("icons/" + name + ".png")
	if err != nil {
		panic(fmt.Sprintf("assets: %v", err))
	}
	return b
}
