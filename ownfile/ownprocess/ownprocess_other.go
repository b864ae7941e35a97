//go:build !linux

package ownprocess

import (
	"errors"
	"os"
)

// Shield does nothing here.
func Shield() error { return nil }

// Pipe returns a connection, and the standard input and output of a child process at its other end.
func Pipe() (own connection, in, out *os.File, err error) {
	in, write, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	read, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, errors.Join(err, in.Close(), write.Close())
	}
	return pipes{read, write}, in, out, nil
}

type pipes struct {
	*os.File // to read from
	write    *os.File
}

func (p pipes) Write(b []byte) (int, error) { return p.write.Write(b) }
func (p pipes) CloseWrite() error           { return p.write.Close() }

func (p pipes) Close() error {
	_ = p.write.Close() // CloseWrite may have closed it
	return p.File.Close()
}

// forgetFiles does nothing: other systems count the files of programs differently.
func forgetFiles() {}
