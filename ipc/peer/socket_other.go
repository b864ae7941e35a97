//go:build !linux && !darwin

package peer

import "net"

// socketOwner cannot tell on this platform. What protects the socket is the folder that it is in.
func socketOwner(*net.UnixConn) (credentials, error) { return credentials{}, ErrUnknown }
