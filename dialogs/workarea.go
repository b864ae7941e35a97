package dialogs

import (
	"image"

	"fyne.io/fyne/v2"
	"github.com/jezek/xgb/xinerama"
	"github.com/jezek/xgb/xproto"
)

// FitScreen shrinks a visible window to the part of the screen that panels leave, and moves it there if it had to. It
// needs X11.
func FitScreen(w fyne.Window) {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		return
	}
	free := x.within(x.workArea(), id)
	size, scale := w.Canvas().Size(), w.Canvas().Scale()
	fits := fyne.NewSize(min(size.Width, float32(free.width)/scale), min(size.Height, float32(free.height)/scale))
	if fits == size {
		return
	}
	w.Resize(fits)
	left, top := (free.width-int(fits.Width*scale))/2, (free.height-int(fits.Height*scale))/2
	x.put(id, image.Pt(free.x+left, free.y+top))
}

// area is a part of the screen, in pixels.
type area struct{ x, y, width, height int }

// workArea returns the part of the screen without panels. With several screens it is no larger than the smallest.
func (x *xServer) workArea() area {
	root := xproto.Setup(x.conn).DefaultScreen(x.conn)
	free := area{0, 0, int(root.WidthInPixels), int(root.HeightInPixels)}
	panels := area{}
	if a := x.numbers(x.root, "_NET_WORKAREA"); len(a) >= 4 {
		panels = area{int(a[0]), int(a[1]), free.width - int(a[2]), free.height - int(a[3])}
	}
	if xinerama.Init(x.conn) == nil {
		if screens, err := xinerama.QueryScreens(x.conn).Reply(); err == nil {
			for _, s := range screens.ScreenInfo {
				free.width, free.height = min(free.width, int(s.Width)), min(free.height, int(s.Height))
			}
		}
	}
	return area{panels.x, panels.y, free.width - panels.width, free.height - panels.height}
}

// within returns the part of an area that the frame of a window leaves: GLFW places windows without their frames.
func (x *xServer) within(a area, id xproto.Window) area {
	frame := x.numbers(id, "_NET_FRAME_EXTENTS")
	if len(frame) < 4 {
		frame = []uint32{2, 2, 30, 2}
	}
	left, right, top, bottom := int(frame[0]), int(frame[1]), int(frame[2]), int(frame[3])
	return area{a.x + left, a.y + top, a.width - left - right, a.height - top - bottom}
}

// moveToCorner moves a window into the lower right corner of the screen. It needs X11.
func moveToCorner(w fyne.Window) {
	x, id := windowSystem(w)
	if x == nil || id == 0 {
		return
	}
	size, err := xproto.GetGeometry(x.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return // it is gone
	}
	free := x.workArea()
	const margin = 16
	left, top := max(free.width-int(size.Width)-margin, 0), max(free.height-int(size.Height)-margin, 0)
	x.put(id, image.Pt(free.x+left, free.y+top))
}
