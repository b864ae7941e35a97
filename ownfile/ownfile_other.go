//go:build !unix

package ownfile

import (
	"bytes"
	"io/fs"
	"os"

	"github.com/natefinch/atomic"
)

func open(path string, _ bool) (*os.File, error) { return os.Open(path) }

// ownership and secrecy are left to the access lists of the user's profile.
func ownership(fs.FileInfo) string { return "" }
func secrecy(fs.FileInfo) string   { return "" }

// replace leaves the mode to the access lists of the folder.
func replace(path string, data []byte, _ fs.FileMode) error {
	return atomic.WriteFile(path, bytes.NewReader(data))
}

// IsMine trusts the access lists of the user's profile: Windows has no owner that package fs could show.
func IsMine(fs.FileInfo) bool { return true }
