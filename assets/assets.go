// Package assets embeds icons and translations.
package assets

import (
	"embed"
	"fmt"
)

//go:generate go run ./gen

//go:embed icons/*.png
var icons embed.FS

// TrayState is the state that the tray icon shows.
type TrayState string

const (
	Idle    TrayState = "idle"    // nothing to do
	Waiting TrayState = "waiting" // a request waits for the user
	Paused  TrayState = "paused"  // nod asks nothing
	Broken  TrayState = "broken"  // the policy file cannot be read: nod asks about everything
)

// Tray returns the PNG of the tray icon for a dark or a light panel. It panics if s is not one of the states.
func Tray(s TrayState, dark bool) []byte {
	if dark {
		return icon("tray-" + string(s) + "-dark")
	}
	return icon("tray-" + string(s) + "-light")
}

// Level returns the PNG for a notification of level info, warning or error; that of info for any other level.
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
