package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"nod/ipc/remote"
)

func TestAWireBoundsWhatAPeerCanDo(t *testing.T) {
	call := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"put"}`, id) + "\n" }
	long := strings.Replace(call(1), "{", "{"+strings.Repeat(" ", maxFirst), 1)
	tests := map[string]struct {
		sent string
		want error
	}{
		"a line without an end": {strings.Repeat("x", maxFirst+1), errTooLong},
		"a long first line":     {long, errTooLong},
		"no JSON":               {"Welcome to build-1!\n", errNotRPC},
		"not an object":         {"[1]\n", errNotRPC},
		"null":                  {"null\n", errNotRPC},
		"a batch":               {"[" + strings.TrimSpace(call(1)) + "]\n", errNotRPC},
		"a notification":        {`{"jsonrpc":"2.0","method":"put"}` + "\n", errNotRPC},
		"an empty line":         {"\n", errNotRPC},
		"nothing":               {"", io.EOF},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				w := newWire(near, near)
				defer w.Close()
				go func() {
					_, _ = io.WriteString(far, tt.sent)
					_ = far.Close()
				}()
				if _, err := w.Recv(); !errors.Is(err, tt.want) {
					t.Errorf("recv: %v, want %v", err, tt.want)
				}
				if err := w.Send([]byte("{}")); err == nil {
					t.Error("the wire still takes messages")
				}
			})
		})
	}
	for line, want := range map[string]error{long: nil, strings.Repeat("x", maxMessage+1): errTooLong} {
		near, far := net.Pipe()
		w := newWire(near, near)
		w.isIn.Store(true)
		go func() {
			_, _ = io.WriteString(far, line)
			_ = far.Close()
		}()
		if _, err := w.Recv(); !errors.Is(err, want) {
			t.Errorf("%d bytes of who was let in: %v, want %v", len(line), err, want)
		}
		_ = w.Close()
	}
	t.Run("too many calls", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			w := newWire(near, near)
			go func() {
				for id := range 10 * maxCalls {
					if _, err := io.WriteString(far, call(id)); err != nil {
						return
					}
				}
			}()
			got := 0
			go func() {
				for {
					if _, err := w.Recv(); err != nil {
						return
					}
					got++
				}
			}()
			synctest.Wait()
			if got != maxCalls {
				t.Errorf("%d calls are under way, want %d", got, maxCalls)
			}
			w.done()
			synctest.Wait()
			if got != maxCalls+1 {
				t.Errorf("%d calls after one was done", got)
			}
			_ = w.Close()
			_ = far.Close()
		})
	})
}

func TestAPeerThatDoesNotReadIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		w := newWire(near, near)
		message, n := bytes.Repeat([]byte("x"), 1<<20), 0
		for ; n < 1000; n++ {
			if err := w.Send(message); err != nil {
				if !errors.Is(err, errUnread) {
					t.Errorf("send: %v", err)
				}
				break
			}
		}
		if n > maxUnsent>>20 {
			t.Errorf("%d MB wait to be read", n)
		}
		synctest.Wait()
		if !errors.Is(w.ended(), errUnread) {
			t.Errorf("ended: %v", w.ended())
		}
	})
}

// FuzzMessage has both ends read what anybody with a key may send them: nothing of it is taken in, and neither fails.
func FuzzMessage(f *testing.F) {
	own, err := remote.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	other, err := remote.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		synctest.Test(t, func(t *testing.T) {
			r := &testRelay{identity: own, desks: []remote.Key{own.Key()}}
			r.link = NewLink(own, r, &cable{}, slog.New(slog.DiscardHandler))
			d := &testDesk{identity: own}
			l := NewLine(own, d, &cable{}, slog.New(slog.DiscardHandler), func() {}).(*line)
			for isDesk, serve := range map[bool]func(context.Context, net.Conn) error{true: l.serve, false: r.link.Serve} {
				near, far := net.Pipe()
				served := make(chan struct{})
				go func() { defer close(served); _ = serve(t.Context(), far) }()
				secured, _, err := other.Secure(t.Context(), near, !isDesk)
				if err != nil {
					t.Fatal(err)
				}
				feed(secured, sent)
				<-served
			}
			if r.forgot+len(r.policies)+len(d.ends)+len(d.records)+len(d.taken) > 0 || r.link.State().Up {
				t.Errorf("taken in: %+v, %+v", r, d)
			}
		})
	})
}

// feed writes to conn, reads what comes back, and closes it.
func feed(conn net.Conn, sent []byte) {
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, _ = conn.Write(sent)
	synctest.Wait()
	_ = conn.Close()
	synctest.Wait()
}
