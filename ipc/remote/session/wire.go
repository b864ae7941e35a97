package session

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Limits on one connection.
const (
	maxBody    = 8 << 20          // bytes of what a call says: a request's input of 1 MB, and what was reported of it
	maxMessage = maxBody + 64<<10 // bytes of a line: that, and what JSON-RPC puts round it
	maxFirst   = 64 << 10         // bytes of a line of who was not let in yet: it says who it is, and no more
	maxUnsent  = 4 * maxMessage   // bytes that wait for the other end to read them
	maxCalls   = 8                // calls of the other end that are under way
)

var (
	errTooLong  = errors.New("the other end sends a message that is too long")
	errUnread   = errors.New("the other end does not read its messages")
	errNotRPC   = errors.New("the other end does not speak nod's protocol")
	errWireDown = errors.New("the connection was closed")
)

// wire is a [channel.Channel] of JSON-RPC messages, one per line, with which a hostile or stuck peer can neither use up
// memory nor block this end: the length of lines and the number of calls are limited, and sending never waits.
type wire struct {
	conn  io.ReadWriter
	raw   io.Closer // what carries conn: it ends at once, without a farewell that may wait for the peer
	lines *bufio.Scanner
	isIn  atomic.Bool   // the peer was let in: its messages may be long
	calls chan struct{} // holds a token for each call under way
	over  chan struct{} // closed with the connection

	mu     sync.Mutex // guards all below
	unsent [][]byte
	bytes  int        // of unsent, and of what is being sent
	more   *sync.Cond // unsent or err has changed
	deaf   error      // why the peer gets nothing more
	err    error      // why it is closed
}

func newWire(conn io.ReadWriter, raw io.Closer) *wire {
	w := &wire{
		conn: conn, raw: raw, lines: bufio.NewScanner(conn),
		calls: make(chan struct{}, maxCalls), over: make(chan struct{}),
	}
	w.lines.Buffer(nil, maxMessage)
	w.lines.Split(w.split)
	w.more = sync.NewCond(&w.mu)
	go w.flush()
	return w
}

// split is [bufio.ScanLines] with a limit on lines before the peer is admitted.
func (w *wire) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	advance, line, err = bufio.ScanLines(data, atEOF)
	if size := max(advance, len(line)); !w.isIn.Load() && (size > maxFirst || size == 0 && len(data) > maxFirst) {
		return 0, nil, bufio.ErrTooLong
	}
	return advance, line, err
}

// Recv implements [channel.Channel]. Before it returns a call it waits until there is room for one more. The handler of
// a call calls done afterwards.
func (w *wire) Recv() ([]byte, error) {
	if !w.lines.Scan() {
		err := w.lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = errTooLong
		}
		w.finish()
		return nil, w.close(cmp.Or(err, io.EOF))
	}
	line := bytes.Clone(w.lines.Bytes())
	var fields map[string]json.RawMessage // as jrpc2 reads them: a name in other letters is another field
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		return nil, w.close(errNotRPC)
	}
	if _, isCall := fields["method"]; !isCall {
		return line, nil
	}
	if id := fields["id"]; len(id) == 0 || string(id) == "null" {
		return nil, w.close(fmt.Errorf("%w: the sender wants no reply", errNotRPC))
	}
	select {
	case w.calls <- struct{}{}:
		return line, nil
	case <-w.over:
		return nil, w.ended()
	}
}

// finish waits for the calls under way, because what a peer sent before it disconnected still counts.
func (w *wire) finish() {
	late := time.After(settlingTime)
	for range maxCalls {
		select {
		case w.calls <- struct{}{}:
		case <-w.over:
			return
		case <-late:
			return
		}
	}
}

func (w *wire) done() { <-w.calls }

// Send implements [channel.Channel]. It does not wait for the peer to read.
func (w *wire) Send(message []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := cmp.Or(w.err, w.deaf); err != nil {
		return err
	}
	if w.bytes+len(message) > maxUnsent {
		go w.close(errUnread)
		return errUnread
	}
	w.unsent = append(w.unsent, append(bytes.Clone(message), '\n'))
	w.bytes += len(message)
	w.more.Signal()
	return nil
}

// flush sends queued messages until the connection is closed.
func (w *wire) flush() {
	for {
		w.mu.Lock()
		for len(w.unsent) == 0 && w.err == nil {
			w.more.Wait()
		}
		if w.err != nil {
			w.mu.Unlock()
			return
		}
		next := w.unsent[0]
		w.unsent[0] = nil
		w.unsent = w.unsent[1:]
		w.mu.Unlock()
		_, err := w.conn.Write(next)
		w.mu.Lock()
		w.bytes -= len(next) - 1
		if err != nil { // what the peer said before it went is still to be read
			w.deaf, w.unsent = err, nil
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// Close implements [channel.Channel].
func (w *wire) Close() error {
	w.close(errWireDown)
	return nil
}

// isChatter reports whether the other end sent something that is not TLS.
func isChatter(err error) bool {
	_, is := errors.AsType[tls.RecordHeaderError](err)
	return is
}

// close ends the connection. It returns the error of the first call of close, which is why the connection ended.
func (w *wire) close(err error) error {
	w.mu.Lock()
	if w.err == nil {
		w.err, w.unsent = err, nil
		close(w.over)
		w.more.Signal()
	}
	err = w.err
	w.mu.Unlock()
	_ = w.raw.Close() // it has ended, whatever this says
	return err
}

// ended returns why the connection was closed, or nil while it is open.
func (w *wire) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
