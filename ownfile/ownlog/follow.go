package ownlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// errNone says that the log does not exist yet.
var errNone = errors.New("there is no log yet")

// Last passes the last n lines of a log to show.
func Last(path string, n int, show func(line []byte) error) error {
	r := &reader{path: path, show: show}
	defer r.close()
	if err := r.openAtLast(n); err != nil {
		return err
	}
	return r.drain()
}

// followInterval is how often [Follow] looks for new lines.
const followInterval = 20 * time.Millisecond

// Follow is [Last], and then passes on new lines, through rotations, until ctx ends. The log need not exist yet.
func Follow(ctx context.Context, path string, n int, show func(line []byte) error) error {
	r := &reader{path: path, show: show}
	defer r.close()
	if err := r.openAtLast(n); err != nil && !errors.Is(err, errNone) {
		return err
	}
	for {
		if err := r.catchUp(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

type reader struct {
	path string
	show func(line []byte) error
	file *os.File // nil: does not exist yet
	rest []byte   // an incomplete line
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
	}
}

func (r *reader) open() error {
	if err := checkPlain(r.path); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", r.path, errNone)
	}
	if err != nil {
		return err
	}
	r.close()
	r.file, r.rest = f, nil
	return nil
}

// openAtLast opens the log, with its last n lines to show first.
func (r *reader) openAtLast(n int) error {
	if err := r.open(); err != nil {
		return err
	}
	text, err := io.ReadAll(r.file) // rotation keeps it short
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	r.rest = bytes.Join(lines[max(0, len(lines)-1-n):], nil) // the last one is incomplete, or empty
	return nil
}

// catchUp shows new lines of the open file, and of the file that replaced it.
func (r *reader) catchUp() error {
	if r.file == nil {
		if err := r.open(); errors.Is(err, errNone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := r.drain(); err != nil {
		return err
	}
	now, err := os.Lstat(r.path)
	if err != nil {
		return nil // about to be recreated
	}
	open, err := r.file.Stat()
	if err != nil {
		return err
	}
	if os.SameFile(now, open) {
		return r.rewind(open)
	}
	if err := errors.Join(r.drain(), r.open()); err != nil && !errors.Is(err, errNone) {
		return err
	}
	return r.drain()
}

func (r *reader) rewind(now fs.FileInfo) error {
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil || at <= now.Size() {
		return err
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.rest = nil
	return r.drain()
}

// drain shows the lines up to the end of the file.
func (r *reader) drain() error {
	text, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	r.rest = append(r.rest, text...)
	for {
		line, rest, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			return nil
		}
		r.rest = rest
		if err := r.show(line); err != nil {
			return err
		}
	}
}
