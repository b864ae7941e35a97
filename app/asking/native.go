//go:build !unix || darwin

package asking

import (
	"bytes"
	"context"
	"image/png"
	"runtime"
	"time"

	"fyne.io/systray"
	"github.com/fyne-io/image/ico"

	"nod/assets"
	"nod/interact"
)

// run shows the tray until ctx ends. On macOS it must be called on the main goroutine.
func (t *tray) run(ctx context.Context) {
	runtime.LockOSThread() // the icon belongs to the thread that made it
	defer runtime.UnlockOSThread()
	defer context.AfterFunc(ctx, systray.Quit)()
	systray.Run(func() { t.follow(ctx) }, nil)
}

// follow shows every snapshot until ctx ends.
func (t *tray) follow(ctx context.Context) {
	var state assets.TrayState
	var menu []menuItem
	for {
		s, now := t.latest.Load(), time.Now()
		if next := s.state(); next != state {
			state = next
			systray.SetIcon(nativeIcon(assets.Tray(state, true)))
		}
		if next := s.menu(t.do, now); !sameMenu(menu, next) {
			menu = next
			systray.SetTooltip("nod: " + s.status(now))
			systray.ResetMenu()
			addNativeItems(menu)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.changed:
		}
	}
}

func addNativeItems(items []menuItem) {
	for _, i := range items {
		if i.Label == "" {
			systray.AddSeparator()
			continue
		}
		item := systray.AddMenuItemCheckbox(i.Label, "", i.Checked)
		if i.Do == nil {
			item.Disable()
			continue
		}
		go func() {
			for range item.ClickedCh { // closed when the menu is replaced
				go i.Do()
			}
		}()
	}
}

// nativeIcon converts a PNG to the format that the system's tray reads.
func nativeIcon(icon []byte) []byte {
	if runtime.GOOS != "windows" {
		return icon
	}
	var b bytes.Buffer
	img, err := png.Decode(bytes.NewReader(icon))
	if err != nil || ico.Encode(&b, img) != nil {
		return icon
	}
	return b.Bytes()
}

// trayService reports whether something shows tray icons; here the system itself does.
func trayService() bool { return true }

func notificationService(context.Context) (ok, markup bool) { return true, false }

// displayEnv returns nothing: this system has only one way to show windows.
func displayEnv(context.Context) ([]string, error) { return nil, nil }

// newBoard returns a function that shows an [announcement]. Here that is one of beeep's notifications, which disappears
// on its own and opens nothing when clicked.
func newBoard(ctx context.Context, n *notifier) func(*announcement) {
	return func(a *announcement) {
		if a != nil && a.fresh {
			go n.send(ctx, a.text, interact.Info)
		}
	}
}
