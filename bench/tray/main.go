//go:build linux

// Command tray shows an icon in the tray and does nothing else: the least that a Go program costs that does.
package main

import (
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

const (
	item    = "org.kde.StatusNotifierItem"
	path    = dbus.ObjectPath("/StatusNotifierItem")
	watcher = "org.kde.StatusNotifierWatcher"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tray:", err)
		os.Exit(1)
	}
}

// run shows the icon until the bus ends.
func run() error {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return err
	}
	constant := func(value any) *prop.Prop { return &prop.Prop{Value: value, Emit: prop.EmitConst} }
	_, err = prop.Export(conn, path, prop.Map{item: {
		"Category": constant("ApplicationStatus"), "Id": constant("tray"), "Title": constant("tray"),
		"Status": constant("Active"), "IconName": constant("dialog-question"), "ItemIsMenu": constant(false),
	}})
	if err != nil {
		return err
	}
	host := conn.Object(watcher, "/StatusNotifierWatcher")
	if err := host.Call(watcher+".RegisterStatusNotifierItem", 0, string(path)).Err; err != nil {
		return err
	}
	fmt.Println("ready")
	<-conn.Context().Done()
	return nil
}
