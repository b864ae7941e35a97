//go:build unix

package git

import (
	"io/fs"
	"syscall"
)

// isPassable asks what git asks of objects and refs: may I go there?
func isPassable(path string) bool { return syscall.Access(path, 1) == nil }

func device(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev)
	}
	return 0
}
