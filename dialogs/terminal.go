package dialogs

import (
	"slices"

	"github.com/jezek/xgb/xproto"

	"nod/interact"
)

// otherPlaces are the ways from the prompt of e to where more is to be seen: the text in the person's editor, and the
// terminal in which the agent runs. They answer nothing.
func (w *window) otherPlaces(e *entry) []menuItem {
	var items []menuItem
	if s, isText := e.page.text.(*sheet); isText {
		items = append(items, menuItem{text: tr("Open in my editor"), parted: true, do: func() {
			if err := openText(s.original); err != nil {
				e.page.tell(err.Error())
			}
		}})
	}
	x, _ := windowSystem(w.win)
	if x == nil || e.request.Requester.IsRemote() { // whose processes are none of this machine's
		return items
	}
	if id := x.windowOf(e.request.Requester.Process); id != 0 {
		items = append(items, menuItem{text: tr("Show the terminal that asks"), parted: len(items) == 0,
			do: func() { x.activate(id) }})
	}
	return items
}

// windowOf is the window in which a process runs: one of its own, else of the nearest ancestor that has any, such as
// its terminal; the topmost of several. 0 is none: a terminal multiplexer's processes have no window above them.
func (x *xServer) windowOf(p interact.Process) xproto.Window {
	windows := x.numbers(x.root, "_NET_CLIENT_LIST_STACKING") // the topmost last
	pids := make([]uint32, len(windows))
	for i, id := range windows {
		if pid := x.numbers(xproto.Window(id), "_NET_WM_PID"); len(pid) > 0 && !x.isShell(xproto.Window(id)) {
			pids[i] = pid[0]
		}
	}
	return topmostOf(p, windows, pids)
}

// topmostOf picks the last of the windows of the nearest process that has any; pids are the windows', 0 unknown.
func topmostOf(p interact.Process, windows, pids []uint32) xproto.Window {
	chain := []int32{p.PID}
	for _, parent := range p.Parents {
		chain = append(chain, parent.PID)
	}
	for _, pid := range chain {
		for i := range slices.Backward(windows) {
			if pid > 1 && pids[i] == uint32(pid) {
				return xproto.Window(windows[i])
			}
		}
	}
	return 0
}

// isShell reports whether a window belongs to the desktop itself: a panel, or its background.
func (x *xServer) isShell(id xproto.Window) bool {
	return slices.ContainsFunc(x.numbers(id, "_NET_WM_WINDOW_TYPE"), func(atom uint32) bool {
		return atom == uint32(x.atoms["_NET_WM_WINDOW_TYPE_DESKTOP"]) || atom == uint32(x.atoms["_NET_WM_WINDOW_TYPE_DOCK"])
	})
}

// activate brings a window to the person, as a click in a panel does.
func (x *xServer) activate(id xproto.Window) {
	const byPerson = 2
	x.send(x.root, xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, xproto.ClientMessageEvent{
		Format: 32, Window: id, Type: x.atoms["_NET_ACTIVE_WINDOW"],
		Data: xproto.ClientMessageDataUnionData32New([]uint32{byPerson, 0, 0, 0, 0})})
}
