package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"nod/changes"
	"nod/interact"
	"nod/policy/config"
)

// The methods on the wire other than those of [Operator], which keep their names.
const (
	methodHello  = "hello"
	methodCancel = "cancel" // the caller no longer waits

	// From the tray process:
	methodPromptsChanged = "prompts.changed"
	methodStateChanged   = "state.changed"
	methodHistoryChanged = "history.changed"
	methodPing           = "ping" // the only callback: asks whether the windows are alive
)

// coded are the errors that keep their identity on the wire, by code.
var coded = map[jrpc2.Code]error{1: ErrGone, 2: ErrChanged, 3: config.ErrChanged, 4: ErrVersion}

// Session is the tray process's end of the connection to one windows process.
type Session struct {
	server *jrpc2.Server
	read   io.Closer // reads from the other end

	// Ready is closed once the windows process has fetched the prompts, which it does when it can show windows.
	Ready chan struct{}
	// Done is closed when the connection has ended.
	Done chan struct{}

	// These tell the windows what to fetch again.
	Prompts changes.Signal // or that a window is wanted
	State   changes.Signal
	History changes.Signal // the journal's entries that they show
}

// Serve serves op to the windows process at the other end of r and w until that ends or [Session.Close] is called. The
// other end must have the same version.
func Serve(r io.ReadCloser, w io.WriteCloser, op Operator, version string, log *slog.Logger) *Session {
	s := &Session{
		read: r, Ready: make(chan struct{}), Done: make(chan struct{}),
		Prompts: changes.NewSignal(), State: changes.NewSignal(), History: changes.NewSignal(),
	}
	table := methods(op)
	table[methodHello] = withCode(inOrder(func(_ context.Context, windows string) error {
		if windows != version {
			log.Error("the windows are of another version", "nod-desktop", version, "nod-dialogs", windows)
			return ErrVersion
		}
		return nil
	}))
	ready, prompts := sync.OnceFunc(func() { close(s.Ready) }), table["Prompts"]
	table["Prompts"] = func(ctx context.Context, r *jrpc2.Request) (any, error) {
		ready()
		return prompts(ctx, r)
	}
	s.server = jrpc2.NewServer(table, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: interact.MaxPending + 16, // every answer may wait for its machine
		Logger: func(text string) { log.Debug("operator", "text", text) },
	})
	s.server.Start(channel.Line(r, w))
	go func() {
		_ = s.server.Wait() // the process's exit says how it ended
		_ = r.Close()       // no one reads any longer
		close(s.Done)
	}()
	go s.push()
	return s
}

// methods returns the methods of [Operator], each under its own name, and the cancellation of a call.
func methods(op Operator) handler.Map {
	table, value := handler.Map{}, reflect.ValueOf(op)
	for m := range reflect.TypeFor[Operator]().Methods() {
		table[m.Name] = inOrder(value.MethodByName(m.Name).Interface())
	}
	table[methodCancel] = inOrder(func(ctx context.Context, id string) error {
		jrpc2.ServerFromContext(ctx).CancelRequest(id)
		return nil
	})
	for name, method := range table {
		table[name] = withCode(method)
	}
	return table
}

// inOrder returns a handler of calls whose parameters are a list, without names.
func inOrder(method any) jrpc2.Handler {
	if reflect.TypeOf(method).NumIn() == 1 { // a context
		return handler.New(method)
	}
	var names []string
	for i := range reflect.TypeOf(method).NumIn() - 1 {
		names = append(names, strconv.Itoa(i))
	}
	return handler.NewPos(method, names...)
}

func withCode(method jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		result, err := method(ctx, r)
		for code, known := range coded {
			if errors.Is(err, known) {
				return nil, jrpc2.Errorf(code, "%v", err)
			}
		}
		return result, err
	}
}

// push sends the signals sequentially, so that a process that has stopped reading blocks only this goroutine.
func (s *Session) push() {
	for {
		var method string
		select {
		case <-s.Done:
			return
		case <-s.Prompts:
			method = methodPromptsChanged
		case <-s.State:
			method = methodStateChanged
		case <-s.History:
			method = methodHistoryChanged
		}
		if s.server.Notify(context.Background(), method, nil) != nil {
			return // the connection has ended
		}
	}
}

// Ping fails if the windows do not answer within patience, unless ctx or the connection ends first.
func (s *Session) Ping(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan struct{})
	go func() { // sending may block, too
		_, _ = s.server.Callback(ctx, methodPing, nil)
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	case <-s.Done:
	case <-time.After(patience):
		return fmt.Errorf("the windows do not answer within %v", patience)
	}
	return nil
}

// Close ends the connection. It may block until the other process reads or ends.
func (s *Session) Close() {
	_ = s.read.Close() // jrpc2's Stop panics if a request arrives meanwhile
	<-s.Done
}
