package dialogs

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

var usualSize = fyne.NewSize(760, 260)

// screenShare returns the largest size of a prompt: four fifths of the screen's height, or more on a small screen.
func screenShare(screen fyne.Size) fyne.Size {
	const wide, high, small, frame = 0.92, 0.8, 540, 32
	rest := screen.Height - frame
	return fyne.NewSize(screen.Width*wide, min(max(screen.Height*high, min(rest, small)), rest))
}

var assumedScreen = fyne.NewSize(1280, 720)

func screenOf(w fyne.Window) fyne.Size {
	x, id := windowSystem(w)
	if x == nil {
		return assumedScreen
	}
	size, scale := x.monitor(id).Size(), w.Canvas().Scale()
	return fyne.NewSize(float32(size.X)/scale, float32(size.Y)/scale)
}

// onResize calls f, on another goroutine, whenever the screen has another size. It needs X11.
func onResize(w fyne.Window, f func()) {
	if x, _ := windowSystem(w); x != nil {
		x.resized.Store(&f)
	}
}

// isInside reports whether all of a visible window is on its monitor. Without X11 it is always true.
func isInside(w fyne.Window) bool {
	x, id := windowSystem(w)
	return x == nil || id == 0 || x.place(id).In(x.monitor(id))
}

// keepCorner calls resize, and then moves w so that its lower right corner, with the buttons, stays in place.
func keepCorner(w fyne.Window, resize func()) {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		resize()
		return
	}
	before := x.place(id)
	resize()
	size, scale := w.Canvas().Size(), w.Canvas().Scale()
	pixels := image.Pt(int(size.Width*scale+0.5), int(size.Height*scale+0.5))
	room, to := x.room(id), before.Max.Sub(pixels) // or as near as its frame can be on the screen
	to.X = max(min(to.X, room.Max.X-pixels.X), room.Min.X)
	to.Y = max(min(to.Y, room.Max.Y-pixels.Y), room.Min.Y)
	x.put(id, to)
}

// CenterOnScreen centers a window as Fyne does, which crashes while every monitor is off.
func CenterOnScreen(w fyne.Window) {
	if x, _ := windowSystem(w); x == nil || len(x.monitors()) > 0 {
		w.CenterOnScreen()
	}
}

// monitor returns the area of the monitor that a window is on, or that of the first monitor if it is on none.
func (x *xServer) monitor(id xproto.Window) image.Rectangle {
	monitors := x.monitors()
	if len(monitors) == 0 {
		return x.place(x.root)
	}
	if id != 0 {
		at := x.place(id)
		middle := at.Min.Add(at.Max).Div(2)
		for _, m := range monitors {
			if middle.In(m) {
				return m
			}
		}
	}
	return monitors[0]
}

// monitors returns the areas of the monitors that are on, the primary one first. Without RandR it knows none.
func (x *xServer) monitors() (all []image.Rectangle) {
	if !x.hasMonitors {
		return nil
	}
	reply, err := randr.GetMonitors(x.conn, x.root, true).Reply()
	if err != nil {
		return nil
	}
	for _, m := range reply.Monitors {
		at := image.Rect(0, 0, int(m.Width), int(m.Height)).Add(image.Pt(int(m.X), int(m.Y)))
		if all = append(all, at); m.Primary {
			all[0], all[len(all)-1] = at, all[0]
		}
	}
	return all
}

func (x *xServer) place(id xproto.Window) image.Rectangle {
	size, err := xproto.GetGeometry(x.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return image.Rectangle{}
	}
	at, err := xproto.TranslateCoordinates(x.conn, id, x.root, 0, 0).Reply()
	if err != nil {
		return image.Rectangle{}
	}
	return image.Rect(0, 0, int(size.Width), int(size.Height)).Add(image.Pt(int(at.DstX), int(at.DstY)))
}

// room returns the part of a window's monitor without panels and without the window's frame, which is frame if unknown.
func (x *xServer) room(id xproto.Window, frame ...uint32) image.Rectangle {
	room := x.monitor(id)
	if area := x.numbers(x.root, "_NET_WORKAREA"); len(area) >= 4 {
		at := image.Pt(int(area[0]), int(area[1]))
		room = room.Intersect(image.Rectangle{Min: at, Max: at.Add(image.Pt(int(area[2]), int(area[3])))})
	}
	if extents := x.numbers(id, "_NET_FRAME_EXTENTS"); len(extents) == 4 {
		frame = extents
	}
	if len(frame) == 4 {
		room.Min = room.Min.Add(image.Pt(int(frame[0]), int(frame[2])))
		room.Max = room.Max.Sub(image.Pt(int(frame[1]), int(frame[3])))
	}
	return room
}

// fitScreen shrinks a visible window to the part of the screen that panels leave, scrolls what has no room then, and
// moves the window there if the screen has become smaller. It needs X11.
func fitScreen(w fyne.Window) {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		return
	}
	room := x.room(id, 2, 2, 30, 2)
	size, scale := w.Canvas().Size(), w.Canvas().Scale()
	fits := fyne.NewSize(min(size.Width, float32(room.Dx())/scale), min(size.Height, float32(room.Dy())/scale))
	if fits == size && isInside(w) {
		return
	}
	if least := w.Content().MinSize(); least.Width > fits.Width || least.Height > fits.Height {
		w.SetContent(container.NewScroll(w.Content())) // otherwise Fyne keeps the window larger than the screen
	}
	w.Resize(fits)
	center(w, fits)
}

// center moves a visible window to the middle of its monitor, because Fyne shows a window again where it was when it
// was hidden. size is the size that the window was given, which it may not have yet. It needs X11.
func center(w fyne.Window, size fyne.Size) {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		return
	}
	room, scale := x.room(id, 2, 2, 30, 2), w.Canvas().Scale()
	left := image.Pt(room.Dx()-int(size.Width*scale), room.Dy()-int(size.Height*scale))
	x.put(id, room.Min.Add(left.Div(2)))
}

func (x *xServer) put(id xproto.Window, at image.Point) {
	values := []uint32{uint32(int32(at.X)), uint32(int32(at.Y))}
	const mask = xproto.ConfigWindowX | xproto.ConfigWindowY
	x.check(xproto.ConfigureWindowChecked(x.conn, id, mask, values).Check())
}

// The preferences with the size that the user gave the window. Other programs may write them, which is harmless.
const widthKey, heightKey = "prompt.width", "prompt.height"

func savedSize(a fyne.App) fyne.Size {
	p := a.Preferences()
	return fyne.NewSize(float32(p.Float(widthKey)), float32(p.Float(heightKey)))
}

func saveSize(a fyne.App, size fyne.Size) {
	p := a.Preferences()
	p.SetFloat(widthKey, float64(size.Width))
	p.SetFloat(heightKey, float64(size.Height))
}
