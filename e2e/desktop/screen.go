//go:build linux

package desktop

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// ErrGone means that the X server has ended.
var ErrGone = errors.New("the X server has gone")

// Screen is the one screen of an X display: its windows, its pixels, and a wake-up when either changes.
type Screen struct {
	conn     *xgb.Conn
	root     xproto.Window
	area     image.Rectangle // all of it
	atoms    map[string]xproto.Atom
	keyboard map[xproto.Keysym]key

	mu      sync.Mutex    // guards all below
	changed chan struct{} // closed and replaced at every change
	gone    bool
	pings   uint32 // sent
	pong    uint32 // the last that was answered
}

// atomNames are the properties that a Screen reads (Extended Window Manager Hints).
var atomNames = []string{
	"_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "_NET_WM_PID",
	"_NET_WM_STATE", "_NET_WM_STATE_ABOVE", "_NET_CLOSE_WINDOW", "_NET_CURRENT_DESKTOP", "_NET_NUMBER_OF_DESKTOPS",
	"WM_CHANGE_STATE", "WM_PROTOCOLS", "_NET_WM_PING",
	"_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_POPUP_MENU",
	"_NET_WM_WINDOW_TYPE_DROPDOWN_MENU",
}

// xgb reports the end of a connection to standard error as well as to its caller.
func init() { xgb.Logger.SetOutput(io.Discard) }

// OpenScreen connects to a display with the cookie in the file authority.
func OpenScreen(display, authority string) (*Screen, error) {
	conn, err := connect(display, authority)
	if err != nil {
		return nil, err
	}
	screen := xproto.Setup(conn).DefaultScreen(conn)
	s := &Screen{
		conn: conn, root: screen.Root,
		area:  image.Rect(0, 0, int(screen.WidthInPixels), int(screen.HeightInPixels)),
		atoms: map[string]xproto.Atom{}, changed: make(chan struct{}),
	}
	if err := s.prepare(); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

var connecting sync.Mutex // guards XAUTHORITY of this process, the only place where xgb looks for a cookie

func connect(display, authority string) (*xgb.Conn, error) {
	connecting.Lock()
	defer connecting.Unlock()
	before, set := os.LookupEnv("XAUTHORITY")
	defer func() {
		if set {
			os.Setenv("XAUTHORITY", before)
		} else {
			os.Unsetenv("XAUTHORITY")
		}
	}()
	os.Setenv("XAUTHORITY", authority)
	return xgb.NewConnDisplay(display)
}

// prepare learns the atoms and asks for the events that wake those who wait.
func (s *Screen) prepare() error {
	for _, name := range atomNames {
		reply, err := xproto.InternAtom(s.conn, false, uint16(len(name)), name).Reply()
		if err != nil {
			return err
		}
		s.atoms[name] = reply.Atom
	}
	err := xproto.ChangeWindowAttributesChecked(s.conn, s.root, xproto.CwEventMask,
		[]uint32{xproto.EventMaskPropertyChange | xproto.EventMaskSubstructureNotify}).Check()
	if err != nil {
		return err
	}
	if err := s.readKeyboard(); err != nil {
		return err
	}
	if err := damage.Init(s.conn); err != nil {
		return err
	}
	if _, err := damage.QueryVersion(s.conn, 1, 1).Reply(); err != nil {
		return err
	}
	id, err := damage.NewDamageId(s.conn)
	if err != nil {
		return err
	}
	err = damage.CreateChecked(s.conn, id, xproto.Drawable(s.root), damage.ReportLevelNonEmpty).Check()
	if err != nil {
		return err
	}
	go s.watch()
	return nil
}

// watch turns the server's events into wake-ups until the connection ends.
func (s *Screen) watch() {
	for {
		event, err := s.conn.WaitForEvent()
		if event == nil && err == nil {
			s.wake(true)
			return
		}
		switch e := event.(type) {
		case damage.NotifyEvent:
			damage.Subtract(s.conn, e.Damage, 0, 0) // asks for the next one
		case xproto.ClientMessageEvent:
			s.answered(e)
		}
		s.wake(false)
	}
}

func (s *Screen) wake(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = gone
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Screen) state() (changed <-chan struct{}, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.gone
}

// Close disconnects from the display.
func (s *Screen) Close() { s.conn.Close() }

// SetMonitor gives the only monitor another size, at most the first; without a size it turns the monitor off.
func (s *Screen) SetMonitor(size image.Point) error {
	if err := randr.Init(s.conn); err != nil {
		return err
	}
	now, err := randr.GetScreenResources(s.conn, s.root).Reply()
	if err != nil {
		return err
	}
	var mode randr.Mode
	var on []randr.Output
	if size != (image.Point{}) {
		name := size.String()
		info := randr.ModeInfo{Width: uint16(size.X), Height: uint16(size.Y), NameLen: uint16(len(name))}
		made, err := randr.CreateMode(s.conn, s.root, info, name).Reply()
		if err != nil {
			return err
		}
		if err := randr.AddOutputModeChecked(s.conn, now.Outputs[0], made.Mode).Check(); err != nil {
			return err
		}
		mode, on, s.area.Max = made.Mode, now.Outputs[:1], size
	}
	set, err := randr.SetCrtcConfig(s.conn, now.Crtcs[0], xproto.TimeCurrentTime, xproto.TimeCurrentTime, 0, 0, mode,
		randr.RotationRotate0, on).Reply()
	if err == nil && set.Status != randr.SetConfigSuccess {
		return fmt.Errorf("set the monitor to %v: status %d", size, set.Status)
	}
	return err
}

// fill paints the background of the screen in one colour.
func (s *Screen) fill(c color.RGBA) error {
	pixel := uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
	err := xproto.ChangeWindowAttributesChecked(s.conn, s.root, xproto.CwBackPixel, []uint32{pixel}).Check()
	if err != nil {
		return err
	}
	return xproto.ClearAreaChecked(s.conn, false, s.root, 0, 0, 0, 0).Check() // zeros: all of it
}

// Await waits until met says yes, asking at once and again whenever a window or a pixel of the screen has changed, and
// now and then: not all that is waited for is on the screen. what names the condition for the error.
func (s *Screen) Await(ctx context.Context, what string, met func() (bool, error)) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		changed, gone := s.state()
		if gone {
			return fmt.Errorf("wait for %s: %w", what, ErrGone)
		}
		ok, err := met()
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}

// Image is what the screen shows now.
func (s *Screen) Image() (*image.RGBA, error) {
	return s.ImageOf(s.area)
}

// ImageOf is what an area of the screen shows now, in the coordinates of the screen.
func (s *Screen) ImageOf(area image.Rectangle) (*image.RGBA, error) {
	area = area.Intersect(s.area)
	img := image.NewRGBA(area)
	if area.Empty() {
		return img, nil
	}
	reply, err := xproto.GetImage(s.conn, xproto.ImageFormatZPixmap, xproto.Drawable(s.root),
		int16(area.Min.X), int16(area.Min.Y), uint16(area.Dx()), uint16(area.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil, err
	}
	if want := 4 * area.Dx() * area.Dy(); len(reply.Data) < want {
		return nil, fmt.Errorf("image of %d bytes, want %d: is the screen not 24 bits deep?", len(reply.Data), want)
	}
	for i := 0; i < len(img.Pix); i += 4 { // the server sends blue, green, red, padding
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = reply.Data[i+2], reply.Data[i+1], reply.Data[i], 0xff
	}
	return img, nil
}

// Save writes what the screen shows now to a PNG file, and makes its folder.
func (s *Screen) Save(path string) error { return s.SaveArea(path, s.area) }

// SaveArea writes what an area of the screen shows now to a PNG file, and makes its folder.
func (s *Screen) SaveArea(path string, area image.Rectangle) error {
	img, err := s.ImageOf(area)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(file, img), file.Close())
}

// Matching returns the smallest rectangle around the pixels of area that match, and how many match.
func (s *Screen) Matching(area image.Rectangle, match func(color.RGBA) bool) (image.Rectangle, int, error) {
	img, err := s.ImageOf(area)
	if err != nil {
		return image.Rectangle{}, 0, err
	}
	var around image.Rectangle
	count := 0
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			if match(img.RGBAAt(x, y)) {
				around = around.Union(image.Rect(x, y, x+1, y+1))
				count++
			}
		}
	}
	return around, count, nil
}
