package dialogs

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
	maxBaseBytes = 1 << 20                // a larger file is not compared
	maxReadTime  = 250 * time.Millisecond // what the file system may take for one question
)

// baseFile is the file that a change is about, as it was when it was read.
type baseFile struct {
	path, cwd string // as the request names it
	where     policy.Location
	exists    bool
	text      string
	problem   string // why the text cannot be compared; nod's own words
}

// readBase reads the file that path names for a tool that works in cwd.
func readBase(path, cwd string) *baseFile {
	type result struct {
		where policy.Location
		text  []byte
		err   error
	}
	r, ok := inTime(func() (r result) {
		if r.where = policy.Locate(path, cwd); r.where.Path != "" {
			r.text, r.err = readRegular(r.where.Path)
		}
		return r
	})
	b := &baseFile{path: path, cwd: cwd, where: r.where, exists: true, text: string(r.text)}
	switch {
	case !ok:
		b.problem = tr("the file there takes too long to read")
	case b.where.Path == "":
		b.exists, b.problem = false, tr("nod cannot tell which file this is")
	case errors.Is(r.err, fs.ErrNotExist):
		b.exists = false
	case r.err != nil:
		b.problem = readProblem(r.err)
	case bytes.IndexByte(r.text, 0) >= 0:
		b.problem = tr("the file there is not a text")
	}
	return b
}

// locate says where paths lead for a tool that works in cwd; nowhere, if the file system does not answer in time.
func locate(paths []string, cwd string) []policy.Location {
	found, ok := inTime(func() []policy.Location {
		all := make([]policy.Location, len(paths))
		for i, path := range paths {
			all[i] = policy.Locate(path, cwd)
		}
		return all
	})
	if !ok {
		return make([]policy.Location, min(len(paths), 1))
	}
	return found
}

// inTime returns what f does, which asks the file system, or gives up: a file on a network that hangs must not hang
// the window. Then f stays behind.
func inTime[T any](f func() T) (result T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case result = <-done:
		return result, true
	case <-time.After(maxReadTime):
		return result, false
	}
}

// changed reports whether reading again gives something else.
func (b *baseFile) changed() bool { return *readBase(b.path, b.cwd) != *b }

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("too large")
)

// readProblem says in nod's own words why a file could not be read.
func readProblem(err error) string {
	switch {
	case errors.Is(err, errNotRegular):
		return tr("what is there is not a regular file")
	case errors.Is(err, errTooLarge):
		return tr("the file there is too large to compare")
	}
	return tr("the file there cannot be read")
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
	text, err := io.ReadAll(io.LimitReader(f, maxBaseBytes+1))
	if len(text) > maxBaseBytes {
		return nil, errTooLarge
	}
	return text, err
}
