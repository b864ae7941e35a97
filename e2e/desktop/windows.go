//go:build linux

package desktop

import (
	"context"
	"fmt"
	"image"
	"os"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// panelTitle is the title that xfce4-panel gives its window.
const panelTitle = "xfce4-panel"

// Window is a window that the window manager looks after, as it was when it was asked for.
type Window struct {
	ID      xproto.Window
	Title   string
	Class   string          // the second word of WM_CLASS
	PID     int             // of the program, as the program claims
	Area    image.Rectangle // of the content, on the screen
	Visible bool            // neither minimized nor on another workspace
	Active  bool            // has the keyboard
	Above   bool            // stays above other windows
}

// Windows lists the windows of the desktop's programs, the oldest first, without the panel.
func (s *Screen) Windows() ([]Window, error) {
	all, err := s.windows()
	return slices.DeleteFunc(all, func(w Window) bool { return w.Title == panelTitle }), err
}

// Panel returns the panel. Not every window manager counts it among its windows.
func (s *Screen) Panel() (Window, bool, error) { return s.findDock(s.root) }

// findDock looks for a dock on the screen, in a window and all in it.
func (s *Screen) findDock(in xproto.Window) (Window, bool, error) {
	tree, err := xproto.QueryTree(s.conn, in).Reply()
	if closed(err) {
		return Window{}, false, nil
	}
	if err != nil {
		return Window{}, false, err
	}
	for _, id := range tree.Children {
		types, err := s.numbers(id, "_NET_WM_WINDOW_TYPE")
		if err == nil && slices.Contains(types, uint32(s.atoms["_NET_WM_WINDOW_TYPE_DOCK"])) {
			w, err := s.window(id)
			if err == nil && w.Visible {
				return w, true, nil
			}
		}
		if w, found, err := s.findDock(id); found || err != nil {
			return w, found, err
		}
	}
	return Window{}, false, nil
}

func (s *Screen) windows() ([]Window, error) {
	ids, err := s.numbers(s.root, "_NET_CLIENT_LIST")
	if err != nil {
		return nil, err
	}
	active, err := s.numbers(s.root, "_NET_ACTIVE_WINDOW")
	if err != nil {
		return nil, err
	}
	var all []Window
	for _, id := range ids {
		w, err := s.window(xproto.Window(id))
		if closed(err) { // since the list was read
			continue
		}
		if err != nil {
			return nil, err
		}
		w.Active = slices.Contains(active, id)
		all = append(all, w)
	}
	return all, nil
}

func (s *Screen) window(id xproto.Window) (Window, error) {
	w := Window{ID: id}
	title, err := s.property(id, s.atoms["_NET_WM_NAME"])
	if err != nil {
		return w, err
	}
	class, err := s.property(id, xproto.AtomWmClass)
	if err != nil {
		return w, err
	}
	pid, err := s.numbers(id, "_NET_WM_PID")
	if err != nil {
		return w, err
	}
	state, err := s.numbers(id, "_NET_WM_STATE")
	if err != nil {
		return w, err
	}
	w.Title, w.Class = string(title), secondWord(class)
	w.Above = slices.Contains(state, uint32(s.atoms["_NET_WM_STATE_ABOVE"]))
	if len(pid) > 0 {
		w.PID = int(pid[0])
	}
	attributes, err := xproto.GetWindowAttributes(s.conn, id).Reply()
	if err != nil {
		return w, err
	}
	w.Visible = attributes.MapState == xproto.MapStateViewable
	w.Area, err = s.place(id)
	return w, err
}

// place is where the content of a window is on the screen.
func (s *Screen) place(id xproto.Window) (image.Rectangle, error) {
	size, err := xproto.GetGeometry(s.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return image.Rectangle{}, err
	}
	at, err := xproto.TranslateCoordinates(s.conn, id, s.root, 0, 0).Reply()
	if err != nil {
		return image.Rectangle{}, err
	}
	corner := image.Pt(int(at.DstX), int(at.DstY))
	return image.Rectangle{corner, corner.Add(image.Pt(int(size.Width), int(size.Height)))}, nil
}

// CloseWindow asks the window manager to close a window, as the button in its title bar does.
func (s *Screen) CloseWindow(w Window) error {
	return s.ask(w.ID, "_NET_CLOSE_WINDOW", xproto.TimeCurrentTime, fromPager)
}

// Mislead tells a window that it lost the keyboard, though it has it.
func (s *Screen) Mislead(w Window) error {
	lost := xproto.FocusOutEvent{Event: w.ID, Mode: xproto.NotifyModeNormal}
	return xproto.SendEventChecked(s.conn, false, w.ID, xproto.EventMaskFocusChange, string(lost.Bytes())).Check()
}

// Minimize asks the window manager to take a window off the screen without closing it. i3 does not.
func (s *Screen) Minimize(w Window) error {
	const iconic = 3 // IconicState (Inter-Client Communication Conventions Manual)
	return s.ask(w.ID, "WM_CHANGE_STATE", iconic)
}

// Resize asks the window manager to make the content of a window that large.
func (s *Screen) Resize(w Window, size image.Point) error {
	return xproto.ConfigureWindowChecked(s.conn, w.ID, xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
		[]uint32{uint32(size.X), uint32(size.Y)}).Check()
}

// fromPager is the source of a request that window managers obey (Extended Window Manager Hints).
const fromPager = 2

// ask sends a request about a window to the window manager.
func (s *Screen) ask(w xproto.Window, kind string, data ...uint32) error {
	mask := uint32(xproto.EventMaskSubstructureNotify | xproto.EventMaskSubstructureRedirect)
	return s.send(s.root, mask, w, kind, data...)
}

func (s *Screen) send(to xproto.Window, mask uint32, about xproto.Window, kind string, data ...uint32) error {
	message := xproto.ClientMessageEvent{
		Format: 32, Window: about, Type: s.atoms[kind],
		Data: xproto.ClientMessageDataUnionData32New(append(data, 0, 0, 0, 0, 0)[:5]),
	}
	return xproto.SendEventChecked(s.conn, false, to, mask, string(message.Bytes())).Check()
}

// Ping waits until the program of a window answers, as a window manager does that wants to know whether the program
// hangs: it answers where it takes its input. A window that closes meanwhile is as good as an answer.
func (s *Screen) Ping(ctx context.Context, w Window) error {
	s.mu.Lock()
	s.pings++
	ping := s.pings
	s.mu.Unlock()
	err := s.send(w.ID, 0, w.ID, "WM_PROTOCOLS", uint32(s.atoms["_NET_WM_PING"]), ping, uint32(w.ID))
	if closed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Await(ctx, fmt.Sprintf("the window %q to answer", w.Title), func() (bool, error) {
		s.mu.Lock()
		answered := s.pong >= ping
		s.mu.Unlock()
		if answered {
			return true, nil
		}
		_, err := xproto.GetWindowAttributes(s.conn, w.ID).Reply()
		if closed(err) {
			return true, nil
		}
		return false, err
	})
}

// answered takes note of an answer to a ping: the message that came, sent to the root.
func (s *Screen) answered(e xproto.ClientMessageEvent) {
	if e.Type != s.atoms["WM_PROTOCOLS"] || e.Data.Data32[0] != uint32(s.atoms["_NET_WM_PING"]) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pong = max(s.pong, e.Data.Data32[1])
}

// closed reports whether an error says that a window is no more.
func closed(err error) bool {
	switch err.(type) {
	case xproto.WindowError, xproto.DrawableError:
		return true
	}
	return false
}

// managed reports whether a window manager has taken charge of the screen.
func (s *Screen) managed() (bool, error) {
	check, err := s.numbers(s.root, "_NET_SUPPORTING_WM_CHECK")
	return len(check) > 0, err
}

func (s *Screen) property(id xproto.Window, property xproto.Atom) ([]byte, error) {
	const longest = 1 << 16 // in units of four bytes
	reply, err := xproto.GetProperty(s.conn, false, id, property, xproto.GetPropertyTypeAny, 0, longest).Reply()
	if err != nil {
		return nil, err
	}
	return reply.Value, nil
}

func (s *Screen) numbers(id xproto.Window, name string) ([]uint32, error) {
	value, err := s.property(id, s.atoms[name])
	var numbers []uint32
	for ; len(value) >= 4; value = value[4:] {
		numbers = append(numbers, xgb.Get32(value))
	}
	return numbers, err
}

// secondWord is the second of the words of a property that ends each with a zero byte.
func secondWord(property []byte) string {
	words := slices.Collect(splitZero(property))
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

func splitZero(property []byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(property) > 0 {
			end := slices.Index(property, 0)
			if end < 0 {
				end = len(property)
			}
			if !yield(string(property[:end])) {
				return
			}
			property = property[min(end+1, len(property)):]
		}
	}
}

// OpenWindow opens a window that says it is of the program that runs the desktop, and stays until that ends.
func (s *Screen) OpenWindow(title string, area image.Rectangle) error {
	id, err := xproto.NewWindowId(s.conn)
	if err != nil {
		return err
	}
	size := area.Size()
	xproto.CreateWindow(s.conn, xproto.WindowClassCopyFromParent, id, s.root, int16(area.Min.X), int16(area.Min.Y),
		uint16(size.X), uint16(size.Y), 0, xproto.WindowClassInputOutput, xproto.WindowClassCopyFromParent,
		xproto.CwBackPixel, []uint32{0xffffff})
	pid := make([]byte, 4)
	xgb.Put32(pid, uint32(os.Getpid()))
	xproto.ChangeProperty(s.conn, xproto.PropModeReplace, id, s.atoms["_NET_WM_PID"], xproto.AtomCardinal, 32, 1, pid)
	xproto.ChangeProperty(s.conn, xproto.PropModeReplace, id, s.atoms["_NET_WM_NAME"], xproto.AtomString, 8,
		uint32(len(title)), []byte(title))
	return xproto.MapWindowChecked(s.conn, id).Check()
}
