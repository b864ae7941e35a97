//go:build unix && !darwin

package asking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"slices"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/lang"
	"github.com/godbus/dbus/v5"

	"nod/app/desktop"
	"nod/assets"
	"nod/changes"
)

// Here an [announcement] is a notification on the session bus, because beeep cannot remove one and reports no clicks.
// The connection lasts as long as the notification: some desktops remove those of a program that has disconnected.

const (
	notificationsPath = dbus.ObjectPath("/org/freedesktop/Notifications")
	openAction        = "default" // what a click on a notification does
	byDesktop         = int32(-1) // how long it stays
	messageSound      = "message-new-instant"
)

// board shows the latest announcement on the session bus. A service that hangs blocks only the board, which later
// removes what was shown too late.
type board struct {
	notifier *notifier
	latest   atomic.Pointer[announcement] // nil: none
	changed  changes.Signal
}

// newBoard returns a function that shows an [announcement]. It works until ctx ends.
func newBoard(ctx context.Context, n *notifier) func(*announcement) {
	b := &board{notifier: n, changed: changes.NewSignal()}
	go b.run(ctx) // not waited for: a write to a bus that hangs cannot be cancelled
	return b.post
}

func (b *board) post(a *announcement) {
	b.latest.Store(a)
	b.changed.Send()
}

func (b *board) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.changed:
		}
		if a := b.latest.Load(); a == nil || !a.fresh {
			continue
		}
		if err := b.show(ctx); err != nil && ctx.Err() == nil {
			b.notifier.log.Warn("an announcement was not shown", "err", err)
		}
	}
}

// show shows announcements on one connection, until none is up.
func (b *board) show(ctx context.Context) error {
	tried := b.latest.Load()
	defer func() {
		if b.latest.Load() != tried { // of what came during a failure no signal may be left
			b.changed.Send()
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection
	limit := time.AfterFunc(busTimeout, cancel)
	conn, err := connectBus(ctx)
	if err != nil {
		return fmt.Errorf("connect to the session bus: %w", err)
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	err = conn.AddMatchSignal(dbus.WithMatchSender(desktop.Notifications), dbus.WithMatchInterface(desktop.Notifications),
		dbus.WithMatchObjectPath(notificationsPath))
	if err != nil {
		return fmt.Errorf("listen to the notification service: %w", err)
	}
	limit.Stop()
	n := &notification{service: conn.Object(desktop.Notifications, notificationsPath), done: make(chan *dbus.Call, 1)}
	n.call("GetCapabilities")
	for {
		select {
		case s, open := <-signals:
			if !open {
				return errors.New("the session bus ended the connection")
			}
			n.take(s)
		case call := <-n.done:
			if err := n.answered(call); err != nil {
				return err
			}
		case <-b.changed:
		}
		if n.waits != "" {
			continue
		}
		if tried = b.latest.Load(); !n.next(tried) {
			return nil
		}
	}
}

// notification is a notification on the desktop. It is for one goroutine.
type notification struct {
	service dbus.BusObject
	done    chan *dbus.Call // receives the answer to the call under way
	waits   string          // the method of that call; may be empty

	markup, actions bool          // the service reads markup, and tells of clicks
	shown           *announcement // as sent last
	id              uint32        // 0: none is up
}

func (n *notification) call(method string, args ...any) {
	n.waits = method
	n.service.Go(desktop.Notifications+"."+method, 0, n.done, args...)
}

// answered handles the result of the call under way.
func (n *notification) answered(call *dbus.Call) error {
	method := n.waits
	n.waits = ""
	switch method {
	case "GetCapabilities": // a service that does not say is taken to read markup
		var all []string
		err := call.Store(&all)
		n.markup = err != nil || slices.Contains(all, "body-markup")
		n.actions = slices.Contains(all, "actions")
		if _, answered := errors.AsType[dbus.Error](err); err != nil && !answered {
			return fmt.Errorf("ask the notification service what it can do: %w", err)
		}
	case "Notify":
		if err := call.Store(&n.id); err != nil {
			return fmt.Errorf("send to the notification service: %w", err)
		}
	case "CloseNotification": // an error means that it was gone
		n.id = 0
	}
	return nil
}

// next sends what has changed in the latest announcement. It reports whether anything is left to wait for.
func (n *notification) next(latest *announcement) bool {
	switch {
	case latest == nil && n.id == 0:
		return false
	case latest == nil:
		n.call("CloseNotification", n.id)
	case latest == n.shown || n.id == 0 && !latest.fresh:
		return n.id != 0
	default:
		n.send(latest)
	}
	return true
}

func (n *notification) send(a *announcement) {
	n.shown = a
	hints := map[string]dbus.Variant{
		"urgency":        dbus.MakeVariant(byte(1)), // normal
		"image-data":     dbus.MakeVariant(imageData(assets.Level("info"))),
		"suppress-sound": dbus.MakeVariant(!a.sound),
	}
	if a.sound {
		hints["sound-name"] = dbus.MakeVariant(messageSound)
	}
	actions := []string{}
	if n.actions {
		actions = []string{openAction, lang.L("Open")}
	}
	n.call("Notify", notifyTitle, n.id, "", notifyTitle, a.text(n.markup), actions, hints, byDesktop)
}

// take handles a signal. Any program on the bus can send one, with any content.
func (n *notification) take(s *dbus.Signal) {
	if len(s.Body) != 2 || n.id == 0 || s.Body[0] != n.id {
		return
	}
	switch s.Name {
	case desktop.Notifications + ".ActionInvoked":
		if s.Body[1] == openAction {
			go n.shown.open()
		}
	case desktop.Notifications + ".NotificationClosed":
		n.id = 0
	}
}

type notificationImage struct {
	Width, Height, Stride int32
	HasAlpha              bool
	Bits, Channels        int32
	Pixels                []byte
}

func imageData(icon []byte) notificationImage {
	img := pixelsOf(icon)
	size := img.Rect.Size()
	return notificationImage{int32(size.X), int32(size.Y), int32(img.Stride), true, 8, 4, img.Pix}
}

// pixelsOf decodes an icon: red, green, blue, alpha for each pixel.
func pixelsOf(icon []byte) *image.NRGBA {
	img, err := png.Decode(bytes.NewReader(icon))
	if err != nil {
		return new(image.NRGBA)
	}
	pixels := image.NewNRGBA(img.Bounds())
	draw.Draw(pixels, pixels.Rect, img, img.Bounds().Min, draw.Src)
	return pixels
}
