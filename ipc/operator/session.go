package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"nod/policy/config"
)

// The methods, as they are called on the wire.
const (
	methodHello        = "hello"
	methodPrompts      = "prompts"
	methodAnswer       = "answer"
	methodSaveDraft    = "draft.save"
	methodSnooze       = "snooze"
	methodReport       = "report"
	methodState        = "state"
	methodReplace      = "config.replace"
	methodSettleHeld   = "config.settle"
	methodRevoke       = "grants.revoke"
	methodSettle       = "undo.settle"
	methodAcceptGrants = "grants.accept"
	methodTry          = "try"
	methodSuggest      = "suggest"
	methodHistory      = "history"
	methodEntry        = "history.entry"
	methodFacets       = "history.facets"
	methodInsights     = "history.insights"
	methodAway         = "history.away"
	methodExport       = "history.export"
	methodVerify       = "history.verify"
	methodAutostart    = "autostart"
	methodDesktop      = "desktop"
	methodPeers        = "peers"
	methodPair         = "peers.pair"
	methodUnpair       = "peers.unpair"
	methodSetMay       = "peers.may"
	methodSettlePeers  = "peers.settle"
	methodForget       = "peers.forget"
	methodInvite       = "peers.invite"
	methodWithdraw     = "peers.withdraw"
	methodTestRequest  = "test.request"
	methodWelcomed     = "welcomed"
	methodCancel       = "cancel" // nobody waits for a call any more

	// From the tray process:
	methodPromptsChanged = "prompts.changed"
	methodStateChanged   = "state.changed"
	methodHistoryChanged = "history.changed"
	methodPing           = "ping" // say that the windows are alive: the only callback
)

// coded are the errors that mean the same on both sides, by their code on the wire.
var coded = map[jrpc2.Code]error{1: ErrGone, 2: ErrChanged, 3: config.ErrChanged, 4: ErrVersion}

// Session is the tray process's end of the connection to one windows process.
type Session struct {
	server  *jrpc2.Server
	read    io.Closer     // what the other end says
	ready   chan struct{} // closed when the other end has fetched what is pending
	done    chan struct{}
	prompts chan struct{} // cap 1: other prompts are pending, or a window is wanted
	state   chan struct{} // cap 1: something else is in force
	history chan struct{} // cap 1: the journal has other entries
}

// Serve serves op to the windows process on the other end of r and w until that ends or [Session.Close] is called.
// The other end must be of the same version.
func Serve(r io.ReadCloser, w io.WriteCloser, op Operator, version string, log *slog.Logger) *Session {
	s := &Session{
		read: r, ready: make(chan struct{}), done: make(chan struct{}),
		prompts: make(chan struct{}, 1), state: make(chan struct{}, 1), history: make(chan struct{}, 1),
	}
	table := methods(op)
	table[methodHello] = withCode(handler.NewPos(func(_ context.Context, windows string) error {
		if windows != version {
			log.Error("the windows are of another version", "nod-desktop", version, "nod-dialogs", windows)
			return ErrVersion
		}
		return nil
	}, "version"))
	ready, prompts := sync.OnceFunc(func() { close(s.ready) }), table[methodPrompts]
	table[methodPrompts] = func(ctx context.Context, r *jrpc2.Request) (any, error) {
		ready()
		return prompts(ctx, r)
	}
	s.server = jrpc2.NewServer(table, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: 16,
		Logger: func(text string) { log.Debug("operator", "text", text) },
	})
	s.server.Start(channel.Line(r, w))
	go func() {
		_ = s.server.Wait() // how it ended is for the process's exit to say
		_ = r.Close()       // nobody reads any more
		close(s.done)
	}()
	go s.push()
	return s
}

// methods are everything that the operator API offers.
func methods(op Operator) handler.Map {
	table := handler.Map{
		methodPrompts: handler.NewPos(op.Prompts, "known"),
		methodAnswer: handler.NewPos(func(ctx context.Context, a sentAnswer) error {
			return op.Answer(ctx, a.received(time.Now()))
		}, "answer"),
		methodSaveDraft:    handler.NewPos(op.SaveDraft, "id", "draft"),
		methodSnooze:       handler.NewPos(op.Snooze, "id", "for"),
		methodReport:       handler.NewPos(op.Report, "screen"),
		methodState:        handler.New(op.State),
		methodReplace:      handler.NewPos(op.Replace, "base", "next"),
		methodSettleHeld:   handler.NewPos(op.SettleHeld, "held", "accept"),
		methodRevoke:       handler.NewPos(op.Revoke, "id"),
		methodSettle:       handler.NewPos(op.Settle, "undo", "back"),
		methodAcceptGrants: handler.New(op.AcceptGrants),
		methodTry:          handler.NewPos(op.Try, "call"),
		methodSuggest:      handler.New(op.Suggest),
		methodHistory:      handler.NewPos(op.History, "query"),
		methodEntry:        handler.NewPos(op.Entry, "seq"),
		methodFacets:       handler.New(op.Facets),
		methodInsights:     handler.NewPos(op.Insights, "since"),
		methodAway:         handler.New(op.Away),
		methodExport:       handler.NewPos(op.Export, "query", "path", "format"),
		methodVerify:       handler.New(op.Verify),
		methodAutostart:    handler.NewPos(op.SetAutostart, "on"),
		methodDesktop:      handler.New(op.Desktop),
		methodPeers:        handler.New(op.Peers),
		methodPair:         handler.NewPos(op.Pair, "key", "name"),
		methodUnpair:       handler.NewPos(op.Unpair, "name"),
		methodSetMay:       handler.NewPos(op.SetMay, "name", "may"),
		methodSettlePeers:  handler.NewPos(op.SettlePeers, "seen", "accept"),
		methodForget:       handler.NewPos(op.ForgetApprovals, "name"),
		methodInvite:       handler.NewPos(op.Invite, "name", "may"),
		methodWithdraw:     handler.New(op.WithdrawInvitation),
		methodTestRequest:  handler.New(op.TestRequest),
		methodWelcomed:     handler.New(op.Welcomed),
		methodCancel: handler.NewPos(func(ctx context.Context, id string) error {
			jrpc2.ServerFromContext(ctx).CancelRequest(id)
			return nil
		}, "id"),
	}
	for name, method := range table {
		table[name] = withCode(method)
	}
	return table
}

// withCode marks the errors that the other end tells apart.
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

// Ready is closed once the windows process has fetched what is pending, which it does when it can show windows.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Done is closed when the connection has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// PromptsChanged has the windows fetch what is pending. It never blocks.
func (s *Session) PromptsChanged() { Signal(s.prompts) }

// StateChanged has the windows fetch what is in force. It never blocks.
func (s *Session) StateChanged() { Signal(s.state) }

// HistoryChanged has the windows fetch the entries of the journal that they show. It never blocks.
func (s *Session) HistoryChanged() { Signal(s.history) }

// Signal has the goroutine that listens to c, which has room for one signal, look at what there is. It never blocks.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is about to look
	}
}

// push sends what the windows are told, one after the other: a process that has stopped reading holds up nobody else.
func (s *Session) push() {
	for {
		var method string
		select {
		case <-s.done:
			return
		case <-s.prompts:
			method = methodPromptsChanged
		case <-s.state:
			method = methodStateChanged
		case <-s.history:
			method = methodHistoryChanged
		}
		if s.server.Notify(context.Background(), method, nil) != nil {
			return // the connection has ended
		}
	}
}

// Ping returns an error when the windows give no sign of life within patience, unless ctx or the connection ends first.
func (s *Session) Ping(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan struct{})
	go func() { // to send may block, too
		_, _ = s.server.Callback(ctx, methodPing, nil)
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	case <-s.done:
	case <-time.After(patience):
		return fmt.Errorf("the windows do not answer within %v", patience)
	}
	return nil
}

// Close ends the connection. It may wait for as long as the other process neither reads nor ends.
func (s *Session) Close() {
	_ = s.read.Close() // jrpc2's own Stop panics when it meets with a request
	<-s.done
}
