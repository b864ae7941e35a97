package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"nod/interact"
	"nod/interact/history"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/config"
)

// Events are the tray process's calls to the windows. None may block, and all but Ping are called one after the other.
type Events struct {
	PromptsChanged func()                          // the pending prompts changed, or a window is wanted
	StateChanged   func()                          // the state changed
	HistoryChanged func()                          // the journal changed
	Ping           func(ctx context.Context) error // returns once the windows have handled an event
}

// Client is the windows process's end of the connection. It implements [Operator].
type Client struct {
	rpc  *jrpc2.Client
	done chan struct{}
}

var _ Operator = (*Client)(nil)

// Connect connects this process, of that version, to the tray process at the other end of r and w.
func Connect(ctx context.Context, r io.Reader, w io.WriteCloser, version string, e Events) (*Client, error) {
	c := &Client{done: make(chan struct{})}
	c.rpc = jrpc2.NewClient(channel.Line(r, w), &jrpc2.ClientOptions{
		OnNotify: func(r *jrpc2.Request) {
			switch r.Method() {
			case methodPromptsChanged:
				e.PromptsChanged()
			case methodStateChanged:
				e.StateChanged()
			case methodHistoryChanged:
				e.HistoryChanged()
			}
		},
		OnCallback: func(ctx context.Context, _ *jrpc2.Request) (any, error) { return nil, e.Ping(ctx) },
		OnCancel: func(rpc *jrpc2.Client, r *jrpc2.Response) {
			_ = rpc.Notify(context.Background(), methodCancel, []string{r.ID()}) // the tray process would continue in vain
		},
		OnStop: func(_ *jrpc2.Client, err error) {
			if err != nil && !errors.Is(err, io.EOF) {
				slog.Warn("the connection to nod-desktop broke", "err", err)
			}
			close(c.done)
		},
	})
	if err := c.do(ctx, methodHello, version); err != nil {
		return nil, errors.Join(fmt.Errorf("introduce the windows to nod: %w", err), c.Close())
	}
	return c, nil
}

// Done is closed when the connection has ended: the tray process is gone, or told the windows to end.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection.
func (c *Client) Close() error { return c.rpc.Close() }

// do calls a method that returns nothing.
func (c *Client) do(ctx context.Context, method string, params ...any) error {
	_, err := get[any](ctx, c, method, params...)
	return err
}

// get calls a method.
func get[T any](ctx context.Context, c *Client, method string, params ...any) (result T, err error) {
	var sent any
	if len(params) > 0 {
		sent = params
	}
	err = c.rpc.CallResult(ctx, method, sent, &result)
	failed, isTold := errors.AsType[*jrpc2.Error](err)
	if !isTold {
		return result, err
	}
	if known := coded[failed.Code]; known != nil {
		return result, known
	}
	return result, errors.New(failed.Message)
}

// Prompts implements [Operator].
func (c *Client) Prompts(ctx context.Context, known map[interact.ID]int) (Pending, error) {
	return get[Pending](ctx, c, methodPrompts, known)
}

// Answer implements [Operator].
func (c *Client) Answer(ctx context.Context, a Answer) error {
	return c.do(ctx, methodAnswer, a.sent(time.Now()))
}

// SaveDraft implements [Operator].
func (c *Client) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	return c.do(ctx, methodSaveDraft, id, draft)
}

// Snooze implements [Operator].
func (c *Client) Snooze(ctx context.Context, id interact.ID, d time.Duration) error {
	return c.do(ctx, methodSnooze, id, d)
}

// Report implements [Operator].
func (c *Client) Report(ctx context.Context, s Screen) error { return c.do(ctx, methodReport, s) }

// State implements [Operator].
func (c *Client) State(ctx context.Context) (State, error) { return get[State](ctx, c, methodState) }

// Replace implements [Operator].
func (c *Client) Replace(ctx context.Context, base, next config.Config) error {
	return c.do(ctx, methodReplace, base, next)
}

// SettleHeld implements [Operator].
func (c *Client) SettleHeld(ctx context.Context, held config.HeldChange, accept bool) error {
	return c.do(ctx, methodSettleHeld, held, accept)
}

// Revoke implements [Operator].
func (c *Client) Revoke(ctx context.Context, id string) error { return c.do(ctx, methodRevoke, id) }

// Undo implements [Operator].
func (c *Client) Undo(ctx context.Context, id int) error {
	return c.do(ctx, methodUndo, id)
}

// AcceptGrants implements [Operator].
func (c *Client) AcceptGrants(ctx context.Context) error { return c.do(ctx, methodAcceptGrants) }

// Try implements [Operator].
func (c *Client) Try(ctx context.Context, call policy.Call) (Trial, error) {
	return get[Trial](ctx, c, methodTry, call)
}

// Suggest implements [Operator].
func (c *Client) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	return get[[]policy.Suggestion](ctx, c, methodSuggest)
}

// History implements [Operator].
func (c *Client) History(ctx context.Context, q history.Query) (history.Page, error) {
	return get[history.Page](ctx, c, methodHistory, q)
}

// Entry implements [Operator].
func (c *Client) Entry(ctx context.Context, seq int64) (history.Entry, error) {
	return get[history.Entry](ctx, c, methodEntry, seq)
}

// Facets implements [Operator].
func (c *Client) Facets(ctx context.Context) (history.Facets, error) {
	return get[history.Facets](ctx, c, methodFacets)
}

// Insights implements [Operator].
func (c *Client) Insights(ctx context.Context, since time.Time) (history.Insights, error) {
	return get[history.Insights](ctx, c, methodInsights, since)
}

// Away implements [Operator].
func (c *Client) Away(ctx context.Context) (history.Away, error) {
	return get[history.Away](ctx, c, methodAway)
}

// Export implements [Operator].
func (c *Client) Export(ctx context.Context, q history.Query, path string, format history.Format) (int, error) {
	return get[int](ctx, c, methodExport, q, path, format)
}

// Verify implements [Operator].
func (c *Client) Verify(ctx context.Context) (Verified, error) {
	return get[Verified](ctx, c, methodVerify)
}

// SetAutostart implements [Operator].
func (c *Client) SetAutostart(ctx context.Context, on bool) error {
	return c.do(ctx, methodAutostart, on)
}

// Desktop implements [Operator].
func (c *Client) Desktop(ctx context.Context) (Desktop, error) {
	return get[Desktop](ctx, c, methodDesktop)
}

// Peers implements [Operator].
func (c *Client) Peers(ctx context.Context) (Peers, error) { return get[Peers](ctx, c, methodPeers) }

// Pair implements [Operator].
func (c *Client) Pair(ctx context.Context, key remote.Key, name string) error {
	return c.do(ctx, methodPair, key, name)
}

// Unpair implements [Operator].
func (c *Client) Unpair(ctx context.Context, name string) error { return c.do(ctx, methodUnpair, name) }

// SetMay implements [Operator].
func (c *Client) SetMay(ctx context.Context, name string, may remote.May) error {
	return c.do(ctx, methodSetMay, name, may)
}

// SettlePeers implements [Operator].
func (c *Client) SettlePeers(ctx context.Context, seen []remote.Peer, accept bool) error {
	return c.do(ctx, methodSettlePeers, seen, accept)
}

// ForgetApprovals implements [Operator].
func (c *Client) ForgetApprovals(ctx context.Context, name string) error {
	return c.do(ctx, methodForget, name)
}

// Invite implements [Operator].
func (c *Client) Invite(ctx context.Context, name string, may remote.May) (Invitation, error) {
	return get[Invitation](ctx, c, methodInvite, name, may)
}

// WithdrawInvitation implements [Operator].
func (c *Client) WithdrawInvitation(ctx context.Context) error {
	return c.do(ctx, methodWithdraw)
}

// TestRequest implements [Operator].
func (c *Client) TestRequest(ctx context.Context) (interact.Answer, error) {
	return get[interact.Answer](ctx, c, methodTestRequest)
}

// Welcomed implements [Operator].
func (c *Client) Welcomed(ctx context.Context) error { return c.do(ctx, methodWelcomed) }
