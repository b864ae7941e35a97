// Package ownprocess keeps other programs of the same user out of nod's processes.
package ownprocess

import (
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Shield has the kernel refuse every other program of the user that wants to trace this process, to read or write its
// memory, or to take its open files. It lasts until the process runs another program.
func Shield() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other programs out of this process: %w", err)
	}
	return nil
}

// Conn is one end of a connection between two processes. CloseWrite lets the other end read to its end.
type Conn interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Pipe returns a connection, and what a child process gets of it: its standard input and its standard output. Unlike a
// pipe, a pair of sockets cannot be opened by its name in /proc.
func Pipe() (own Conn, in, out *os.File, err error) {
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
