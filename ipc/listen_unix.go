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

// listenSocket binds the Unix socket. The folder keeps others away from it while its mode is being set. A
// socket that nobody answers on is what a crash left, and is removed.
func listenSocket(path string) (net.Listener, error) {
	if len(path) >= len(syscall.RawSockaddrUnix{}.Path) {
		return nil, fmt.Errorf("%w: the path is too long for one: %s", errNoSocket, path)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("bind the socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect the socket: %w", err), l.Close())
	}
	return l, nil
}

// removeStale removes a dead socket. Anything else that has its name is left alone and an error.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the socket: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("bind the socket: %s is something else: remove it", path)
	}
	switch err := knock(path); {
	case err == nil:
		return fmt.Errorf("%w: it answers on %s", ErrRunning, path)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("look at the socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the dead socket: %w", err)
	}
	return nil
}
