//go:build unix && !darwin

package asking

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"nod/app/desktop"
	"nod/assets"
)

// Here the tray is two objects on the session bus, an org.kde.StatusNotifierItem and its com.canonical.dbusmenu,
// on a connection of their own. fyne.io/systray serves the same objects on the connection that the process
// shares, which beeep uses, too: it stops looking for a restarted tray host at the first notification's end, leaves
// a goroutine behind for each later one, and panics when the bus has died.

const (
	itemInterface = "org.kde.StatusNotifierItem"
	itemPath      = dbus.ObjectPath("/StatusNotifierItem")

	menuInterface = "com.canonical.dbusmenu"
	menuPath      = itemPath + "/menu"
	menuVersion   = uint32(3) // of the interface

	portalPath     = dbus.ObjectPath("/org/freedesktop/portal/desktop")
	portalSettings = "org.freedesktop.portal.Settings"
	appearance     = "org.freedesktop.appearance" // the portal's group of settings with the colour scheme
	preferLight    = uint32(2)
)

// run shows the tray until ctx ends, on as many connections to the session bus as that takes.
func (t *tray) run(ctx context.Context) {
	go t.keep(ctx) // not waited for: a write to a bus that hangs cannot be cancelled
	<-ctx.Done()
}

// How long the tray waits before it looks for a lost session bus again; doubled each time.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

func (t *tray) keep(ctx context.Context) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		connected, err := t.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected {
			wait = firstRetry
		}
		if wait == firstRetry {
			t.log.Warn("no tray icon until the session bus responds", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (t *tray) serve(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // closes the connection
	limit := time.AfterFunc(busTimeout, cancel)
	item, signals, err := openItem(ctx)
	if err != nil {
		return false, fmt.Errorf("connect to the session bus: %w", err)
	}
	limit.Stop()
	item.show(t.latest.Load(), t.do)
	register(item.conn)
	t.log.Info("the tray icon is on the session bus")
	scheme := item.conn.Object(desktop.Portal, portalPath).
		GoWithContext(ctx, portalSettings+".Read", 0, nil, appearance, "color-scheme").Done
	for {
		select {
		case signal, open := <-signals:
			if !open {
				return true, errors.New("the session bus ended the connection")
			}
			item.take(signal)
		case answer := <-scheme:
			item.setScheme(answer.Body)
			scheme = nil
		case <-t.changed:
		}
		item.show(t.latest.Load(), t.do)
	}
}

// openItem puts the icon on a new connection, which ends with ctx; signals is closed then.
func openItem(ctx context.Context) (item *statusItem, signals <-chan *dbus.Signal, err error) {
	conn, err := connectPortal(ctx)
	if err != nil {
		return nil, nil, err
	}
	received := make(chan *dbus.Signal, 16)
	conn.Signal(received)
	if err := watchTrayHost(conn); err != nil {
		return nil, nil, err
	}
	item, err = exportItem(conn)
	return item, received, err
}

// watchTrayHost asks the bus to tell when the tray's host starts, and when the colour scheme changes.
func watchTrayHost(conn *dbus.Conn) error {
	err := conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, desktop.TrayWatcher))
	if err == nil {
		err = conn.AddMatchSignal(dbus.WithMatchInterface(portalSettings),
			dbus.WithMatchMember("SettingChanged"), dbus.WithMatchArg(0, appearance))
	}
	return err
}

// register registers the icon with the tray's host, if one runs.
func register(conn *dbus.Conn) {
	host := conn.Object(desktop.TrayWatcher, "/StatusNotifierWatcher")
	host.Go(desktop.TrayWatcher+".RegisterStatusNotifierItem", dbus.FlagNoReplyExpected, nil, string(itemPath))
}

// statusItem is the icon on one connection. Its methods are for one goroutine.
type statusItem struct {
	conn    *dbus.Conn
	values  map[string]any // its properties
	menu    *dbusMenu
	light   bool // the panel is
	icon    []byte
	tooltip string
}

// pixmap is an icon as the protocol sends it: alpha, red, green, blue for each pixel.
type pixmap struct {
	Width, Height int32
	Pixels        []byte
}

type tooltip struct {
	IconName    string
	Icon        []pixmap
	Title, Text string
}

func exportItem(conn *dbus.Conn) (*statusItem, error) {
	menu, err := exportMenu(conn)
	if err != nil {
		return nil, err
	}
	values := map[string]any{
		"Id":            "nod",
		"Title":         "nod",
		"Category":      "ApplicationStatus",
		"Status":        "Active",
		"ItemIsMenu":    true,
		"Menu":          menuPath,
		"IconName":      "",
		"IconThemePath": "",
		"IconPixmap":    []pixmap{},
		"ToolTip":       tooltip{},
	}
	return &statusItem{conn: conn, values: values, menu: menu}, exportObject(conn, itemPath, itemInterface, nil, values)
}

// show updates the icon, its tool tip and its menu. It signals only what has changed.
func (i *statusItem) show(s *snapshot, do trayActions) {
	now := time.Now()
	if icon := assets.Tray(s.state(), !i.light); !bytes.Equal(icon, i.icon) {
		i.icon = icon
		i.change("IconPixmap", "NewIcon", pixmaps(icon))
	}
	if tip := "nod: " + s.status(now); tip != i.tooltip {
		i.tooltip = tip
		i.change("ToolTip", "NewToolTip", tooltip{Title: tip})
	}
	i.menu.show(s.menu(do, now))
}

// change sets a property and signals the change. An error means that the connection has ended, which serve notices.
func (i *statusItem) change(property, signal string, value any) {
	i.values[property] = value
	_, _ = exportProperties(i.conn, itemPath, itemInterface, i.values)
	_ = i.conn.Emit(itemPath, itemInterface+"."+signal)
}

// take handles a signal. Any program on the bus can send one, with any content.
func (i *statusItem) take(s *dbus.Signal) {
	switch s.Name {
	case "org.freedesktop.DBus.NameOwnerChanged":
		register(i.conn)
	case portalSettings + ".SettingChanged":
		if len(s.Body) == 3 && s.Body[1] == "color-scheme" {
			i.setScheme(s.Body[2:])
		}
	}
}

// setScheme sets the desktop's colour scheme as the portal sends it: a number in any number of variants.
func (i *statusItem) setScheme(body []any) {
	if len(body) != 1 {
		return // no answer: there is no portal
	}
	value := body[0]
	for v, nested := value.(dbus.Variant); nested; v, nested = value.(dbus.Variant) {
		value = v.Value()
	}
	i.light = value == preferLight
}

func pixmaps(icon []byte) []pixmap {
	img := pixelsOf(icon)
	var pixels []byte
	for p := range slices.Chunk(img.Pix, 4) {
		pixels = append(pixels, p[3], p[0], p[1], p[2])
	}
	size := img.Rect.Size()
	return []pixmap{{int32(size.X), int32(size.Y), pixels}}
}

// dbusMenu is the tray's menu on the bus. Its exported methods are those of com.canonical.dbusmenu.
type dbusMenu struct {
	conn *dbus.Conn

	mu       sync.Mutex
	items    []menuItem
	revision uint32
	lastID   int32 // never used again: a click on a menu that was replaced does nothing
	nodes    map[int32]menuNode
}

var errNoItem = errors.New("the menu has no such item")

// menuNode is a menu item in the form that the interface sends. The root has the id 0.
type menuNode struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant // of menuNode
	do         func()
}

// itemProperties are the properties of an item, without its children.
type itemProperties struct {
	ID         int32
	Properties map[string]dbus.Variant
}

type menuEvent struct {
	ID   int32
	Name string
	Data dbus.Variant
	Time uint32
}

func exportMenu(conn *dbus.Conn) (*dbusMenu, error) {
	m := &dbusMenu{conn: conn}
	m.replace(nil)
	return m, exportObject(conn, menuPath, menuInterface, m, map[string]any{
		"Version":       menuVersion,
		"TextDirection": "ltr",
		"Status":        "normal",
		"IconThemePath": []string{},
	})
}

// show replaces the menu, unless the new one looks the same and leads to the same requests.
func (m *dbusMenu) show(items []menuItem) {
	if !sameMenu(items, m.items) {
		revision := m.replace(items)
		_ = m.conn.Emit(menuPath, menuInterface+".LayoutUpdated", revision, int32(0))
	}
}

func (m *dbusMenu) replace(items []menuItem) (revision uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items, m.nodes = items, map[int32]menuNode{}
	root := menuNode{Properties: map[string]dbus.Variant{"children-display": dbus.MakeVariant("submenu")}}
	for _, i := range items {
		m.lastID++
		n := menuNode{ID: m.lastID, Properties: i.properties(), Children: []dbus.Variant{}, do: i.Do}
		m.nodes[n.ID] = n
		root.Children = append(root.Children, dbus.MakeVariant(n))
	}
	m.nodes[0] = root
	m.revision++
	return m.revision
}

func (i menuItem) properties() map[string]dbus.Variant {
	if i.Label == "" {
		return map[string]dbus.Variant{"type": dbus.MakeVariant("separator")}
	}
	p := map[string]dbus.Variant{
		"label":   dbus.MakeVariant(i.Label),
		"enabled": dbus.MakeVariant(i.Do != nil),
	}
	if i.Checked {
		p["toggle-type"], p["toggle-state"] = dbus.MakeVariant("checkmark"), dbus.MakeVariant(int32(1))
	}
	return p
}

// GetLayout sends an item with that many levels of its children; -1 means all.
func (m *dbusMenu) GetLayout(parent, depth int32, _ []string) (uint32, menuNode, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.nodes[parent]
	if !ok {
		return 0, menuNode{}, dbus.MakeFailedError(errNoItem)
	}
	if depth == 0 {
		n.Children = []dbus.Variant{}
	}
	return m.revision, n, nil
}

// GetGroupProperties sends the properties of these items, or of all if ids is empty.
func (m *dbusMenu) GetGroupProperties(ids []int32, _ []string) ([]itemProperties, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(ids) == 0 {
		ids = slices.Collect(maps.Keys(m.nodes))
	}
	var all []itemProperties
	for _, id := range ids {
		if n, ok := m.nodes[id]; ok {
			all = append(all, itemProperties{id, n.Properties})
		}
	}
	return all, nil
}

// GetProperty sends one property of an item.
func (m *dbusMenu) GetProperty(id int32, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.nodes[id].Properties[name]
	if !ok {
		return v, dbus.MakeFailedError(errNoItem)
	}
	return v, nil
}

// Event runs the action of a clicked item.
func (m *dbusMenu) Event(id int32, name string, _ dbus.Variant, _ uint32) *dbus.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if do := m.nodes[id].do; name == "clicked" && do != nil {
		go do()
	}
	return nil
}

// EventGroup is Event for several items.
func (m *dbusMenu) EventGroup(events []menuEvent) ([]int32, *dbus.Error) {
	for _, e := range events {
		_ = m.Event(e.ID, e.Name, e.Data, e.Time)
	}
	return nil, nil
}

// AboutToShow answers that the menu is up to date.
func (m *dbusMenu) AboutToShow(int32) (bool, *dbus.Error) { return false, nil }

// AboutToShowGroup is AboutToShow for several items.
func (m *dbusMenu) AboutToShowGroup([]int32) (needUpdate, unknown []int32, err *dbus.Error) {
	return nil, nil, nil
}
