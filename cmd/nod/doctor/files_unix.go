//go:build unix

package doctor

import "golang.org/x/sys/unix"

const modesCount = true // they say who may read a file

func writable(folder string) error { return unix.Access(folder, unix.W_OK|unix.X_OK) }

func freeSpace(folder string) (bytes uint64, err error) {
	var s unix.Statfs_t
	err = unix.Statfs(folder, &s)
	return s.Bavail * uint64(s.Bsize), err
}
