//go:build unix

package git

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens a file to read and never waits for the other end of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// isPassable asks what git asks of objects and refs: may I go there?
func isPassable(path string) bool { return syscall.Access(path, 1) == nil }

// device is the file system that a file is on.
func device(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev)
	}
	return 0
}
