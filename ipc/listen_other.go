//go:build !unix

package ipc

import "net"

// listenSocket has nothing to offer: what Windows calls a Unix socket does not say who connects to it.
func listenSocket(string) (net.Listener, error) { return nil, errNoSocket }
