//go:build linux

package desktop

import (
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// Button is a button of the mouse.
type Button byte

// The buttons as X numbers them.
const (
	LeftButton  Button = 1
	RightButton Button = 3
	WheelUp     Button = 4
	WheelDown   Button = 5
)

// keysyms are the keys that have a name rather than a character, as xdotool and X name them (keysymdef.h).
var keysyms = map[string]xproto.Keysym{
	"BackSpace": 0xff08, "Tab": 0xff09, "Return": 0xff0d, "Escape": 0xff1b, "Delete": 0xffff,
	"Home": 0xff50, "Left": 0xff51, "Up": 0xff52, "Right": 0xff53, "Down": 0xff54, "Page_Up": 0xff55, "Page_Down": 0xff56,
	"End": 0xff57, "KP_Enter": 0xff8d, "Menu": 0xff67, "F1": 0xffbe, "F10": 0xffc7,
	"space": ' ', "period": '.', "comma": ',',
	"shift": 0xffe1, "ctrl": 0xffe3, "alt": 0xffe9, "super": 0xffeb,
}

// key is where a keyboard has a character: X calls a key's number its code.
type key struct {
	code  byte
	shift bool
}

// readKeyboard learns where the keyboard of the display has each character.
func (s *Screen) readKeyboard() error {
	setup := xproto.Setup(s.conn)
	first, count := setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode+1)
	keyboard, err := xproto.GetKeyboardMapping(s.conn, first, count).Reply()
	if err != nil {
		return err
	}
	s.keyboard = map[xproto.Keysym]key{}
	width := int(keyboard.KeysymsPerKeycode)
	for column := range min(width, 2) { // without shift and with it
		for i := range int(count) {
			sym := keyboard.Keysyms[i*width+column]
			if _, known := s.keyboard[sym]; !known && sym != 0 {
				s.keyboard[sym] = key{byte(first) + byte(i), column == 1}
			}
		}
	}
	return xtest.Init(s.conn)
}

// chord returns the codes of a key and of the modifiers that are held with it: "Escape", "x", "ctrl+Return".
func (s *Screen) chord(name string) ([]byte, error) {
	var codes []byte
	names := strings.Split(name, "+")
	for i, n := range names {
		sym, named := keysyms[n]
		if !named && len(n) == 1 {
			sym = xproto.Keysym(n[0])
		}
		k, known := s.keyboard[sym]
		if !known {
			return nil, fmt.Errorf("key %q: the keyboard has no %q", name, n)
		}
		if k.shift && i == len(names)-1 {
			codes = append(codes, s.keyboard[keysyms["shift"]].code)
		}
		codes = append(codes, k.code)
	}
	return codes, nil
}

// keyTime is how long a key is held down. GLFW takes two presses of a key within a millisecond for one.
const keyTime = 3 * time.Millisecond

// Press presses and releases keys one after the other: "Escape", "x", "ctrl+Return".
func (d *Desktop) Press(keys ...string) error { return d.Hold(keyTime, keys...) }

// Hold is Press with each key held down for a while: the display repeats one that is held long enough.
func (d *Desktop) Hold(length time.Duration, keys ...string) error {
	s := d.Screen
	for _, name := range keys {
		codes, err := s.chord(name)
		if err != nil {
			return err
		}
		for _, code := range codes {
			s.fake(xproto.KeyPress, code, image.Point{})
		}
		if err := s.flush(); err != nil { // the display takes it now, however busy it is
			return err
		}
		time.Sleep(length)
		for i := range codes {
			s.fake(xproto.KeyRelease, codes[len(codes)-1-i], image.Point{})
		}
	}
	return s.flush()
}

// Type types text into the window that has the keyboard.
func (d *Desktop) Type(text string) error {
	keys := strings.Split(text, "")
	for i, k := range keys {
		if k == "+" {
			keys[i] = "shift+="
		}
	}
	return d.Press(keys...)
}

// Click moves the pointer to a place on the screen and clicks.
func (d *Desktop) Click(at image.Point, b Button) error {
	d.Screen.move(at)
	d.Screen.fake(xproto.ButtonPress, byte(b), image.Point{})
	d.Screen.fake(xproto.ButtonRelease, byte(b), image.Point{})
	return d.Screen.flush()
}

// Drag moves the pointer to a place on the screen, presses the left button, and releases it at another.
func (d *Desktop) Drag(from, to image.Point) error {
	const steps = 8
	d.Screen.move(from)
	d.Screen.fake(xproto.ButtonPress, byte(LeftButton), image.Point{})
	for i := range steps {
		d.Screen.move(from.Add(to.Sub(from).Mul(i + 1).Div(steps)))
	}
	d.Screen.fake(xproto.ButtonRelease, byte(LeftButton), image.Point{})
	return d.Screen.flush()
}

// PointAt moves the pointer to a place on the screen.
func (d *Desktop) PointAt(at image.Point) error {
	d.Screen.move(at)
	return d.Screen.flush()
}

func (s *Screen) move(to image.Point) { s.fake(xproto.MotionNotify, 0, to) }

func (s *Screen) fake(kind, detail byte, at image.Point) {
	xtest.FakeInput(s.conn, kind, detail, xproto.TimeCurrentTime, s.root, int16(at.X), int16(at.Y), 0)
}

// flush waits until the display has taken the input.
func (s *Screen) flush() error {
	_, err := xproto.GetInputFocus(s.conn).Reply()
	return err
}
