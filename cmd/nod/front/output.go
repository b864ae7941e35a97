package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// An output passes on what a command prints, and looks for signs that it fails because of the sandbox. Nothing else
// tells why a file could not be changed or a host not be reached.
type output struct {
	stdout, stderr *os.File   // the command's own
	pipes          []*os.File // of these, those whose content is passed on
	copies         sync.WaitGroup
	suspects       atomic.Bool
}

// signs are what programs print when they may not change a file, or cannot reach the network.
var signs = [][]byte{
	[]byte("ead-only file system"), []byte("EROFS"), []byte("ermission denied"), []byte("EACCES"),
	[]byte("peration not permitted"), []byte("EPERM"), []byte("etwork is unreachable"), []byte("ENETUNREACH"),
	[]byte("no such host"), []byte("ENOTFOUND"), []byte("ould not resolve"), []byte("name resolution"),
	[]byte("EAI_AGAIN"), []byte("ervice not known"), []byte("onnection refused"), []byte("ECONNREFUSED"),
}

// longestSign is how much of what was read is kept, because it may end with part of a sign.
const longestSign = len("peration not permitted")

// newOutput makes a command print to two files. Output to the same file stays in order; a terminal stays a terminal.
func newOutput(stdout, stderr *os.File) (o *output, err error) {
	o = &output{}
	if o.stdout, err = o.pass(stdout); err != nil {
		return nil, err
	}
	if isSame(stdout, stderr) {
		o.stderr = o.stdout
	} else if o.stderr, err = o.pass(stderr); err != nil {
		o.end()
		return nil, err
	}
	return o, nil
}

func (o *output) pass(to *os.File) (*os.File, error) {
	if info, err := to.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return to, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("read a command's output: %w", err)
	}
	o.pipes = append(o.pipes, write)
	o.copies.Go(func() {
		defer read.Close() // so that a command that keeps printing gets an error
		_, _ = io.Copy(io.MultiWriter(&listener{output: o}, to), read)
	})
	return write, nil
}

// end waits until all output is passed on. The command must have ended.
func (o *output) end() {
	for _, pipe := range o.pipes {
		_ = pipe.Close()
	}
	o.copies.Wait()
}

func isSame(a, b *os.File) bool {
	one, err := a.Stat()
	other, otherErr := b.Stat()
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

type listener struct {
	output *output
	last   []byte // the end of what was read before
}

func (l *listener) Write(p []byte) (int, error) {
	if !l.output.suspects.Load() {
		text := append(l.last, p...)
		isIn := func(sign []byte) bool { return bytes.Contains(text, sign) }
		l.output.suspects.Store(slices.ContainsFunc(signs, isIn))
		l.last = bytes.Clone(text[max(0, len(text)-longestSign):])
	}
	return len(p), nil
}
