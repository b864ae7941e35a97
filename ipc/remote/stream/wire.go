package stream

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Limits of one connection.
const (
	maxEnvelope = 8 << 20              // bytes of an envelope, which package remote opens
	maxMessage  = maxEnvelope + 64<<10 // bytes of a line: an envelope, and what JSON-RPC puts round it
	maxUnsent   = 4 * maxMessage       // bytes that wait for the other end to read them
	maxCalls    = 8                    // calls of the other end that are under way
)

var (
	errTooLong  = errors.New("the other end sends a message that is too long")
	errUnread   = errors.New("the other end does not read what it is sent")
	errNotRPC   = errors.New("the other end does not speak as nod does")
	errWireDown = errors.New("the connection was closed")
)

// wire is a [channel.Channel] of JSON-RPC messages, one a line, that a hostile or stuck peer cannot use to take up
// memory or hold anybody up: lines end somewhere, what the peer asks for is limited, and to send never waits.
type wire struct {
	conn  io.ReadWriteCloser
	lines *bufio.Scanner
	calls chan struct{} // holds a token for each call under way
	over  chan struct{} // closed with the connection

	mu     sync.Mutex // guards all below
	unsent [][]byte
	bytes  int        // of unsent, and of what is being sent
	more   *sync.Cond // unsent or err has changed
	deaf   error      // why the peer gets nothing more
	err    error      // why it is closed
}

func newWire(conn io.ReadWriteCloser) *wire {
	w := &wire{
		conn: conn, lines: bufio.NewScanner(conn), calls: make(chan struct{}, maxCalls), over: make(chan struct{}),
	}
	w.lines.Buffer(nil, maxMessage)
	w.more = sync.NewCond(&w.mu)
	go w.flush()
	return w
}

// Recv implements [channel.Channel]. Before it returns a call it waits until there is room for one more; whoever has
// served a call says so with done.
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
		return nil, w.close(fmt.Errorf("%w: it wants no reply", errNotRPC))
	}
	select {
	case w.calls <- struct{}{}:
		return line, nil
	case <-w.over:
		return nil, w.ended()
	}
}

// finish waits for the calls that are under way: a peer that has gone has still said what it said.
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

// done makes room for another call of the peer's.
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

// flush sends what waits until the connection is closed.
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

// close ends the connection and returns why it ended, which is what the first call said.
func (w *wire) close(err error) error {
	w.mu.Lock()
	if w.err == nil {
		w.err, w.unsent = err, nil
		close(w.over)
		w.more.Signal()
	}
	err = w.err
	w.mu.Unlock()
	_ = w.conn.Close() // it has ended, whatever this says
	return err
}

// ended is why the connection was closed; nil while it is not.
func (w *wire) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
