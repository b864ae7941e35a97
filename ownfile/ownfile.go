// Package ownfile reads and replaces plain files that only their owner can change.
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
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxSize is the size limit of [Read], in bytes.
const maxSize = 1 << 20

// Read reads a regular file of at most 1 MiB that only its owner can change, because a user who can write it could
// allow everything. It refuses links, because nod does not watch the folder that a link leads to. Errors name the file;
// they wrap [fs.ErrNotExist] if it does not exist.
func Read(path string) ([]byte, error) { return ReadLarge(path, maxSize) }

// ReadLarge is [Read] with a limit in bytes.
func ReadLarge(path string, limit int64) ([]byte, error) { return read(path, limit, false, ownership) }

// ReadSecret reads a plain file that only its owner can read or change. It follows no links and never blocks.
func ReadSecret(path string, limit int64) ([]byte, error) { return read(path, limit, false, secrecy) }

// ReadPlain reads a regular file of at most limit bytes, with any owner. It follows no links and never blocks.
func ReadPlain(path string, limit int64) ([]byte, error) { return read(path, limit, false, anybody) }

// ReadBehind is [ReadPlain], but follows links.
func ReadBehind(path string, limit int64) ([]byte, error) { return read(path, limit, true, anybody) }

// IsMissing reports whether err means that the file does not exist, rather than that it cannot be read.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// SaysNothing reports whether an error of the system says nothing about the file, such as that nod has too many files
// open. Others say what every program of the user finds there: nothing, or what it may not open.
func SaysNothing(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && !IsMissing(err) && !errors.Is(err, fs.ErrPermission) && code != syscall.ELOOP
}

// Glob returns the files below a folder whose paths match a pattern, as [fs.Glob] does, but also fails if the system
// keeps it from looking: see [SaysNothing].
func Glob(folder, pattern string) (paths []string, err error) {
	look := &looking{FS: os.DirFS(folder), folder: folder}
	names, err := fs.Glob(look, pattern)
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, name))
	}
	return paths, errors.Join(err, look.failed)
}

type looking struct {
	fs.FS
	folder string
	failed error
}

func (l *looking) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(filepath.Join(l.folder, name))
	if SaysNothing(err) {
		l.failed = err
	}
	return entries, err
}

// Aside returns where a damaged file goes: beside path, with the time in its name.
func Aside(path string) string { return path + time.Now().Format(".2006-01-02T15-04-05.000000") }

// In returns the path of one of nod's files in one of the user's base folders, such as that for data. It fails if the
// base folder is unknown.
func In(base, name string) (string, error) {
	if !filepath.IsAbs(base) || runtime.GOOS != "windows" && os.Getenv("HOME") == "" && !isNamed(base) {
		return "", fmt.Errorf("find %s: no home folder: set HOME", name)
	}
	return filepath.Join(base, "nod", name), nil
}

// isNamed reports whether the environment names a base folder. Without a home folder, the others are those of the root.
func isNamed(base string) bool {
	return slices.ContainsFunc(os.Environ(), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "XDG_") && value == base
	})
}

// Remove removes a file. A missing file is no error.
func Remove(path string) error {
	if err := os.Remove(path); !IsMissing(err) {
		return err
	}
	return nil
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

func openPlain(path string, follow bool) (*os.File, fs.FileInfo, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	info, err := look(path) // opening a device can have effects
	if err == nil {
		err = plain(info)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := open(path, follow)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = plain(info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// ReadTail reads the last most bytes of a regular file, with any owner. It follows no links and never blocks.
func ReadTail(path string, most int64) ([]byte, error) {
	file, info, err := openPlain(path, false)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-most), most))
}

func readOpen(path string, most int64, follow bool, problem func(fs.FileInfo) string) ([]byte, error) {
	file, info, err := openPlain(path, follow)
	if err != nil {
		return nil, err
	}
	defer file.Close()
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

func plain(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("this is a symbolic link: put the file itself here")
	}
	return errors.New("this is not a plain file: move it away")
}

func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}

// Sum returns the HMAC-SHA256 by which nod recognizes its own texts. A sum of one kind is invalid for another.
func Sum(key []byte, kind string, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(kind))
	h.Write(text)
	return h.Sum(nil)
}

// Write replaces a file atomically; it replaces a link at its path by a file. It creates a missing folder for its owner
// only. mode applies on Unix: 0600 for secrets.
func Write(path string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", filepath.Base(path), err)
	}
	if err := replace(path, data, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
