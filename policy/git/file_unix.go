//go:build unix

package git

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isPassable asks what git asks of objects and refs: may I go there?
func isPassable(path string) bool { return syscall.Access(path, 1) == nil }

// settling is how long after a change of a file another one may leave it with the same time.
var settling = 2 * time.Second

// stateOf tells how a file is, and whether its next change will show.
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
