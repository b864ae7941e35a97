// Package basefile reads a file before a call changes it. The agent chose the path, so it reads only regular files of
// limited size, in limited time.
package basefile

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"nod/ownfile"
	"nod/policy"
	"nod/policy/shell"
)

const (
	// MaxBytes limits the text to compare.
	MaxBytes = 1 << 20
	// maxTime limits one access to the file system.
	maxTime = 250 * time.Millisecond
	// turns divides maxTime into ticks: on a busy machine ticks come late, which gives ask as much more time.
	turns = 25
)

// file is the content of a file when it was read.
type file struct {
	Where  policy.Location
	Exists bool
	Text   string
	// Problem says why there is no text to compare: one of [Problems], or empty.
	Problem string
}

const (
	Slow       = "the file there takes too long to read"
	lost       = "nod can't tell which file this is"
	notText    = "the file there isn't text"
	notRegular = "it is not a regular file"
	TooLarge   = "the file there is too large to compare"
	Unreadable = "nod can't read the file there"
)

// Problems are all values of [file.Problem] but "".
var Problems = []string{Slow, lost, notText, notRegular, TooLarge, Unreadable}

// Read reads the file that path names for a tool that works in cwd.
func Read(path, cwd string) file {
	f, ok := InTime(func() file {
		f := file{Where: policy.Locate(path, cwd)}
		if f.Where.Path == "" {
			f.Problem = lost
			return f
		}
		text, err := ownfile.ReadBehind(f.Where.Path, MaxBytes)
		f.Exists, f.Text = !errors.Is(err, fs.ErrNotExist), string(text)
		switch {
		case err != nil && f.Exists:
			f.Problem = problem(f.Where.Path)
		case strings.ContainsRune(f.Text, 0):
			f.Problem = notText
		}
		return f
	})
	if !ok {
		return file{Exists: true, Problem: Slow}
	}
	return f
}

// problem says why a file could not be read.
func problem(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Unreadable
	case !info.Mode().IsRegular():
		return notRegular
	case info.Size() > MaxBytes:
		return TooLarge
	}
	return Unreadable
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

// Risks returns the risks of a call. If the file system does not answer in time, it returns those in the text of the
// call, and the call counts as dangerous.
func Risks(call policy.Call) []policy.Risk {
	return risks(call, func() []policy.Risk { return policy.Risks(call) })
}

func risks(call policy.Call, ask func() []policy.Risk) []policy.Risk {
	if found, ok := InTime(ask); ok {
		return found
	}
	return append(policy.TextRisks(call), policy.Risk{Level: shell.Danger, Text: "The file system doesn't respond"})
}
