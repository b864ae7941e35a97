package peer

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// socketOwner asks the kernel who owns the other end of a Unix socket.
func socketOwner(c *net.UnixConn) (credentials, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return credentials{}, err
	}
	var cred *unix.Xucred
	var pid int
	var failed error
	err = raw.Control(func(fd uintptr) {
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return credentials{}, err
	}
	return credentials{pid: int32(pid), uid: int(cred.Uid)}, nil
}
