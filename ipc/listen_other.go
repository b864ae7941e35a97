//go:build !unix

package ipc

import "net"

// bindSocket has nothing to offer: what Windows calls a Unix socket does not say who connects to it.
func bindSocket(string) (*net.UnixListener, error) { return nil, errNoSocket }
