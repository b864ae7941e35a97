//go:build unix

package ipc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// bindSocket binds the Unix socket. The folder keeps others away from it while its mode is being set. It removes an
// existing socket, which a crash must have left, because only one nod-desktop of a user listens.
func bindSocket(path string) (*net.UnixListener, error) {
	if len(path) >= len(syscall.RawSockaddrUnix{}.Path) {
		return nil, fmt.Errorf("%w: its path is too long for a socket: %s", errNoSocket, path)
	}
	if err := removeSocket(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		return nil, fmt.Errorf("bind the socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // by then the path may be another's
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(fmt.Errorf("protect the socket: %w", err), l.Close())
	}
	return l, nil
}

// removeSocket removes the socket at path. It fails for anything else, which it leaves alone.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("bind the socket: %s is not a socket: remove it", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the old socket: %w", err)
	}
	return nil
}
