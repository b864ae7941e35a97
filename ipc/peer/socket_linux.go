package peer

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// socketOwner asks the kernel who owns the other end of a Unix socket: who connected to it or, if that is a server, who
// called listen.
func socketOwner(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return credentials{}, err
	}
	return credentials{pid: cred.Pid, uid: int(cred.Uid)}, nil
}
