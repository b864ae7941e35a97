//go:build linux

package desktop

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// dunst is the interface that the notification daemon offers beside the standard one.
const dunst = "org.dunstproject.cmd0"

// Notice is a notification as the daemon took it.
type Notice struct {
	App, Summary, Body string
	Icon               string // path of the icon, "" when it was sent as pixels
}

// AwaitNotices waits until the notification daemon has got count notifications in all.
func (d *Desktop) AwaitNotices(ctx context.Context, count int) error {
	return d.AwaitSignal(ctx, fmt.Sprintf("%d notifications", count), func() (bool, error) {
		total := 0
		for _, where := range []string{"displayedLength", "waitingLength", "historyLength"} {
			length, err := d.notifications().GetProperty(dunst + "." + where)
			if err != nil {
				return false, err
			}
			total += int(length.Value().(uint32))
		}
		return total >= count, nil
	}, dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged"))
}

// Notices takes all notifications off the screen and lists them with those that were gone already, in no
// particular order. The daemon tells the text only of notifications that are not on screen.
func (d *Desktop) Notices() ([]Notice, error) {
	if err := d.notifications().Call(dunst+".NotificationCloseAll", 0).Err; err != nil {
		return nil, err
	}
	var history []map[string]dbus.Variant
	if err := d.notifications().Call(dunst+".NotificationListHistory", 0).Store(&history); err != nil {
		return nil, err
	}
	var notices []Notice
	for _, entry := range history {
		text := func(key string) string {
			s, _ := entry[key].Value().(string)
			return s
		}
		notices = append(notices, Notice{text("appname"), text("summary"), text("body"), text("icon_path")})
	}
	return notices, nil
}

func (d *Desktop) notifications() dbus.BusObject {
	return d.Bus.Object(Notifications, "/org/freedesktop/Notifications")
}

// StopNotifications ends the notification daemon and waits until nothing has its name.
func (d *Desktop) StopNotifications(ctx context.Context) error {
	if err := d.Kill(Notifier); err != nil {
		return err
	}
	return d.awaitOwner(ctx, Notifications, false)
}

// ClickNotice does what a click on the newest notification does.
func (d *Desktop) ClickNotice() error {
	return d.notifications().Call(dunst+".NotificationAction", 0, uint32(0)).Err
}

// AwaitNoticesGone waits until no notification is on screen.
func (d *Desktop) AwaitNoticesGone(ctx context.Context) error {
	return d.AwaitSignal(ctx, "no notification", func() (bool, error) {
		length, err := d.notifications().GetProperty(dunst + ".displayedLength")
		return err == nil && length.Value() == uint32(0), err
	}, dbus.WithMatchInterface("org.freedesktop.DBus.Properties"), dbus.WithMatchMember("PropertiesChanged"))
}
