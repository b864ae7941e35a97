package replay

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"nod/policy"
)

// maxOpen is how many transcripts are open at once. Where more sessions than that went on at the same time, the
// later ones are read when an earlier one has ended.
const maxOpen = 64

// A stream is a transcript; at and call are its next call.
type stream struct {
	File
	order   int // of the files, to tell calls of one time apart
	file    io.Closer
	reader  Reader
	pull    func() (time.Time, policy.Call, bool)
	stop    func()
	at      time.Time
	call    policy.Call
	project string // the folder that the session began in
}

// inOrder does something with the calls of many transcripts by their times: with each stream when its call is the
// next. Skipped are the lines that could not be used.
func inOrder(files []File, progress func(int64), do func(*stream) error) (skipped int, err error) {
	closed, skipped, err := beginnings(files, progress)
	if err != nil {
		return 0, err
	}
	var open []*stream
	defer func() {
		for _, s := range open {
			s.close()
		}
	}()
	for len(closed)+len(open) > 0 {
		if len(open) == 0 || len(open) < maxOpen && len(closed) > 0 && !first(open).at.Before(closed[0].at) {
			s := closed[0]
			closed = closed[1:]
			ok, err := s.open(progress)
			if err != nil {
				return 0, err
			}
			if ok { // else it was cut meanwhile
				open = append(open, s)
			}
			continue
		}
		s := first(open)
		if err := do(s); err != nil {
			return 0, err
		}
		ok, err := s.advance()
		if !ok {
			open = slices.DeleteFunc(open, func(o *stream) bool { return o == s })
			skipped += s.reader.Skipped()
		}
		if err != nil {
			return 0, err
		}
	}
	return skipped, nil
}

// beginnings looks up when each of the files begins, and returns those with calls in that order, closed.
func beginnings(files []File, progress func(int64)) (all []*stream, skipped int, err error) {
	for i, f := range files {
		s := &stream{File: f, order: i}
		ok, err := s.open(func(int64) {})
		if err != nil {
			return nil, 0, err
		}
		if ok {
			s.close()
			all = append(all, s)
			continue
		}
		progress(f.Size) // no call in it
		skipped += s.reader.Skipped()
	}
	slices.SortFunc(all, byTime)
	return all, skipped, nil
}

// first is the stream with the earliest call.
func first(of []*stream) *stream { return slices.MinFunc(of, byTime) }

func byTime(a, b *stream) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) }

// open starts to read at the first call; it is not ok when there is none.
func (s *stream) open(progress func(int64)) (ok bool, err error) {
	file, err := s.Open()
	if err != nil {
		return false, fmt.Errorf("read %s: %w", s.Name, err)
	}
	s.file, s.reader = file, s.Read(&counted{file, progress})
	s.pull, s.stop = iter.Pull2(s.reader.Calls())
	return s.advance()
}

// advance goes on to the next call. Behind the last one it closes the file, and the error says what kept it from
// reading to the end.
func (s *stream) advance() (ok bool, err error) {
	if s.at, s.call, ok = s.pull(); ok {
		s.project = cmp.Or(s.project, s.call.CWD)
		return true, nil
	}
	s.close()
	if err := s.reader.Err(); err != nil {
		return false, fmt.Errorf("read %s: %w", s.Name, err)
	}
	return false, nil
}

func (s *stream) close() {
	s.stop()
	_ = s.file.Close() // it was only read
}

// counted tells how much is read through it.
type counted struct {
	io.Reader
	progress func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.progress(int64(n))
	return n, err
}
