//go:build !linux && !darwin

package peer

import "net"

// socketOwner cannot tell on this platform. The socket is protected by its folder.
func socketOwner(*net.UnixConn) (credentials, error) { return credentials{}, ErrUnknown }
