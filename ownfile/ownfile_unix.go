//go:build unix

package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// open opens a file to read. It does not block on a pipe.
func open(path string, follow bool) (*os.File, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	return os.OpenFile(path, flags, 0)
}

// ownership returns a problem if others could have written the file.
func ownership(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return fmt.Sprintf("it belongs to user %d, not to you: make it your own", stat.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Sprintf("others can change it (mode %04o): run chmod go-w on it", mode)
	}
	return ""
}

// secrecy returns a problem if others could have read or written the file.
func secrecy(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return "it belongs to another user: remove it"
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Sprintf("others can open it (mode %04o): remove it", mode)
	}
	return ""
}

// replace writes the file so that it survives a power failure.
func replace(path string, data []byte, mode fs.FileMode) error {
	folder := filepath.Dir(path)
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(folder), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer file.Cleanup() // does nothing once the file was replaced
	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes a rename durable where the file system supports that.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// IsMine reports whether a file belongs to the effective user of this process.
func IsMine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
