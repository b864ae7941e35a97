package dialogs

import (
	"fyne.io/fyne/v2"
	"github.com/jezek/xgb/xinerama"
	"github.com/jezek/xgb/xproto"
)

// frame is the room that a window manager may want round a window, in pixels.
var frame = struct{ width, height int }{4, 36}

// FitScreen makes a window that is on the screen no larger than that. Only X11 tells how large it is.
func FitScreen(w fyne.Window) {
	x, _ := windowSystem(w)
	if x == nil {
		return
	}
	width, height := x.workArea()
	size, scale := w.Canvas().Size(), w.Canvas().Scale()
	fits := fyne.NewSize(
		min(size.Width, float32(width-frame.width)/scale),
		min(size.Height, float32(height-frame.height)/scale))
	if fits != size {
		w.Resize(fits)
		w.CenterOnScreen()
	}
}

// workArea is what panels leave of the screen, in pixels; of several screens that of the smallest.
func (x *xServer) workArea() (width, height int) {
	root := xproto.Setup(x.conn).DefaultScreen(x.conn)
	width, height = int(root.WidthInPixels), int(root.HeightInPixels)
	panelWidth, panelHeight := 0, 0
	if area := x.numbers(x.root, "_NET_WORKAREA"); len(area) >= 4 {
		panelWidth, panelHeight = width-int(area[2]), height-int(area[3])
	}
	if xinerama.Init(x.conn) == nil {
		if screens, err := xinerama.QueryScreens(x.conn).Reply(); err == nil {
			for _, s := range screens.ScreenInfo {
				width, height = min(width, int(s.Width)), min(height, int(s.Height))
			}
		}
	}
	return width - panelWidth, height - panelHeight
}
