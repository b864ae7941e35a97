// Command nod-desktop is the tray program through which local agents ask their human.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"nod/app"
)

// version is set by the linker.
var version = "0.1.0-dev"

func main() {
	o := app.Options{Version: version, Stdout: os.Stdout}
	pflag.BoolVar(&o.Background, "background", false, "started with the session: open no window that nobody asked for")
	pflag.StringVar(&o.ConfigPath, "config", "", "read rules and settings from this `file` instead of the usual one")
	pflag.StringVar(&o.LogLevel, "log-level", "info", "least urgent `level` to log: debug, info, warn or error")
	showVersion := pflag.Bool("version", false, "print the version and exit")
	pflag.Parse() // wrong usage exits 2
	if *showVersion {
		fmt.Println("nod-desktop", version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(report(app.Run(ctx, o)))
}

// report says how nod ended, in one line, and returns the exit code: 0 when the person quit or nod runs
// already, 3 without a screen (to start again is useless until there is one), else 1.
func report(err error) int {
	var running *app.RunningError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &running):
		fmt.Println(err)
		return 0
	}
	fmt.Fprintln(os.Stderr, "nod-desktop:", err)
	if errors.Is(err, app.ErrNoDisplay) {
		return 3
	}
	return 1
}
