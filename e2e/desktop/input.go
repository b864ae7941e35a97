//go:build linux

package desktop

import (
	"fmt"
	"image"
	"strconv"
	"strings"
)

// Button is a button of the mouse.
type Button int

// The buttons as X numbers them.
const (
	LeftButton  Button = 1
	RightButton Button = 3
)

// Press presses and releases keys one after the other, named as xdotool names them: "Escape", "ctrl+Return".
func (d *Desktop) Press(keys ...string) error {
	return d.xdotool(append([]string{"key", "--clearmodifiers"}, keys...)...)
}

// Type types text into the window that has the keyboard.
func (d *Desktop) Type(text string) error {
	return d.xdotool("type", "--clearmodifiers", "--delay", "2", "--", text)
}

// Click moves the pointer to a place on the screen and clicks.
func (d *Desktop) Click(at image.Point, b Button) error {
	return d.xdotool("mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", strconv.Itoa(int(b)))
}

// PointAt moves the pointer to a place on the screen.
func (d *Desktop) PointAt(at image.Point) error {
	return d.xdotool("mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y))
}

func (d *Desktop) xdotool(args ...string) error {
	out, err := d.Command("xdotool", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("xdotool %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
