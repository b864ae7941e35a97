//go:build unix

package policy

import (
	"errors"
	"syscall"
)

// isNotFolder reports whether the error says that a part of a path is a file, so what follows cannot exist.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
