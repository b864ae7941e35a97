// Package ownprocess keeps other programs of the same user out of nod's processes, if the system supports that.
package ownprocess

import (
	"io"
	"runtime/debug"
)

// connection is one end of a connection between two processes. CloseWrite lets the other end read to the end.
type connection interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// GiveBack returns unused memory to the system. Meanwhile no library may be unloaded.
func GiveBack() {
	debug.FreeOSMemory()
	forgetFiles()
}
