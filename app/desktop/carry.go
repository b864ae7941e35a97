//go:build unix && !darwin

package desktop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	// Portal is the service through which a desktop offers its own dialogs and colors.
	Portal = "org.freedesktop.portal.Desktop"
	// CarryFlag makes nod-desktop run only as the go-between of [Carried].
	CarryFlag = "carry-bus"

	busAddress    = "DBUS_SESSION_BUS_ADDRESS"
	carryPatience = 10 * time.Second // how long a go-between waits for its caller
)

// Carried calls connect with the address of a go-between, the program nod-desktop, which forwards one connection to the
// session bus. It is needed because the desktop's portal inspects the processes that call it, and refuses those that it
// may not inspect. Carried fails if there is no portal.
func Carried(
	ctx context.Context, program string, getenv func(string) string, connect func(address string) error,
) error {
	if !hasPortal(ctx, getenv) {
		return errors.New("the session bus has no portal")
	}
	folder, err := os.MkdirTemp("", "nod-")
	if err != nil {
		return fmt.Errorf("forward the session bus: %w", err)
	}
	defer os.RemoveAll(folder)
	at := filepath.Join(folder, "bus")
	if err := startCarrier(program, at); err != nil {
		return fmt.Errorf("forward the session bus: %w", err)
	}
	return connect("unix:path=" + url.PathEscape(at))
}

// ShareBus makes libraries of this process share a [Carried] connection to the session bus.
func ShareBus(ctx context.Context, program string) error {
	return Carried(ctx, program, os.Getenv, func(address string) error {
		was, isSet := os.LookupEnv(busAddress)
		defer func() { // for the programs that this one starts
			if os.Unsetenv(busAddress); isSet {
				os.Setenv(busAddress, was)
			}
		}()
		os.Setenv(busAddress, address)
		_, err := dbus.SessionBus()
		return err
	})
}

func hasPortal(ctx context.Context, getenv func(string) string) bool {
	if _, err := socketOf(getenv); err != nil {
		return false
	}
	conn, err := Bus(ctx, getenv)
	if err != nil {
		return false
	}
	defer conn.Close()
	return HasOwner(conn, Portal) || IsActivatable(conn, Portal)
}

// startCarrier starts a go-between. Only that process listens then, so the connection ends with it.
func startCarrier(program, at string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return err
	}
	defer l.Close()
	l.SetUnlinkOnClose(false)
	socket, err := l.File()
	if err != nil {
		return err
	}
	defer socket.Close()
	cmd := exec.Command(program, "--"+CarryFlag)
	cmd.Stdin = socket
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// Carry runs the go-between: it accepts one connection on the socket that is its standard input, and forwards it to the
// session bus until either side closes.
func Carry(getenv func(string) string) error {
	bus, err := socketOf(getenv)
	if err != nil {
		return err
	}
	l, err := net.FileListener(os.Stdin)
	if err != nil {
		return fmt.Errorf("%w: nod-desktop starts this", err)
	}
	_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(carryPatience))
	below, err := l.Accept()
	if err != nil {
		return err
	}
	l.Close()
	above, err := net.Dial("unix", bus)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	for to, from := range map[net.Conn]net.Conn{above: below, below: above} {
		go func() {
			_, err := io.Copy(to, from)
			ended <- err
		}()
	}
	return <-ended
}

// socketOf returns the socket of the session bus; an abstract one begins with @.
func socketOf(getenv func(string) string) (string, error) {
	address := cmp.Or(getenv(busAddress), "unix:path="+getenv("XDG_RUNTIME_DIR")+"/bus")
	for one := range strings.SplitSeq(address, ";") {
		keys, ok := strings.CutPrefix(one, "unix:")
		for key := range strings.SplitSeq(keys, ",") {
			name, value, _ := strings.Cut(key, "=")
			value, err := url.PathUnescape(value)
			switch {
			case !ok || err != nil:
			case name == "path":
				return value, nil
			case name == "abstract":
				return "@" + value, nil
			}
		}
	}
	return "", errors.New("the session bus has no socket")
}
