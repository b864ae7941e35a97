// Command nod-desktop is the tray program through which local agents ask their user.
//
// Its exit status is 0 when the user quit it, the system ended it or it runs already, 1 when it could not start or go
// on, and 2 when its command line is wrong.
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
	"nod/app/desktop"
	"nod/ownfile/ownprocess"
	"nod/version"
)

func main() {
	o := app.Options{Version: version.Number(), Stdout: os.Stdout}
	pflag.BoolVar(&o.Background, "background", false, "started at login: open no windows")
	pflag.StringVar(&o.ConfigPath, "config", "", "read rules and settings from this `file` instead of the usual one")
	pflag.StringVar(&o.LogLevel, "log-level", "",
		"lowest `level` to log: debug, info, warn or error (default NOD_LOG, else info)")
	carry := pflag.Bool(desktop.CarryFlag, false, "forward a connection to the session bus, for one of nod's programs")
	_ = pflag.CommandLine.MarkHidden(desktop.CarryFlag) // it exists
	autostart := pflag.String("autostart", "", "start nod at login, `on|off`, and exit")
	showVersion := pflag.Bool("version", false, "print the version and exit")
	pflag.Parse() // wrong usage exits 2
	if *showVersion {
		fmt.Println("nod-desktop", version.Get())
		return
	}
	if *carry {
		os.Exit(report(desktop.Carry(os.Getenv)))
	}
	if err := ownprocess.Shield(); err != nil {
		os.Exit(report(err))
	}
	if pflag.Lookup("autostart").Changed {
		os.Exit(report(app.SetAutostart(*autostart)))
	}
	os.Exit(report(app.Run(untilSignal(), o)))
}

// untilSignal returns a context that ends when the user or the system ends nod. A second signal then kills nod, as it
// would any program.
func untilSignal() context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // who reads what nod prints may stop, and nod goes on
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	signaled, stop := signal.NotifyContext(context.Background(), signals...)
	ctx, end := context.WithCancelCause(context.Background())
	context.AfterFunc(signaled, func() {
		stop() // first: whoever sees ctx end can send the second one
		end(context.Cause(signaled))
	})
	return ctx
}

// report prints in one line how nod ended, and returns the exit code: 0 if the user quit or nod is already running,
// else 1.
func report(err error) int {
	if err == nil {
		return 0
	}
	if _, isRunning := errors.AsType[*app.RunningError](err); isRunning {
		fmt.Println(err)
		return 0
	}
	fmt.Fprintln(os.Stderr, "nod-desktop:", err)
	return 1
}
