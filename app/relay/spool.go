package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"nod/api"
	"nod/changes"
	"nod/interact"
	"nod/ownfile"
	"nod/ownfile/ownlog"
)

// spool is the relay's journal: a file to which every change is appended before it takes effect. It holds the pending
// requests, the last answers for callers that reconnect after the relay was killed, and the policy's decisions until a
// desk has them in its own journal. It implements [interact.Journal], and is safe for concurrent use.
type spool struct {
	path string
	log  *slog.Logger
	news changes.Signal // there is something to report
	most int64          // bytes that may count: see maxLive

	mu         sync.Mutex // guards all below
	file       *os.File   // nil: the present file cannot be written to
	size       int64      // of the file
	live       int64      // bytes of it that count
	rewrite    int64      // the file is written anew once it is larger
	pending    map[interact.ID]*kept
	order      []interact.ID     // of pending, oldest first
	last       []interact.Record // settled, oldest first
	unreported []kept            // decided by the policy, and in no desk's journal yet, oldest first
}

type kept struct {
	record   interact.Record
	reported *interact.Reported // what desks are shown of it
	asked    bool               // desks were asked
	size     int64              // of the lines that hold this
}

// line is one change in the file.
type line struct {
	Op       op                 `json:"op"`
	Record   *interact.Record   `json:"record,omitempty"`   // of all but opAsk and opReported
	ID       interact.ID        `json:"id,omitempty"`       // opAsk
	Reported *interact.Reported `json:"reported,omitempty"` // opAsk
	IDs      []interact.ID      `json:"ids,omitempty"`      // opReported
}

type op string

const (
	opOpen       op = "open"   // a request is pending
	opUpdate     op = "update" // something of it has changed
	opAsk        op = "ask"    // desks are asked about it, and shown this of it
	opSettle     op = "settle" // it has ended
	opReported   op = "told"   // a desk has these in its journal
	opLast       op = "last"   // a request that had ended when the file was written anew
	opUnreported op = "owe"    // one of those that no desk had in its journal then
)

// Limits of the spool.
const (
	maxLive   = 64 << 20 // bytes that count: beyond them nothing passes by policy until a desk has taken some in
	minFile   = 4 << 20  // bytes: a smaller file is not written anew
	maxFile   = 1 << 30  // bytes: a file is written anew long before it is that large
	keptLast  = 1024     // answers for those who come back
	maxLine   = 16 << 20 // bytes
	spoolMode = 0o600
)

var errFull = errors.New("too many decisions wait for a desk to record them")

// openSpool reads what a relay left at path. It sets a damaged file aside, and uses nothing of it.
func openSpool(path string, log *slog.Logger) (*spool, error) {
	text, err := ownfile.ReadSecret(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the relay's journal: %w", err)
	}
	s := newSpool(path, log)
	if err := s.read(text); err != nil {
		aside := ownfile.Aside(path)
		log.Error("the relay's pending requests could not be read: the file was set aside", "path", aside, "err", err)
		if err := os.Rename(path, aside); err != nil {
			return nil, fmt.Errorf("set the relay's journal aside: %w", err)
		}
		s = newSpool(path, log)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renew(); err != nil {
		return nil, fmt.Errorf("open the relay's journal: %w", err)
	}
	s.news.Send()
	return s, nil
}

func newSpool(path string, log *slog.Logger) *spool {
	return &spool{
		path: path, log: log, news: changes.NewSignal(), most: maxLive, rewrite: minFile,
		pending: map[interact.ID]*kept{},
	}
}

// read reads the lines of a file. It ignores a last line that was cut off, since its change never took effect.
func (s *spool) read(text []byte) error {
	if end := bytes.LastIndexByte(text, '\n'); end+1 < len(text) {
		s.log.Warn("the last line of the relay's journal was cut off", "bytes", len(text)-end-1)
		text = text[:end+1]
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var l line
		err := json.Unmarshal(lines.Bytes(), &l)
		if err == nil {
			err = s.take(l, int64(len(lines.Bytes())+1))
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", s.path, n, err)
		}
	}
	return lines.Err()
}

// take applies a line. The caller holds s.mu, or is the only user of s.
func (s *spool) take(l line, size int64) error {
	switch {
	case l.Op == opAsk && l.ID != "":
		if k := s.pending[l.ID]; k != nil {
			k.asked, k.reported, k.size = true, l.Reported, k.size+size
			s.live += size
		}
	case l.Op == opReported:
		s.wasReported(l.IDs)
	case l.Record == nil || l.Record.Request.ID == "":
		return fmt.Errorf("%q has no record", l.Op)
	case l.Op == opSettle:
		s.settled(*l.Record, size)
	case l.Op == opOpen || l.Op == opUpdate:
		s.opened(*l.Record, size)
	case l.Op == opLast:
		s.keepLast(*l.Record)
	case l.Op == opUnreported:
		s.addUnreported(*l.Record, size)
	default:
		return fmt.Errorf("this version of nod doesn't know %q", l.Op)
	}
	return nil
}

func (s *spool) opened(r interact.Record, size int64) {
	k := s.pending[r.Request.ID]
	if k == nil {
		k = &kept{}
		s.pending[r.Request.ID] = k
		s.order = append(s.order, r.Request.ID)
	}
	s.live += size - k.size
	k.record, k.size = r, size
}

func (s *spool) settled(r interact.Record, size int64) {
	id := r.Request.ID
	if k := s.pending[id]; k != nil {
		s.live -= k.size
		delete(s.pending, id)
		s.order = slices.DeleteFunc(s.order, func(o interact.ID) bool { return o == id })
	}
	if r.Answer.By == api.ByPolicy {
		s.addUnreported(r, size)
	}
	s.keepLast(r)
}

func (s *spool) addUnreported(r interact.Record, size int64) {
	s.unreported = append(s.unreported, kept{record: r, size: size})
	s.live += size
}

func (s *spool) keepLast(r interact.Record) {
	s.last = append(s.last, bare(r))
	if len(s.last) > keptLast {
		s.last = s.last[1:]
	}
}

// bare returns what is kept of a request for callers that look up its answer.
func bare(r interact.Record) interact.Record {
	if a, ok := r.Request.Body.(interact.Approve); ok {
		r.Request.Body = a.Bare()
	}
	r.Answer.Shown = interact.Shown{}
	return r
}

func (s *spool) wasReported(ids []interact.ID) {
	s.unreported = slices.DeleteFunc(s.unreported, func(k kept) bool {
		is := slices.Contains(ids, k.record.Request.ID)
		if is {
			s.live -= k.size
		}
		return is
	})
}

func (s *spool) Open(_ context.Context, r interact.Record) error {
	return s.append(line{Op: opOpen, Record: &r})
}

func (s *spool) Update(_ context.Context, r interact.Record) error {
	return s.append(line{Op: opUpdate, Record: &r})
}

func (s *spool) Settle(_ context.Context, r interact.Record) error {
	if err := s.append(line{Op: opSettle, Record: &r}); err != nil {
		return err
	}
	s.news.Send()
	return nil
}

// report returns what desks are shown about a request. It records that when the request is first asked about, so that
// the request has the same digest when a relay asks again after it was killed.
func (s *spool) report(id interact.ID, work func() *interact.Reported) *interact.Reported {
	s.mu.Lock()
	k := s.pending[id]
	if k != nil && k.asked {
		defer s.mu.Unlock()
		return k.reported
	}
	s.mu.Unlock()
	r := work()
	if err := s.append(line{Op: opAsk, ID: id, Reported: r}); err != nil {
		s.log.Error("a request would not survive the relay", "id", id, "err", err)
	}
	return r
}

// append writes a line, whole or not at all, and applies it.
func (s *spool) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the relay's journal: %w", err)
	}
	text = append(text, '\n')
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeRoom(l, int64(len(text))); err != nil {
		return err
	}
	if err := s.write(text); err != nil {
		return fmt.Errorf("write the relay's journal: %w", err)
	}
	if err := s.take(l, int64(len(text))); err != nil {
		return err
	}
	if s.size > s.rewrite {
		if err := s.renew(); err != nil {
			s.log.Error("the relay's journal grows", "path", s.path, "err", err)
		}
	}
	return nil
}

// makeRoom returns an error if there is no room for a line. A line that ends something, or makes room, always has room.
// The caller holds s.mu.
func (s *spool) makeRoom(l line, size int64) error {
	grows := l.Op == opOpen || l.Op == opSettle && l.Record.Answer.By == api.ByPolicy
	switch {
	case size > maxLine:
		return fmt.Errorf("a request of %d bytes is too large for the relay's journal", size)
	case grows && s.live+size > s.most:
		return errFull
	case !s.inPlace():
		return s.renew()
	}
	return nil
}

// inPlace reports whether the open file is the one at the path, which the next relay would read. The caller holds s.mu.
func (s *spool) inPlace() bool {
	if s.file == nil {
		return false
	}
	open, err := s.file.Stat()
	now, pathErr := os.Lstat(s.path)
	return err == nil && pathErr == nil && os.SameFile(open, now)
}

// write appends text to the file. If that fails, it either removes what was written or does not write to this file
// again. The caller holds s.mu.
func (s *spool) write(text []byte) error {
	n, err := s.file.WriteAt(text, s.size) // after a write that failed, the file's own position is beyond its end
	if err == nil {
		s.size += int64(n)
		return nil
	}
	if cutErr := s.file.Truncate(s.size); cutErr != nil {
		err = errors.Join(err, cutErr, s.file.Close())
		s.file = nil
	}
	return err
}

// renew rewrites the file with only what still counts, and opens it. The caller holds s.mu.
func (s *spool) renew() error {
	var lines []line
	for _, r := range s.last {
		lines = append(lines, line{Op: opLast, Record: &r})
	}
	for _, k := range s.unreported {
		lines = append(lines, line{Op: opUnreported, Record: &k.record})
	}
	for _, id := range s.order {
		k := s.pending[id]
		lines = append(lines, line{Op: opOpen, Record: &k.record})
		if k.asked {
			lines = append(lines, line{Op: opAsk, ID: id, Reported: k.reported})
		}
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	for _, l := range lines {
		if err := to.Encode(l); err != nil {
			return err
		}
	}
	if err := ownfile.Write(s.path, text.Bytes(), spoolMode); err != nil {
		return err
	}
	file, err := ownlog.Open(s.path)
	if err != nil {
		return err
	}
	if s.file != nil {
		_ = s.file.Close() // it is no longer used
	}
	s.file, s.size = file, int64(text.Len())
	s.rewrite = max(minFile, 2*s.size)
	return nil
}

// restore returns the requests pending when the relay ended, and the last answers, oldest first.
func (s *spool) restore() (open, last []interact.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		open = append(open, s.pending[id].record)
	}
	return open, slices.Clone(s.last)
}

// Limits on what is reported at a time.
const (
	maxBatch      = 64
	maxBatchBytes = 256 << 10
)

func (s *spool) batch() (records []interact.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(0)
	for _, k := range s.unreported {
		if size += k.size; len(records) == maxBatch || len(records) > 0 && size > maxBatchBytes {
			break
		}
		records = append(records, k.record)
	}
	return records
}

// waiting returns the number of records not reported yet.
func (s *spool) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unreported)
}

// reportRetry is how long the relay waits after a desk could not accept records.
const reportRetry = 5 * time.Second

// empty reports the policy's decisions until ctx ends.
func (s *spool) empty(ctx context.Context, report func(context.Context, []interact.Record) error) {
	for {
		records := s.batch()
		if len(records) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-s.news:
				continue
			}
		}
		err := report(ctx, records)
		if err == nil {
			ids := make([]interact.ID, len(records))
			for i, r := range records {
				ids[i] = r.Request.ID
			}
			if err = s.append(line{Op: opReported, IDs: ids}); err == nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("policy decisions wait for a desk", "records", s.waiting(), "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(reportRetry):
		}
	}
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
