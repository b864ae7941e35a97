//go:build !unix

package doctor

import "errors"

const modesCount = false

func writable(string) error { return nil }

func freeSpace(string) (bytes uint64, err error) { return 0, errors.ErrUnsupported }
