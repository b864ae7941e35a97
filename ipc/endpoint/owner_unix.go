//go:build unix

package endpoint

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether the file belongs to the user this process acts as.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uint32(os.Geteuid())
}

// private reports whether the group and others can do nothing with the file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
