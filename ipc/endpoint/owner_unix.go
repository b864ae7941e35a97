//go:build unix

package endpoint

import "io/fs"

// private reports whether the group and others can do nothing with the file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
