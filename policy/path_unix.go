//go:build unix

package policy

import (
	"errors"
	"io/fs"
	"syscall"
)

// isLink reports whether a file is a symbolic link. It does what os.Lstat does without building what
// nobody here needs: every path of every call comes through here, once for each of its folders.
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

// isMissing reports whether the error says that there is nothing at the path, or could not be.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
