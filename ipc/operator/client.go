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
	"nod/sandbox/snapshot"
)

// Events are the tray process's calls to the windows. None may block, and all but Ping are called sequentially.
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

// Connect connects this process, which has this version, to the tray process at the other end of r and w.
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
	return c.do(ctx, "Answer", a)
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

func (c *Client) Pause(ctx context.Context, p Pause) error { return c.do(ctx, "Pause", p) }

func (c *Client) SettleHeld(ctx context.Context, held config.HeldChange, accept bool) error {
	return c.do(ctx, "SettleHeld", held, accept)
}

func (c *Client) Revoke(ctx context.Context, id string) error { return c.do(ctx, "Revoke", id) }

func (c *Client) Undo(ctx context.Context, id int) error { return c.do(ctx, "Undo", id) }

func (c *Client) AcceptGrants(ctx context.Context) error { return c.do(ctx, "AcceptGrants") }

func (c *Client) Suggest(ctx context.Context) ([]policy.Suggestion, error) {
	return get[[]policy.Suggestion](ctx, c, "Suggest")
}

func (c *Client) History(ctx context.Context, q history.Query) (history.Page, error) {
	return get[history.Page](ctx, c, "History", q)
}

func (c *Client) Entry(ctx context.Context, seq int64) (history.Entry, error) {
	return get[history.Entry](ctx, c, "Entry", seq)
}

func (c *Client) Changed(ctx context.Context, seq int64) (Changed, error) {
	return get[Changed](ctx, c, "Changed", seq)
}

func (c *Client) Diff(ctx context.Context, seq int64, path string) (Diff, error) {
	return get[Diff](ctx, c, "Diff", seq, path)
}

func (c *Client) PlanTakeBack(ctx context.Context, seq int64) (TakeBack, error) {
	return get[TakeBack](ctx, c, "PlanTakeBack", seq)
}

func (c *Client) TakeBack(ctx context.Context, seq int64, digest string) ([]snapshot.Conflict, error) {
	return get[[]snapshot.Conflict](ctx, c, "TakeBack", seq, digest)
}

func (c *Client) Facets(ctx context.Context) (history.Facets, error) {
	return get[history.Facets](ctx, c, "Facets")
}

func (c *Client) SetAutostart(ctx context.Context, on bool) error {
	return c.do(ctx, "SetAutostart", on)
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

// maxTries limits the attempts at a change while other changes are made to the configuration.
const maxTries = 5

// Change applies f to the configuration, starting from base, and tries again if another change is made meanwhile. It
// returns the new configuration. It fails with [config.ErrChanged] after maxTries attempts.
func Change(ctx context.Context, o Operator, base config.Config, f func(*config.Config) error) (config.Config, error) {
	err := error(config.ErrChanged)
	for range maxTries {
		next := base.Clone()
		if err := f(&next); err != nil {
			return base, err
		}
		if err = o.Replace(ctx, base, next); err == nil {
			return next, nil
		}
		if !errors.Is(err, config.ErrChanged) {
			break
		}
		s, err := o.State(ctx)
		if err != nil {
			return base, err
		}
		base = s.Config
	}
	return base, err
}
