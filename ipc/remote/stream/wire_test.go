package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nod/ipc/remote"
)

func TestAWireBoundsWhatAPeerCanDo(t *testing.T) {
	call := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"put"}`, id) + "\n" }
	tests := map[string]struct {
		sent string
		want error
	}{
		"a line without an end": {strings.Repeat("x", maxMessage+1), errTooLong},
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
				w := newWire(near)
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
	t.Run("too many calls", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			w := newWire(near)
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
		w := newWire(near)
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

// FuzzMessage has both ends read what anybody may send them: nothing of it is taken in, and neither end fails.
func FuzzMessage(f *testing.F) {
	relay, err := remote.NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		synctest.Test(t, func(t *testing.T) {
			r := &testRelay{identity: relay}
			r.link = NewLink(relay, r, slog.New(slog.DiscardHandler))
			d := &testDesk{identity: relay}
			near, far := net.Pipe()
			served := make(chan struct{})
			go func() { defer close(served); _ = r.link.Serve(t.Context(), far) }()
			feed(near, sent)
			<-served

			near, far = net.Pipe()
			dial := func() (transport, error) { return end{Conn: far}, nil }
			l := newLine(relay, dial, d, slog.New(slog.DiscardHandler), func() {})
			over := make(chan struct{})
			go func() { defer close(over); l.connect(context.Background()) }()
			feed(near, sent)
			<-over
			if r.forgot+len(r.policies)+len(d.ends)+len(d.records)+d.joins > 0 || r.link.State().Up {
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

func TestReplyOfAnotherKindIsForged(t *testing.T) {
	own, err := remote.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := own.Seal(own.Key(), remote.KindHello, remote.Hello{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := own.Open(json.RawMessage(sealed))
	if err != nil {
		t.Fatal(err)
	}
	var into any
	for name, reply := range map[string]*remote.Envelope{"another kind": &e, "none": nil} {
		if err := decodeReply(reply, remote.KindEnd, &into); !errors.Is(err, remote.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheWaitBeforeALineComesBackGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, dialed := time.Now(), []time.Duration{}
		l := newLine(newIdentity(t), func() (transport, error) {
			dialed = append(dialed, time.Since(began))
			return nil, errors.New(problemNotInstalled)
		}, newDeskOf(t, true), slog.New(slog.DiscardHandler), func() {})
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); _ = l.Run(ctx) }()
		time.Sleep(100 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91}
		if len(dialed) != len(want) {
			t.Fatalf("dialed at %v", dialed)
		}
		for i := range want {
			if dialed[i] != want[i]*time.Second {
				t.Errorf("dialed at %v, want %v s", dialed, want)
			}
		}
		if err := l.Forget(t.Context(), l.identity.Key()); !errors.Is(err, remote.ErrDown) {
			t.Errorf("forget: %v", err)
		}
		synctest.Wait()
		if len(dialed) != len(want)+1 || l.State(remote.Key{}).Problem != problemNotInstalled {
			t.Errorf("dialed at %v after the person asked; %+v", dialed, l.State(remote.Key{}))
		}
		cancel()
		<-over
	})
}
