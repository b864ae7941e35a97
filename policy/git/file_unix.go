//go:build unix

package git

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pass fails unless the user may enter a folder, which git requires of objects and refs.
func pass(path string) error { return syscall.Access(path, 1) }

// settling is how long after a change of a file another change may leave it with the same time.
var settling = 2 * time.Second

// stateOf returns the state of a file, and whether its next change will be noticed.
func stateOf(path string) (s state, isSettled bool) {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return state{}, false
	}
	altered := time.Unix(stat.Ctim.Unix())
	return state{
		path: path, device: uint64(stat.Dev), inode: stat.Ino, size: stat.Size,
		written: stat.Mtim.Nano(), altered: altered.UnixNano(),
	}, time.Since(altered) > settling
}

func device(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev)
	}
	return 0
}
