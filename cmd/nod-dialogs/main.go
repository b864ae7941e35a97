// Command nod-dialogs shows nod's windows: prompts, settings and history. nod-desktop starts it, talks to it over its
// standard input and output, and restarts it after a crash, which loses nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"nod/app/desktop"
	"nod/ipc/operator"
	"nod/ipc/programs"
	"nod/ownfile/ownprocess"
	"nod/version"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("nod-dialogs", version.Get())
		return
	}
	in, out, err := takeConnection()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nod-dialogs:", err)
		os.Exit(1)
	}
	if slices.Equal(os.Args[1:], []string{operator.SelfTestFlag}) {
		if err := selfTest(out); err != nil {
			fmt.Fprintln(os.Stderr, "nod-dialogs:", err)
			os.Exit(1)
		}
		return
	}
	if info, err := in.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "nod-dialogs is started by nod-desktop: start that one")
		os.Exit(2)
	}
	hangUp := slices.DeleteFunc([]os.Signal{syscall.SIGHUP}, signal.Ignored) // as nohup has it
	ctx, stop := signal.NotifyContext(context.Background(), append(hangUp, os.Interrupt, syscall.SIGTERM)...)
	defer stop()
	if err := run(ctx, in, out); err != nil {
		fmt.Fprintln(os.Stderr, "nod-dialogs:", err)
		os.Exit(exitCode(err))
	}
}

// takeConnection returns the connection to nod-desktop and makes it inaccessible to other programs: those that inspect
// this process, and those that it starts, such as an editor. The output of libraries goes to the log.
func takeConnection() (in, out *os.File, err error) {
	if err := ownprocess.Shield(); err != nil {
		return nil, nil, err
	}
	in, out = os.Stdin, os.Stdout
	if os.Stdin, err = os.Open(os.DevNull); err != nil {
		return nil, nil, err
	}
	os.Stdout = os.Stderr
	return in, out, nil
}

func exitCode(err error) int {
	switch {
	case errors.Is(err, errNoDisplay):
		return operator.ExitNoDisplay
	case errors.Is(err, errDisplayLost):
		return operator.ExitDisplayLost
	case errors.Is(err, operator.ErrVersion):
		return operator.ExitVersion
	}
	return 1
}

const busPatience = time.Second

// run connects to the tray process and shows windows until that disconnects. Then the process exits immediately,
// without closing windows, because the toolkit has failed at that before.
func run(ctx context.Context, in, out *os.File) error {
	if program, err := programs.Find("nod-desktop"); err == nil {
		patience, cancel := context.WithTimeout(ctx, busPatience)
		defer cancel()
		if err := desktop.ShareBus(patience, program); err != nil {
			slog.Debug("the desktop's own dialogs and colors are not available", "err", err)
		}
	}
	spareMemory()
	w := newWindows(ctx)
	client, err := operator.Connect(ctx, in, out, version.Number(), operator.Events{
		PromptsChanged: w.prompts.changed, StateChanged: func() { w.states.Send() },
		HistoryChanged: func() { w.entries.Send() }, Ping: w.ping,
	})
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-client.Done():
		case <-ctx.Done():
			slog.Info("the windows end", "why", context.Cause(ctx))
		}
		os.Exit(0)
	}()
	if err := w.open(client); err != nil {
		return err
	}
	return w.run()
}
