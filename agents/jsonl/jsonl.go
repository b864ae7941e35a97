// Package jsonl reads lines of files that are still being written: broken, cut off, or far too long.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that is read, in bytes. Agents put whole images on one line.
const maxLine = 16 << 20

const (
	bufferSize = 64 << 10
	keepBuffer = 1 << 20 // a buffer that grew larger for one long line is released
)

// Reader reads lines. Its memory is bounded by the longest line, and so by [maxLine].
type Reader struct {
	in      *bufio.Reader
	long    []byte
	skipped int
	err     error
}

// NewReader returns a reader of the lines of r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, bufferSize)} }

// Next returns the next line that may be a JSON object, without white space around it. It is valid until the next call.
// At the end, or when reading fails, Next returns nil.
func (r *Reader) Next() []byte {
	for r.err == nil {
		if line := r.One(); line != nil {
			return line
		}
	}
	return nil
}

// One reads one line, and returns it if it may be a JSON object; otherwise nil.
func (r *Reader) One() []byte {
	if r.err != nil {
		return nil
	}
	line := bytes.TrimSpace(r.line())
	switch {
	case len(line) == 0:
		return nil
	case line[0] == '{' && line[len(line)-1] == '}':
		return line
	}
	r.skipped++
	return nil
}

func (r *Reader) line() []byte {
	if cap(r.long) > keepBuffer {
		r.long = nil
	}
	r.long = r.long[:0]
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full {
			r.err = err
		}
		if !full && len(r.long) == 0 && !tooLong {
			return part
		}
		if tooLong = tooLong || len(r.long)+len(part) > maxLine; !tooLong {
			r.long = append(r.long, part...)
		}
		if full {
			continue
		}
		if tooLong {
			r.skipped++
			return nil
		}
		return r.long
	}
}

// Skipped returns how many lines could not be used, including those that were too long.
func (r *Reader) Skipped() int { return r.skipped }

// Err returns the error that ended the reading early.
func (r *Reader) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}
