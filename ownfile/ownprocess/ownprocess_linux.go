package ownprocess

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Shield makes the kernel refuse attempts of the user's other programs to trace this process, access its memory or take
// its open files. It lasts until the process executes another program.
func Shield() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other programs out of this process: %w", err)
	}
	return nil
}

// Pipe returns a connection, and the standard input and output of a child process at its other end. Unlike a pipe, a
// socket pair cannot be opened through /proc.
func Pipe() (own connection, in, out *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
	defer mine.Close() // conn has a copy
	conn, err := net.FileConn(mine)
	if err != nil {
		theirs.Close()
		return nil, nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	return conn.(*net.UnixConn), theirs, theirs, nil
}
