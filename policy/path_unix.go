//go:build unix

package policy

import (
	"os"
	"syscall"
)

// isLink reports whether a file is a symbolic link. It does what os.Lstat does without allocating: every path of every
// call comes through here, once for each of its folders.
func isLink(path string) (bool, error) {
	var stat syscall.Stat_t
	for {
		switch err := syscall.Lstat(path, &stat); err {
		case nil:
			return stat.Mode&syscall.S_IFMT == syscall.S_IFLNK, nil
		case syscall.EINTR:
		default:
			return false, err
		}
	}
}

// openFolder opens a folder to list it. It never opens a named pipe, which would wait for a writer.
func openFolder(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}
