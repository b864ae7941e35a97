//go:build !linux

package doctor

import "errors"

// environOf cannot tell here.
func environOf(int) ([]string, error) { return nil, errors.ErrUnsupported }
