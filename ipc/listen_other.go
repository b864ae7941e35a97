//go:build !unix

package ipc

import "net"

// bindSocket always fails, because a Unix socket on Windows does not say who connects to it.
func bindSocket(string) (*net.UnixListener, error) { return nil, errNoSocket }
