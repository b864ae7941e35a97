package dialogs

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// ShowWindow shows w on the workspace that the person is at, also when it is minimized or was left open on another
// one, and gives it the focus. It is for the UI goroutine. Where there is no X11 it does what Fyne does.
func ShowWindow(w fyne.Window) { showWindow(w, true) }

// showWindow is [ShowWindow], with or without the focus.
func showWindow(w fyne.Window, focus bool) {
	switch x, id := windowSystem(w); {
	case x == nil:
		w.Show()
	case id == 0 || !x.onScreen(id):
		x.show(w, id, focus)
	}
	if focus {
		focusWindow(w)
	}
}

// focusWindow gives a window that is on the screen the focus.
func focusWindow(w fyne.Window) {
	if x, id := windowSystem(w); x != nil && id != 0 {
		x.wantFocus(id, true)
	}
	w.RequestFocus()
}

// regainKeyboard gives a window that is on the screen the keyboard where nobody has it. Openbox leaves it so at times
// when one window goes while the next one comes, and still takes one of them for the active window.
func regainKeyboard(w fyne.Window) {
	if x, id := windowSystem(w); x != nil && id != 0 && x.isKeyboardFree() && x.onScreen(id) {
		x.check(xproto.SetInputFocusChecked(x.conn, xproto.InputFocusPointerRoot, id, xproto.TimeCurrentTime).Check())
	}
}

// HideWindow takes w off the screen, wherever it is. It is for the UI goroutine.
func HideWindow(w fyne.Window) {
	if x, id := windowSystem(w); x != nil && id != 0 {
		x.withdraw(id)
	}
	w.Hide()
}

// isOnScreen reports whether a window that was shown still is on the workspace that the person is at. Only X11 tells.
func isOnScreen(w fyne.Window) bool {
	x, id := windowSystem(w)
	return x == nil || x.onScreen(id)
}

// windowSystem returns the X server and the id of w there: 0 as long as Fyne has not made it. The server is nil where
// windows are none of X11's.
func windowSystem(w fyne.Window) (x *xServer, id xproto.Window) {
	native, ok := w.(driver.NativeWindow)
	if !ok {
		return nil, 0
	}
	native.RunNative(func(context any) {
		if c, isX11 := context.(driver.X11WindowContext); isX11 {
			x, id = connectX(), xproto.Window(c.WindowHandle)
		}
	})
	return x, id
}

// xServer is a connection to the X server beside GLFW's, for what GLFW does not do: it waits without limit for a
// window to become visible, which one on another workspace never does, and its way of hiding a window leaves one that
// the window manager has unmapped already where it is.
type xServer struct {
	conn  *xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom

	hasMonitors bool // it tells of its monitors
}

var connectX = sync.OnceValue(func() *xServer {
	x, err := newXServer()
	if err != nil {
		slog.Error("without a connection to the X server, a prompt may come up on another workspace", "error", err)
		return nil
	}
	return x
})

// CheckX11 reports whether the X server lets nod in. Fyne itself says no word of it to the program.
func CheckX11() error {
	conn, err := dialX()
	if err != nil {
		return fmt.Errorf("the X server at %q lets nobody in: %w: check DISPLAY and XAUTHORITY", os.Getenv("DISPLAY"), err)
	}
	conn.Close()
	return nil
}

func dialX() (*xgb.Conn, error) {
	xgb.Logger.SetOutput(io.Discard) // it writes of every connection without a file of authorities
	return xgb.NewConn()
}

func newXServer() (*xServer, error) {
	conn, err := dialX()
	if err != nil {
		return nil, err
	}
	x := &xServer{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, atoms: map[string]xproto.Atom{}}
	for _, name := range []string{
		"WM_STATE", "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN", "_NET_WM_DESKTOP", "_NET_CURRENT_DESKTOP",
		"_NET_CLIENT_LIST", "_NET_WM_PID", "_NET_WM_USER_TIME", "_NET_WORKAREA",
		"_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DESKTOP",
		"_NET_WM_WINDOW_TYPE_DOCK", "_NET_FRAME_EXTENTS", "_NET_SUPPORTING_WM_CHECK",
	} {
		atom, err := xproto.InternAtom(conn, false, uint16(len(name)), name).Reply()
		if err != nil {
			conn.Close()
			return nil, err
		}
		x.atoms[name] = atom.Atom
	}
	x.hasMonitors = randr.Init(conn) == nil
	go func() { // what nobody reads would block the connection
		for event, err := conn.WaitForEvent(); event != nil || err != nil; event, err = conn.WaitForEvent() {
		}
	}()
	return x, nil
}

// show maps a window that is not on the screen; id is 0 for one that is new.
func (x *xServer) show(w fyne.Window, id xproto.Window, focus bool) {
	shown := make(chan struct{})
	switch {
	case id != 0:
		x.withdraw(id)
		x.moveHere(id)
		x.wantFocus(id, focus)
	case !focus:
		go x.leaveFocus(x.topLevels(), shown)
	}
	go x.endWait(id, shown)
	w.Show()
	close(shown)
}

// onScreen reports whether a window is mapped, not minimized, and on the current workspace.
func (x *xServer) onScreen(id xproto.Window) bool {
	attributes, err := xproto.GetWindowAttributes(x.conn, id).Reply()
	if err != nil || attributes.MapState != xproto.MapStateViewable {
		return false
	}
	if slices.Contains(x.numbers(id, "_NET_WM_STATE"), uint32(x.atoms["_NET_WM_STATE_HIDDEN"])) {
		return false
	}
	const everywhere = 0xFFFFFFFF
	at, here := x.numbers(id, "_NET_WM_DESKTOP"), x.numbers(x.root, "_NET_CURRENT_DESKTOP")
	return len(at) == 0 || len(here) == 0 || at[0] == here[0] || at[0] == everywhere
}

// isKeyboardFree reports whether keys go to nobody, or to the window that stands for the window manager.
func (x *xServer) isKeyboardFree() bool {
	focus, err := xproto.GetInputFocus(x.conn).Reply()
	return err == nil && (focus.Focus == xproto.WindowNone ||
		slices.Contains(x.numbers(x.root, "_NET_SUPPORTING_WM_CHECK"), uint32(focus.Focus)))
}

// withdraw takes a window away from the window manager (ICCCM 4.1.4): the manager may have unmapped it itself, so it
// is told, too. A window can be mapped anew once the manager has let go of it.
func (x *xServer) withdraw(id xproto.Window) {
	xproto.UnmapWindow(x.conn, id)
	x.send(x.root, xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect,
		xproto.UnmapNotifyEvent{Event: x.root, Window: id})
	const pause, longest = 2 * time.Millisecond, 200 * time.Millisecond
	for range longest / pause {
		if state := x.numbers(id, "WM_STATE"); len(state) == 0 || state[0] == 0 { // withdrawn
			return
		}
		time.Sleep(pause)
	}
}

// moveHere asks for the current workspace. Window managers read it when the window is mapped.
func (x *xServer) moveHere(id xproto.Window) {
	here := x.numbers(x.root, "_NET_CURRENT_DESKTOP")
	if len(here) == 0 {
		return
	}
	x.setNumber(id, "_NET_WM_DESKTOP", here[0])
}

// wantFocus says whether a window is to have the focus when it is mapped. No time of the person's last action in it
// says that nobody has asked for it (Extended Window Manager Hints, _NET_WM_USER_TIME).
func (x *xServer) wantFocus(id xproto.Window, yes bool) {
	if yes {
		x.check(xproto.DeletePropertyChecked(x.conn, id, x.atoms["_NET_WM_USER_TIME"]).Check())
		return
	}
	x.setNumber(id, "_NET_WM_USER_TIME", 0)
}

// leaveFocus does the same for a window that is being made, which nobody has told the id of: the first of this process
// that is not among known. It gives up when done is closed.
func (x *xServer) leaveFocus(known []xproto.Window, done <-chan struct{}) {
	const pause = time.Millisecond
	for {
		for _, id := range x.topLevels() {
			if !slices.Contains(known, id) && x.isOwn(id) {
				x.wantFocus(id, false)
				return
			}
		}
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
	}
}

// topLevels lists the windows that are not inside of others.
func (x *xServer) topLevels() []xproto.Window {
	tree, err := xproto.QueryTree(x.conn, x.root).Reply()
	if err != nil {
		return nil
	}
	return tree.Children
}

// isOwn reports whether a window is this process's.
func (x *xServer) isOwn(id xproto.Window) bool {
	pid := x.numbers(id, "_NET_WM_PID")
	return len(pid) > 0 && int(pid[0]) == os.Getpid()
}

// endWait ends GLFW's wait for a window that it has mapped to become visible, when that takes long: it tells GLFW
// that the window is visible until done is closed. A window that is new has no id yet that anybody told.
func (x *xServer) endWait(id xproto.Window, done <-chan struct{}) {
	const patience = 100 * time.Millisecond
	for {
		select {
		case <-done:
			return
		case <-time.After(patience):
		}
		for _, w := range append(x.ownWindows(), id) {
			if w != 0 {
				x.send(w, xproto.EventMaskVisibilityChange, xproto.VisibilityNotifyEvent{Window: w})
			}
		}
	}
}

// ownWindows lists the windows of this process that the window manager looks after.
func (x *xServer) ownWindows() []xproto.Window {
	var own []xproto.Window
	for _, id := range x.numbers(x.root, "_NET_CLIENT_LIST") {
		if x.isOwn(xproto.Window(id)) {
			own = append(own, xproto.Window(id))
		}
	}
	return own
}

func (x *xServer) send(to xproto.Window, mask uint32, event xgb.Event) {
	x.check(xproto.SendEventChecked(x.conn, false, to, mask, string(event.Bytes())).Check())
}

// check logs what the X server refused: a window may be gone by then.
func (x *xServer) check(err error) {
	if err != nil {
		slog.Warn("the X server refused a request about a window", "error", err)
	}
}

// setNumber sets a property that is one number.
func (x *xServer) setNumber(id xproto.Window, property string, number uint32) {
	value := make([]byte, 4)
	xgb.Put32(value, number)
	x.check(xproto.ChangePropertyChecked(x.conn, xproto.PropModeReplace, id, x.atoms[property], xproto.AtomCardinal, 32, 1,
		value).Check())
}

// numbers is the value of a property of 32-bit numbers; nil when there is none.
func (x *xServer) numbers(id xproto.Window, property string) []uint32 {
	const most = 1 << 12
	reply, err := xproto.GetProperty(x.conn, false, id, x.atoms[property], xproto.GetPropertyTypeAny, 0, most).Reply()
	if err != nil || reply.Format != 32 {
		return nil
	}
	var numbers []uint32
	for value := reply.Value; len(value) >= 4; value = value[4:] {
		numbers = append(numbers, xgb.Get32(value))
	}
	return numbers
}
