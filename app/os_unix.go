//go:build unix

package app

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow keeps the opening of a file from following a link, and from waiting for the other end of a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// mine reports whether a file belongs to the user this process acts as.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// ownGroup keeps the signals of a terminal from the windows: nod ends them itself.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
