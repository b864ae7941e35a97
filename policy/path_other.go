//go:build !unix

package policy

import "os"

func openFolder(path string) (*os.File, error) { return os.Open(path) }
