//go:build linux

package desktop

import (
	"image"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// panelTitle is the title that xfce4-panel gives its window.
const panelTitle = "xfce4-panel"

// Window is a mapped window that the window manager looks after, as it was when it was asked for.
type Window struct {
	ID     xproto.Window
	Title  string
	Class  string          // the second word of WM_CLASS
	PID    int             // of the program, as the program claims
	Area   image.Rectangle // of the content, on the screen
	Active bool            // has the keyboard
	Above  bool            // stays above other windows
}

// Windows lists the windows of the desktop's programs, the oldest first, without the panel.
func (s *Screen) Windows() ([]Window, error) {
	all, err := s.windows()
	return slices.DeleteFunc(all, func(w Window) bool { return w.Title == panelTitle }), err
}

// Panel returns the panel.
func (s *Screen) Panel() (Window, bool, error) {
	all, err := s.windows()
	i := slices.IndexFunc(all, func(w Window) bool { return w.Title == panelTitle })
	if err != nil || i < 0 {
		return Window{}, false, err
	}
	return all[i], true, nil
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
		if _, closed := err.(xproto.WindowError); closed { // since the list was read
			continue
		}
		if _, closed := err.(xproto.DrawableError); closed {
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
	const fromPager = 2 // the source that window managers obey (Extended Window Manager Hints)
	message := xproto.ClientMessageEvent{
		Format: 32, Window: w.ID, Type: s.atoms["_NET_CLOSE_WINDOW"],
		Data: xproto.ClientMessageDataUnionData32New([]uint32{uint32(xproto.TimeCurrentTime), fromPager, 0, 0, 0}),
	}
	mask := uint32(xproto.EventMaskSubstructureNotify | xproto.EventMaskSubstructureRedirect)
	return xproto.SendEventChecked(s.conn, false, s.root, mask, string(message.Bytes())).Check()
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
