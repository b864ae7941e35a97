//go:build linux

package desktop

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb/xproto"
)

// TrayIcon waits until an icon is in the panel's notification area, and returns where. It is for panels
// with one icon: whatever differs from the panel's own colour is it.
func (d *Desktop) TrayIcon(ctx context.Context) (image.Rectangle, error) {
	var icon image.Rectangle
	err := d.Screen.Await(ctx, "an icon in the tray", func() (bool, error) {
		panel, found, err := d.Screen.Panel()
		if err != nil || !found {
			return false, err
		}
		inside := panel.Area.Inset(2) // without the panel's border
		img, err := d.Screen.ImageOf(inside)
		if err != nil {
			return false, err
		}
		ground := img.RGBAAt(inside.Min.X, inside.Min.Y)
		const smallest = 30 // pixels of an icon
		var count int
		icon, count, err = d.Screen.Matching(inside, func(c color.RGBA) bool { return c != ground })
		return count >= smallest, err
	})
	return icon, err
}

// MenuItem is an entry of a tray icon's menu, as the program exports it.
type MenuItem struct {
	id        int32
	Label     string
	Enabled   bool
	Separator bool
	Checked   bool
}

// TrayMenu is the menu of the only icon in the tray, read over the bus.
func (d *Desktop) TrayMenu() ([]MenuItem, error) {
	menu, err := d.trayMenu()
	if err != nil {
		return nil, err
	}
	var revision uint32
	var root menuNode
	err = menu.Call(dbusMenu+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root)
	if err != nil {
		return nil, err
	}
	return root.items()
}

// dbusMenu is the interface of a tray icon's menu.
const dbusMenu = "com.canonical.dbusmenu"

// trayMenu finds the menu of the only icon in the tray.
func (d *Desktop) trayMenu() (dbus.BusObject, error) {
	watcher := d.Bus.Object(TrayWatcher, "/StatusNotifierWatcher")
	items, err := watcher.GetProperty(TrayWatcher + ".RegisteredStatusNotifierItems")
	if err != nil {
		return nil, err
	}
	registered, _ := items.Value().([]string)
	if len(registered) != 1 {
		return nil, fmt.Errorf("the tray has %d icons, want one: %q", len(registered), registered)
	}
	owner, path, _ := strings.Cut(registered[0], "/")
	menu, err := d.Bus.Object(owner, dbus.ObjectPath("/"+path)).GetProperty("org.kde.StatusNotifierItem.Menu")
	if err != nil {
		return nil, err
	}
	return d.Bus.Object(owner, menu.Value().(dbus.ObjectPath)), nil
}

// ActivateTrayItem picks an entry of the tray icon's menu over the bus, as a panel does.
func (d *Desktop) ActivateTrayItem(ctx context.Context, label string) error {
	items, err := d.TrayMenu()
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.Label != label {
			continue
		}
		menu, err := d.trayMenu()
		if err != nil {
			return err
		}
		now := uint32(time.Now().Unix())
		return menu.CallWithContext(ctx, dbusMenu+".Event", 0, i.id, "clicked", dbus.MakeVariant(""), now).Err
	}
	return fmt.Errorf("no entry %q in the tray's menu: %+v", label, items)
}

// menuNode is an entry as the menu's interface sends it.
type menuNode struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

func (n menuNode) items() ([]MenuItem, error) {
	var items []MenuItem
	for _, child := range n.Children {
		var c menuNode
		if err := dbus.Store([]any{child.Value()}, &c); err != nil {
			return nil, err
		}
		enabled, known := c.Properties["enabled"].Value().(bool)
		label, _ := c.Properties["label"].Value().(string)
		toggled, _ := c.Properties["toggle-state"].Value().(int32)
		items = append(items, MenuItem{
			id:        c.ID,
			Label:     strings.ReplaceAll(label, "_", ""), // marks the shortcut
			Enabled:   enabled || !known,                  // as the interface defines it
			Separator: c.Properties["type"].Value() == "separator",
			Checked:   toggled == 1,
		})
	}
	return items, nil
}

// PickFromTray opens the menu of the icon in the tray with the right button of the mouse and picks the
// entry with that label by keyboard.
func (d *Desktop) PickFromTray(ctx context.Context, label string) error {
	if err := d.OpenTrayMenu(ctx); err != nil { // and then read it: it may have changed on the way
		return err
	}
	items, err := d.TrayMenu()
	if err != nil {
		return err
	}
	// The arrow keys skip the others.
	items = slices.DeleteFunc(items, func(i MenuItem) bool { return i.Separator || !i.Enabled })
	steps := 1 + slices.IndexFunc(items, func(i MenuItem) bool { return i.Label == label })
	if steps == 0 {
		return fmt.Errorf("no entry %q in the tray's menu: %+v", label, items)
	}
	return d.Press(append(slices.Repeat([]string{"Down"}, steps), "Return")...)
}

// OpenTrayMenu opens the menu of the icon in the tray with the right button of the mouse.
func (d *Desktop) OpenTrayMenu(ctx context.Context) error {
	icon, err := d.TrayIcon(ctx)
	if err != nil {
		return err
	}
	if err := d.Click(icon.Min.Add(icon.Max).Div(2), RightButton); err != nil {
		return err
	}
	return d.Screen.Await(ctx, "the tray's menu", d.Screen.menuOpen)
}

// CloseTrayMenu closes the menu again by keyboard.
func (d *Desktop) CloseTrayMenu(ctx context.Context) error {
	if err := d.Press("Escape"); err != nil {
		return err
	}
	return d.Screen.Await(ctx, "the menu to close", func() (bool, error) {
		open, err := d.Screen.menuOpen()
		return !open, err
	})
}

// menuOpen reports whether a menu is on the screen. Menus are past the window manager, so they are not
// among its windows.
func (s *Screen) menuOpen() (bool, error) {
	tree, err := xproto.QueryTree(s.conn, s.root).Reply()
	if err != nil {
		return false, err
	}
	for _, id := range tree.Children {
		menu, err := s.isOpenMenu(id)
		if closed(err) { // since the list was read
			continue
		}
		if err != nil || menu {
			return menu, err
		}
	}
	return false, nil
}

func (s *Screen) isOpenMenu(id xproto.Window) (bool, error) {
	attributes, err := xproto.GetWindowAttributes(s.conn, id).Reply()
	if err != nil || attributes.MapState != xproto.MapStateViewable {
		return false, err
	}
	types, err := s.numbers(id, "_NET_WM_WINDOW_TYPE")
	menu := slices.Contains(types, uint32(s.atoms["_NET_WM_WINDOW_TYPE_POPUP_MENU"])) ||
		slices.Contains(types, uint32(s.atoms["_NET_WM_WINDOW_TYPE_DROPDOWN_MENU"]))
	return menu, err
}
