//go:build !unix

package policy

import (
	"io/fs"
	"os"
)

// isLink reports whether a file is a symbolic link, or something else that leads elsewhere, such as the mount points of
// Windows.
func isLink(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0, nil
}

func openFolder(path string) (*os.File, error) { return os.Open(path) }
