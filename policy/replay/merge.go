package replay

import (
	"cmp"
	"container/heap"
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

// A stream is a transcript that is being read; at, call are its next call.
type stream struct {
	name    string
	file    io.Closer
	reader  Reader
	pull    func() (time.Time, policy.Call, bool)
	stop    func()
	at      time.Time
	call    policy.Call
	project string // the folder that the session began in
	order   int    // of the files, to tell calls of one time apart
}

// merge yields the calls of many transcripts by their times.
type merge struct {
	waiting  []begin // those that are not open yet, the first to begin last
	open     streams
	last     *stream // whose call was handed out
	progress func(int64)
	skipped  int
	failed   error
}

// begin is when a transcript begins.
type begin struct {
	file  File
	at    time.Time
	order int
}

// newMerge looks up when each of the files begins.
func newMerge(files []File, progress func(int64)) *merge {
	m := &merge{progress: progress}
	for i, f := range files {
		s, err := open(f, i, func(int64) {})
		if err == nil && s.advance() {
			m.waiting = append(m.waiting, begin{f, s.at, i})
			s.close()
			continue
		}
		progress(f.Size) // no call in it
		if err == nil {
			m.skipped += s.reader.Skipped()
			err = s.end()
		}
		if err != nil && m.failed == nil {
			m.failed = err
		}
	}
	slices.SortStableFunc(m.waiting, func(a, b begin) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.order, a.order))
	})
	return m
}

func open(f File, order int, progress func(int64)) (*stream, error) {
	file, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	s := &stream{name: f.Name, file: file, order: order, reader: f.Read(&counted{file, progress})}
	s.pull, s.stop = iter.Pull2(s.reader.Calls())
	return s, nil
}

// next returns the next call; nil after the last one. What it returns is good until the next call of next.
func (m *merge) next() (*stream, error) {
	if m.failed != nil {
		return nil, m.failed
	}
	if m.last != nil {
		if err := m.advance(); err != nil {
			return nil, err
		}
	}
	for len(m.waiting) > 0 && len(m.open) < maxOpen {
		n := len(m.waiting) - 1
		b := m.waiting[n]
		if len(m.open) > 0 && m.open[0].at.Before(b.at) {
			break
		}
		m.waiting = m.waiting[:n]
		s, err := open(b.file, b.order, m.progress)
		if err != nil {
			return nil, err
		}
		if !s.advance() { // it was cut meanwhile
			s.close()
			continue
		}
		heap.Push(&m.open, s)
	}
	if len(m.open) == 0 {
		return nil, nil
	}
	m.last = m.open[0]
	return m.last, nil
}

// advance moves on in the transcript whose call was handed out.
func (m *merge) advance() error {
	s := m.last
	m.last = nil
	if s.advance() {
		heap.Fix(&m.open, 0)
		return nil
	}
	heap.Pop(&m.open)
	m.skipped += s.reader.Skipped()
	return s.end()
}

func (s *stream) advance() (ok bool) {
	s.at, s.call, ok = s.pull()
	if ok && s.project == "" {
		s.project = s.call.CWD
	}
	return ok
}

// end closes a stream that was read to its end, and says whether that was the real one.
func (s *stream) end() error {
	s.close()
	if err := s.reader.Err(); err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return nil
}

func (s *stream) close() {
	s.stop()
	_ = s.file.Close() // it was only read
}

func (m *merge) close() {
	for _, s := range m.open {
		s.close()
	}
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

// streams is a heap by time.
type streams []*stream

func (s streams) Len() int { return len(s) }
func (s streams) Less(i, j int) bool {
	return cmp.Or(s[i].at.Compare(s[j].at), cmp.Compare(s[i].order, s[j].order)) < 0
}
func (s streams) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *streams) Push(x any)   { *s = append(*s, x.(*stream)) }
func (s *streams) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}
