package acp

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// maxLine is the longest message that is read. A longer one passes unread, because nod-desktop would not accept it.
const maxLine = 1 << 20

type output struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (o *output) write(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := o.w.Write(line)
	return err
}

// writeLong writes the beginning of a line and then the rest of it from r.
func (o *output) writeLong(line []byte, r *bufio.Reader) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.w.Write(line); err != nil {
		return err
	}
	for {
		part, err := r.ReadSlice('\n')
		if _, failed := o.w.Write(part); failed != nil {
			return failed
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// pass calls take with every line of r, including its line break, until r ends. For a line that is too long it calls
// skipped, and then writes the line to w unchanged. A line is only valid until take returns.
func pass(r io.Reader, w *output, take func(line []byte) error, skipped func()) error {
	in := bufio.NewReader(r)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		isFull := errors.Is(err, bufio.ErrBufferFull)
		if isFull && len(line) < maxLine {
			continue
		}
		if isFull {
			skipped()
			err = w.writeLong(line, in)
		} else if len(line) > 0 {
			if failed := take(line); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = line[:0]
	}
}
