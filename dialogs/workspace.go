package dialogs

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// ShowWindow shows w on the current workspace, even if it is minimized or on another one, gives it the focus, and
// shrinks it to the screen. Without X11 it only does what Fyne does. Call it on the UI goroutine.
func ShowWindow(w fyne.Window) {
	showWindow(w, true)
	fitScreen(w)
}

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

func focusWindow(w fyne.Window) {
	if x, id := windowSystem(w); x != nil && id != 0 {
		x.wantFocus(id, true)
	}
	w.RequestFocus()
}

// isKeyboardFree reports whether w is visible and no other window has the keyboard. Openbox sometimes gives it to none.
// From then on moved is called when another window may have the keyboard.
func isKeyboardFree(w fyne.Window, moved func()) bool {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		return false
	}
	x.moved.Store(&moved)
	has := x.keyboard()
	return (has == id || x.isNobody(has)) && x.onScreen(id)
}

// takeKeyboard gives w the keyboard, and reports whether w had it already, so that no event will tell w.
func takeKeyboard(w fyne.Window) (had bool) {
	x, id := windowSystem(w)
	if x == nil {
		return false
	}
	if x.keyboard() == id {
		return true
	}
	x.check(xproto.SetInputFocusChecked(x.conn, xproto.InputFocusPointerRoot, id, xproto.TimeCurrentTime).Check())
	return false
}

// HideWindow hides w on any workspace. Call it on the UI goroutine.
func HideWindow(w fyne.Window) {
	if x, id := windowSystem(w); x != nil && id != 0 {
		x.withdraw(id)
	}
	w.Hide()
}

// CloseMenus closes the menus, lists and dialogs over the content of a window.
func CloseMenus(w fyne.Window) {
	overlays := w.Canvas().Overlays()
	if all := overlays.List(); len(all) > 0 {
		overlays.Remove(all[0]) // with those over it
	}
}

// isOnScreen reports whether a window that was shown is still on the current workspace. Without X11 it is always true.
func isOnScreen(w fyne.Window) bool {
	x, id := windowSystem(w)
	return x == nil || x.onScreen(id)
}

// windowSystem returns the X server, or nil without X11, and the id of w there, which is 0 until Fyne has created the
// window.
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

// xServer is a second connection to the X server, for what GLFW lacks: GLFW waits without limit for a window to become
// visible, which never happens on another workspace, and it does not hide a window that the window manager has already
// unmapped.
type xServer struct {
	conn  *xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom

	moved   atomic.Pointer[func()] // called when another window may have the keyboard
	resized atomic.Pointer[func()] // called when the screen has another size

	hasMonitors bool // it can list its monitors
}

var connectX = sync.OnceValue(func() *xServer {
	x, err := newXServer()
	if err != nil {
		slog.Error("without a connection to the X server, a prompt may come up on another workspace", "error", err)
		return nil
	}
	return x
})

// CheckX11 returns why the X server refuses connections, since Fyne does not.
func CheckX11() error {
	conn, err := dialX()
	if err != nil {
		return fmt.Errorf("the X server at %q refuses connections: %w: check DISPLAY and XAUTHORITY",
			os.Getenv("DISPLAY"), err)
	}
	conn.Close()
	return nil
}

func dialX() (*xgb.Conn, error) {
	xgb.Logger.SetOutput(io.Discard) // it logs every connection without an authority file
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
		"_NET_FRAME_EXTENTS", "_NET_SUPPORTING_WM_CHECK", "_NET_ACTIVE_WINDOW",
	} {
		atom, err := xproto.InternAtom(conn, false, uint16(len(name)), name).Reply()
		if err != nil {
			conn.Close()
			return nil, err
		}
		x.atoms[name] = atom.Atom
	}
	x.hasMonitors = randr.Init(conn) == nil
	const events = xproto.EventMaskPropertyChange | xproto.EventMaskStructureNotify
	xproto.ChangeWindowAttributes(conn, x.root, xproto.CwEventMask, []uint32{events})
	go func() { // unread events would block the connection
		for event, err := conn.WaitForEvent(); event != nil || err != nil; event, err = conn.WaitForEvent() {
			var call *func()
			switch change := event.(type) {
			case xproto.PropertyNotifyEvent:
				if change.Atom == x.atoms["_NET_ACTIVE_WINDOW"] {
					call = x.moved.Load()
				}
			case xproto.ConfigureNotifyEvent:
				call = x.resized.Load()
			}
			if call != nil {
				(*call)()
			}
		}
	}()
	return x, nil
}

// show maps a window that is not on the screen; id is 0 for a new one.
func (x *xServer) show(w fyne.Window, id xproto.Window, focus bool) {
	shown := make(chan struct{})
	switch {
	case id != 0:
		x.withdraw(id)
		// Window managers read the workspace when the window is mapped.
		if here := x.numbers(x.root, "_NET_CURRENT_DESKTOP"); len(here) > 0 {
			x.setNumber(id, "_NET_WM_DESKTOP", here[0])
		}
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

// keyboard returns the window that has the keyboard, or the root window if that is unknown.
func (x *xServer) keyboard() xproto.Window {
	focus, err := xproto.GetInputFocus(x.conn).Reply()
	if err != nil {
		return x.root
	}
	return focus.Focus
}

// isNobody reports whether a window that has the keyboard is none, or only that of the window manager.
func (x *xServer) isNobody(id xproto.Window) bool {
	return id == xproto.WindowNone || slices.Contains(x.numbers(x.root, "_NET_SUPPORTING_WM_CHECK"), uint32(id))
}

// withdraw withdraws a window from the window manager (ICCCM 4.1.4). The manager may already have unmapped it, so
// withdraw also sends it an event. The window can be mapped again once the manager has released it.
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

// wantFocus sets whether a window gets the focus when it is mapped. A user time of 0 means that the user did not ask
// for it (Extended Window Manager Hints, _NET_WM_USER_TIME).
func (x *xServer) wantFocus(id xproto.Window, yes bool) {
	if yes {
		x.check(xproto.DeletePropertyChecked(x.conn, id, x.atoms["_NET_WM_USER_TIME"]).Check())
		return
	}
	x.setNumber(id, "_NET_WM_USER_TIME", 0)
}

// leaveFocus is wantFocus(id, false) for a window that GLFW is making and whose id is unknown: the first of this
// process that is not in known. It gives up when done is closed.
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

func (x *xServer) topLevels() []xproto.Window {
	tree, err := xproto.QueryTree(x.conn, x.root).Reply()
	if err != nil {
		return nil
	}
	return tree.Children
}

func (x *xServer) isOwn(id xproto.Window) bool {
	pid := x.numbers(id, "_NET_WM_PID")
	return len(pid) > 0 && int(pid[0]) == os.Getpid()
}

// endWait ends GLFW's wait for a mapped window to become visible, if that takes long: until done is closed it reports
// the window as visible to GLFW. id is 0 for a new window, whose id is unknown.
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

// check logs an error of the X server, for example because a window no longer exists.
func (x *xServer) check(err error) {
	if err != nil {
		slog.Warn("the X server refused a request about a window", "error", err)
	}
}

func (x *xServer) setNumber(id xproto.Window, property string, number uint32) {
	value := make([]byte, 4)
	xgb.Put32(value, number)
	x.check(xproto.ChangePropertyChecked(x.conn, xproto.PropModeReplace, id, x.atoms[property], xproto.AtomCardinal, 32, 1,
		value).Check())
}

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
