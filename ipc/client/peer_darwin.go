package client

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// serverUID returns the user that the server at the other end of a Unix socket runs as.
func serverUID(conn net.Conn) (int, error) {
	sock, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errNoOwner
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
