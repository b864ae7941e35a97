// Package ownfile reads and replaces the files that decide what agents may do: plain files that nobody but their
// owner can change.
package ownfile

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxSize is how large a file may be, in bytes.
const maxSize = 1 << 20

// Read reads a file that must be a plain one of at most a mebibyte, which nobody but its owner can change:
// whoever can write it can allow everything. A link is refused, because the folder it leads to is not the one that
// nod watches and guards. The error names the file; it is [fs.ErrNotExist] when there is none.
func Read(path string) ([]byte, error) { return ReadLarge(path, maxSize) }

// ReadLarge is [Read] for a file of at most most bytes.
func ReadLarge(path string, most int64) ([]byte, error) { return read(path, most, false, ownership) }

// ReadSecret reads a plain file of at most most bytes, which nobody but its owner can read or change. It follows no
// link and never blocks.
func ReadSecret(path string, most int64) ([]byte, error) { return read(path, most, false, secrecy) }

// ReadPlain reads a plain file of at most most bytes, whoever can change it. It follows no link and never blocks.
func ReadPlain(path string, most int64) ([]byte, error) { return read(path, most, false, anybody) }

// ReadBehind is [ReadPlain] for a file that links may lead to.
func ReadBehind(path string, most int64) ([]byte, error) { return read(path, most, true, anybody) }

// IsMissing tells a file that is not there, and could not be, from one that cannot be read.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func anybody(fs.FileInfo) string { return "" }

func read(path string, most int64, follow bool, problem func(fs.FileInfo) string) ([]byte, error) {
	data, err := readOpen(path, most, follow, problem)
	if errors.Is(err, fs.ErrNotExist) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	return data, nil
}

func readOpen(path string, most int64, follow bool, problem func(fs.FileInfo) string) ([]byte, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	info, err := look(path) // opening a device can have effects
	if err == nil {
		err = plain(info)
	}
	if err != nil {
		return nil, err
	}
	file, err := open(path, follow)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = plain(info)
	}
	if err != nil {
		return nil, err
	}
	if text := problem(info); text != "" {
		return nil, errors.New(text)
	}
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), most)+bytes.MinRead))
	_, err = data.ReadFrom(io.LimitReader(file, most+1))
	if err == nil && int64(data.Len()) > most {
		err = fmt.Errorf("larger than %d bytes: make it smaller", most)
	}
	return data.Bytes(), err
}

// plain says why a file is none to read.
func plain(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("this is a symbolic link: put the file itself here")
	}
	return errors.New("this is not a plain file: move it away")
}

// withoutPath takes the path out of an operating system's error: the reader has it already.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}

// Sum is the HMAC-SHA256 by which nod knows a text of its own from one that another program wrote. The kind says what
// for: no sum of one kind counts for another.
func Sum(key []byte, kind string, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(kind))
	h.Write(text)
	return h.Sum(nil)
}

// Write replaces a file as a whole or not at all, and a link in its place by a file. It makes the folder when it is
// missing, for its owner only. The mode is that of Unix: 0600 for what is secret.
func Write(path string, data []byte, mode fs.FileMode) error {
	return WriteDated(path, data, mode, time.Time{})
}

// WriteDated is [Write] for a file that was changed at that time, as far as anybody can tell.
func WriteDated(path string, data []byte, mode fs.FileMode, modified time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", filepath.Base(path), err)
	}
	if err := replace(path, data, mode, modified); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
