// Package basefile reads a file before a call changes it. The agent chose the path, so it reads only regular files of
// limited size, in limited time.
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
	// MaxBytes limits the text to compare.
	MaxBytes = 1 << 20
	// maxTime limits one access to the file system.
	maxTime = 250 * time.Millisecond
	// turns divides maxTime into ticks: on a busy machine ticks come late, which gives ask as much more time.
	turns = 25
)

// File is the content of a file when it was read.
type File struct {
	Where  policy.Location
	Exists bool
	Text   string
	// Problem says why there is no text to compare: one of [Problems], or empty.
	Problem string
}

const (
	Slow       = "the file there takes too long to read"
	Lost       = "nod cannot tell which file this is"
	NotText    = "the file there is not a text"
	NotRegular = "what is there is not a regular file"
	TooLarge   = "the file there is too large to compare"
	Unreadable = "the file there cannot be read"
)

// Problems are all values of [File.Problem] but "".
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

// InTime returns the result of ask, which accesses the file system, or gives up: a network file system may hang. ask
// then keeps running in the background.
func InTime[T any](ask func() T) (result T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- ask() }()
	for range turns {
		select {
		case result = <-done:
			return result, true
		case <-time.After(maxTime / turns):
		}
	}
	return result, false
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("too large")
)

func problem(err error) string {
	switch {
	case errors.Is(err, errNotRegular):
		return NotRegular
	case errors.Is(err, errTooLarge):
		return TooLarge
	}
	return Unreadable
}

// readRegular reads a regular file of limited size. It does not open anything else: opening a device may have effects,
// and opening a pipe may block. O_NONBLOCK covers a file replaced in between.
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
