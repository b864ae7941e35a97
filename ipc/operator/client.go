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

func (c *Client) Close() error { return c.rpc.Close() }

// do calls a method that returns nothing.
func (c *Client) do(ctx context.Context, method string, params ...any) error {
	_, err := get[any](ctx, c, method, params...)
	return err
}

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

// The methods of [Operator].

func (c *Client) Prompts(ctx context.Context, known map[interact.ID]int) (Pending, error) {
	return get[Pending](ctx, c, "Prompts", known)
}

func (c *Client) Answer(ctx context.Context, a Answer) error {
	return c.do(ctx, "Answer", a.sent(time.Now()))
}

func (c *Client) SaveDraft(ctx context.Context, id interact.ID, draft []byte) error {
	return c.do(ctx, "SaveDraft", id, draft)
}

func (c *Client) Snooze(ctx context.Context, id interact.ID, d time.Duration) error {
	return c.do(ctx, "Snooze", id, d)
}

func (c *Client) Report(ctx context.Context, s Screen) error { return c.do(ctx, "Report", s) }

func (c *Client) State(ctx context.Context) (State, error) { return get[State](ctx, c, "State") }

func (c *Client) Replace(ctx context.Context, base, next config.Config) error {
	return c.do(ctx, "Replace", base, next)
}

func (c *Client) SettleHeld(ctx context.Context, held config.HeldChange, accept bool) error {
	return c.do(ctx, "SettleHeld", held, accept)
}

func (c *Client) Revoke(ctx context.Context, id string) error { return c.do(ctx, "Revoke", id) }

func (c *Client) Undo(ctx context.Context, id int) error { return c.do(ctx, "Undo", id) }

func (c *Client) AcceptGrants(ctx context.Context) error { return c.do(ctx, "AcceptGrants") }

func (c *Client) Try(ctx context.Context, call policy.Call) (Trial, error) {
	return get[Trial](ctx, c, "Try", call)
}

func (c *Client) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	return get[[]policy.Suggestion](ctx, c, "Suggest")
}

func (c *Client) History(ctx context.Context, q history.Query) (history.Page, error) {
	return get[history.Page](ctx, c, "History", q)
}

func (c *Client) Entry(ctx context.Context, seq int64) (history.Entry, error) {
	return get[history.Entry](ctx, c, "Entry", seq)
}

func (c *Client) Facets(ctx context.Context) (history.Facets, error) {
	return get[history.Facets](ctx, c, "Facets")
}

func (c *Client) Insights(ctx context.Context, since time.Time) (history.Insights, error) {
	return get[history.Insights](ctx, c, "Insights", since)
}

func (c *Client) Away(ctx context.Context) (history.Away, error) {
	return get[history.Away](ctx, c, "Away")
}

func (c *Client) Export(ctx context.Context, q history.Query, path string, format history.Format) (int, error) {
	return get[int](ctx, c, "Export", q, path, format)
}

func (c *Client) Verify(ctx context.Context) (Verified, error) {
	return get[Verified](ctx, c, "Verify")
}

func (c *Client) SetAutostart(ctx context.Context, on bool) error {
	return c.do(ctx, "SetAutostart", on)
}

func (c *Client) Desktop(ctx context.Context) (Desktop, error) {
	return get[Desktop](ctx, c, "Desktop")
}

func (c *Client) Peers(ctx context.Context) (Peers, error) { return get[Peers](ctx, c, "Peers") }

func (c *Client) Pair(ctx context.Context, key remote.Key, role remote.Role, name string) error {
	return c.do(ctx, "Pair", key, role, name)
}

func (c *Client) Unpair(ctx context.Context, name string) error { return c.do(ctx, "Unpair", name) }

func (c *Client) SetMay(ctx context.Context, name string, may remote.May) error {
	return c.do(ctx, "SetMay", name, may)
}

func (c *Client) SettlePeers(ctx context.Context, seen []remote.Peer, accept bool) error {
	return c.do(ctx, "SettlePeers", seen, accept)
}

func (c *Client) ForgetApprovals(ctx context.Context, name string) error {
	return c.do(ctx, "ForgetApprovals", name)
}

func (c *Client) Invite(ctx context.Context, name string, may remote.May) (Invitation, error) {
	return get[Invitation](ctx, c, "Invite", name, may)
}

func (c *Client) WithdrawInvitation(ctx context.Context) error {
	return c.do(ctx, "WithdrawInvitation")
}

func (c *Client) TestRequest(ctx context.Context) (interact.Answer, error) {
	return get[interact.Answer](ctx, c, "TestRequest")
}

func (c *Client) Welcomed(ctx context.Context) error { return c.do(ctx, "Welcomed") }
