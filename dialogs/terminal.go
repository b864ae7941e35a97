package dialogs

import (
	"slices"

	"github.com/jezek/xgb/xproto"

	"nod/interact"
)

// otherPlaces returns the lines of a menu that show more about e, without answering it.
func (w *window) otherPlaces(e *entry) []menuItem {
	var items []menuItem
	if s, isText := e.page.text.(*sheet); isText {
		items = append(items, menuItem{text: tr("Open in my editor"), parted: true, do: func() {
			if err := openText(s.original); err != nil {
				e.page.showNotice(err.Error())
			}
		}})
	}
	x, _ := windowSystem(w.win)
	if x == nil || e.request.Requester.IsRemote() { // its processes are on another machine
		return items
	}
	if id := x.windowOf(e.request.Requester.Process); id != 0 {
		items = append(items, menuItem{text: tr("Show the terminal that asks"), parted: len(items) == 0,
			do: func() { x.activate(id) }})
	}
	return items
}

// windowOf returns the topmost window of a process or of its nearest ancestor that has one; 0 for none.
func (x *xServer) windowOf(p interact.Process) xproto.Window {
	windows := x.numbers(x.root, "_NET_CLIENT_LIST_STACKING") // topmost last
	pids := make([]uint32, len(windows))
	for i, id := range windows {
		if pid := x.numbers(xproto.Window(id), "_NET_WM_PID"); len(pid) > 0 && !x.isShell(xproto.Window(id)) {
			pids[i] = pid[0]
		}
	}
	return topmostOf(p, windows, pids)
}

// topmostOf returns the last window of the nearest process that has any. pids are the windows' processes, or 0.
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

// isShell reports whether a window is a panel or the background of the desktop.
func (x *xServer) isShell(id xproto.Window) bool {
	return slices.ContainsFunc(x.numbers(id, "_NET_WM_WINDOW_TYPE"), func(atom uint32) bool {
		return atom == uint32(x.atoms["_NET_WM_WINDOW_TYPE_DESKTOP"]) || atom == uint32(x.atoms["_NET_WM_WINDOW_TYPE_DOCK"])
	})
}

func (x *xServer) activate(id xproto.Window) {
	const byUser = 2
	x.send(x.root, xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, xproto.ClientMessageEvent{
		Format: 32, Window: id, Type: x.atoms["_NET_ACTIVE_WINDOW"],
		Data: xproto.ClientMessageDataUnionData32New([]uint32{byUser, 0, 0, 0, 0})})
}
