package dialogs

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"nod/policy"
)

const (
	maxBaseBytes = 1 << 20                // a larger file is not compared
	maxReadTime  = 500 * time.Millisecond // a file on a network that hangs must not hang the window
)

// baseFile is the file that a change is about, as it was when it was read.
type baseFile struct {
	path, cwd string // as the request names it
	where     policy.Location
	exists    bool
	text      string
	problem   string // why the text is not known; nod's own words
	hash      [sha256.Size]byte
}

// readBase reads the file that path names for a tool that works in cwd.
func readBase(path, cwd string) *baseFile {
	b := &baseFile{path: path, cwd: cwd, where: policy.Locate(path, cwd)}
	if b.where.Path == "" {
		b.problem = tr("nod cannot tell which file this is")
		return b
	}
	text, err := readInTime(b.where.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b
	case err != nil:
		b.exists, b.problem = true, readProblem(err)
		return b
	}
	b.exists, b.hash = true, sha256.Sum256(text)
	b.text = string(text)
	if strings.IndexByte(b.text, 0) >= 0 {
		b.text, b.problem = "", tr("the file there is not a text")
	}
	return b
}

// changed reports whether reading again gives something else.
func (b *baseFile) changed() bool {
	now := readBase(b.path, b.cwd)
	return now.exists != b.exists || now.hash != b.hash || now.problem != b.problem || now.where != b.where
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("too large")
	errTooSlow    = errors.New("takes too long to read")
)

// readProblem says in nod's own words why a file could not be read.
func readProblem(err error) string {
	switch {
	case errors.Is(err, errNotRegular):
		return tr("what is there is not a regular file")
	case errors.Is(err, errTooLarge):
		return tr("the file there is too large to compare")
	case errors.Is(err, errTooSlow):
		return tr("the file there takes too long to read")
	}
	return tr("the file there cannot be read")
}

// readInTime reads a file, or gives up. The reader may stay behind on a file system that hangs.
func readInTime(path string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readRegular(path)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(maxReadTime):
		return nil, errTooSlow
	}
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
