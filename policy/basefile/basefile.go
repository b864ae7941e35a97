// Package basefile reads a file that a call would change, as it is before that. It is read with care, for an agent has
// named it: only a regular file of a modest size, and never for long.
package basefile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"nod/policy"
)

const (
	// MaxBytes is how much of a text there may be to compare.
	MaxBytes = 1 << 20
	// maxTime is what the file system may take for one question.
	maxTime = 250 * time.Millisecond
)

// File is a file as it was when it was read.
type File struct {
	Where  policy.Location
	Exists bool
	Text   string
	// Problem is why there is no text to compare: one of [Problems], or empty.
	Problem string
}

// The sentences of [File.Problem].
const (
	Slow       = "the file there takes too long to read"
	Lost       = "nod cannot tell which file this is"
	NotText    = "the file there is not a text"
	NotRegular = "what is there is not a regular file"
	TooLarge   = "the file there is too large to compare"
	Unreadable = "the file there cannot be read"
)

// Problems are all that can be in the way.
var Problems = []string{Slow, Lost, NotText, NotRegular, TooLarge, Unreadable}

// Read reads the file that path names for a tool that works in cwd.
func Read(path, cwd string) File {
	type result struct {
		where policy.Location
		text  []byte
		err   error
	}
	r, ok := InTime(func() (r result) {
		if r.where = policy.Locate(path, cwd); r.where.Path != "" {
			r.text, r.err = readRegular(r.where.Path)
		}
		return r
	})
	f := File{Where: r.where, Exists: true, Text: string(r.text)}
	switch {
	case !ok:
		f.Problem = Slow
	case f.Where.Path == "":
		f.Exists, f.Problem = false, Lost
	case errors.Is(r.err, fs.ErrNotExist):
		f.Exists = false
	case r.err != nil:
		f.Problem = problem(r.err)
	case bytes.IndexByte(r.text, 0) >= 0:
		f.Problem = NotText
	}
	return f
}

// InTime returns what ask does, which asks the file system, or gives up: a file on a network that hangs must not hang
// who asks. Then ask stays behind.
func InTime[T any](ask func() T) (result T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- ask() }()
	select {
	case result = <-done:
		return result, true
	case <-time.After(maxTime):
		return result, false
	}
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("too large")
)

// problem says why a file could not be read.
func problem(err error) string {
	switch {
	case errors.Is(err, errNotRegular):
		return NotRegular
	case errors.Is(err, errTooLarge):
		return TooLarge
	}
	return Unreadable
}

// readRegular reads a regular file of a modest size. Anything else is not even opened: opening a device can
// do things, opening a pipe can wait for ever. Should it become one in between, O_NONBLOCK returns at once.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if len(text) > MaxBytes {
		return nil, errTooLarge
	}
	return text, err
}
