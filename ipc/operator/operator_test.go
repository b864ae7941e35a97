package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"nod/api"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/remote"
	"nod/policy"
	"nod/policy/config"
	"nod/sandbox/snapshot"
)

// recorder notes how it was called last, and fails with err.
type recorder struct {
	got []any
	err error
}

func (r *recorder) note(got ...any) error {
	r.got = got
	return r.err
}

func (r *recorder) Prompts(_ context.Context, known map[interact.ID]int) (Pending, error) {
	return Pending{Prompts: []Prompt{{ID: "b", Revision: 2}}}, r.note("Prompts", known)
}

func (r *recorder) Answer(_ context.Context, a Answer) error { return r.note("Answer", a) }

func (r *recorder) Report(_ context.Context, s Screen) error { return r.note("Report", s) }

func (r *recorder) State(context.Context) (State, error) {
	return State{Problem: "broken"}, r.note("State")
}

func (r *recorder) Replace(_ context.Context, base, next config.Config) error {
	return r.note("Replace", base.Look.Theme, next.Look.Theme)
}

func (r *recorder) Pause(_ context.Context, p Pause) error { return r.note("Pause", p) }

func (r *recorder) SettleHeld(_ context.Context, held config.HeldChange, accept bool) error {
	return r.note("SettleHeld", held, accept)
}

func (r *recorder) Revoke(_ context.Context, id string) error { return r.note("Revoke", id) }

func (r *recorder) Undo(_ context.Context, id int) error {
	return r.note("Undo", id)
}

func (r *recorder) AcceptGrants(context.Context) error { return r.note("AcceptGrants") }

func (r *recorder) Suggest(context.Context) ([]policy.Suggestion, error) {
	return []policy.Suggestion{{Folders: []string{"/srv"}}}, r.note("Suggest")
}

func (r *recorder) SaveDraft(_ context.Context, id interact.ID, draft []byte) error {
	return r.note("SaveDraft", id, string(draft))
}

func (r *recorder) Snooze(_ context.Context, id interact.ID, d time.Duration) error {
	return r.note("Snooze", id, d)
}

func (r *recorder) History(_ context.Context, q history.Query) (history.Page, error) {
	return history.Page{Lines: []history.Line{{Seq: 7, Gist: "make"}}, More: true}, r.note("History", q)
}

func (r *recorder) Entry(_ context.Context, seq int64) (history.Entry, error) {
	return someEntry, r.note("Entry", seq)
}

func (r *recorder) Changed(_ context.Context, seq int64) (Changed, error) {
	return Changed{Files: []snapshot.Change{{Path: "a", Kind: snapshot.Added}}}, r.note("Changed", seq)
}

func (r *recorder) Diff(_ context.Context, seq int64, path string) (Diff, error) {
	return Diff{Text: []byte("+\xff")}, r.note("Diff", seq, path)
}

func (r *recorder) PlanTakeBack(_ context.Context, seq int64) (TakeBack, error) {
	return TakeBack{Digest: "ab"}, r.note("PlanTakeBack", seq)
}

func (r *recorder) TakeBack(_ context.Context, seq int64, digest string) ([]snapshot.Conflict, error) {
	return []snapshot.Conflict{{Path: "a", Why: "it has"}}, r.note("TakeBack", seq, digest)
}

func (r *recorder) Facets(context.Context) (history.Facets, error) {
	return history.Facets{Tools: []string{"Bash"}}, r.note("Facets")
}

func (r *recorder) SetAutostart(_ context.Context, on bool) error { return r.note("SetAutostart", on) }

func (r *recorder) Peers(context.Context) (Peers, error) {
	return Peers{Fingerprint: "able baker"}, r.note("Peers")
}

func (r *recorder) Pair(_ context.Context, key remote.Key, role remote.Role, name string) error {
	return r.note("Pair", key, role, name)
}

func (r *recorder) Unpair(_ context.Context, name string) error { return r.note("Unpair", name) }

func (r *recorder) SetMay(_ context.Context, name string, may remote.May) error {
	return r.note("SetMay", name, may)
}

func (r *recorder) SettlePeers(_ context.Context, seen []remote.Peer, accept bool) error {
	return r.note("SettlePeers", seen, accept)
}

func (r *recorder) ForgetApprovals(_ context.Context, name string) error {
	return r.note("ForgetApprovals", name)
}

func (r *recorder) Invite(_ context.Context, name string, may remote.May) (Invitation, error) {
	return Invitation{URL: "https://192.0.2.1/"}, r.note("Invite", name, may)
}

func (r *recorder) WithdrawInvitation(context.Context) error { return r.note("WithdrawInvitation") }

func (r *recorder) TestRequest(context.Context) (interact.Answer, error) {
	return interact.Answer{Outcome: api.Denied}, r.note("TestRequest")
}

func (r *recorder) Welcomed(context.Context) error { return r.note("Welcomed") }

// someEntry is an entry whose input must arrive byte for byte.
var someEntry = history.Entry{
	Line: history.Line{Seq: 7, Kind: api.KindApprove, Outcome: api.Allowed},
	Record: interact.Record{Request: interact.Request{
		ID: "a", Body: interact.Approve{Tool: "Bash", Input: []byte("{ \"command\": \"\xff\" }")},
	}},
}

// connect connects a client with an operator.
func connect(t *testing.T, o Operator, version string) (*Client, error) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	s := Serve(fromClient, toClient, o, "1", slog.New(slog.DiscardHandler))
	c, err := Connect(t.Context(), fromServer, toServer, version, Events{})
	t.Cleanup(func() {
		if err == nil {
			_ = c.Close()
		}
		s.Close()
	})
	return c, err
}

func TestEveryMethodReachesTheOperator(t *testing.T) {
	o := &recorder{}
	c, err := connect(t, o, "1")
	if err != nil {
		t.Fatal(err)
	}
	var dark, light config.Config
	dark.Look.Theme, light.Look.Theme = "dark", "light"
	held := config.HeldChange{Before: "a", After: "b"}
	answer := Answer{ID: "a", Answer: interact.Answer{Outcome: api.Denied}, Digest: "d"}
	query := history.Query{Text: "make", Since: time.Unix(1, 0).UTC(), Before: 9}
	nothing := func(err error) (any, error) { return nil, err }
	tests := []struct {
		call   func(ctx context.Context) (any, error)
		got    []any
		result any
	}{
		{func(ctx context.Context) (any, error) { return c.Prompts(ctx, map[interact.ID]int{"a": 1}) },
			[]any{"Prompts", map[interact.ID]int{"a": 1}}, Pending{Prompts: []Prompt{{ID: "b", Revision: 2}}}},
		{func(ctx context.Context) (any, error) { return nothing(c.Answer(ctx, answer)) }, []any{"Answer", answer}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.SaveDraft(ctx, "a", []byte("half a"))) },
			[]any{"SaveDraft", interact.ID("a"), "half a"}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Snooze(ctx, "a", time.Minute)) },
			[]any{"Snooze", interact.ID("a"), time.Minute}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Report(ctx, Screen{Open: true})) },
			[]any{"Report", Screen{Open: true}}, nil},
		{func(ctx context.Context) (any, error) { return c.State(ctx) }, []any{"State"}, State{Problem: "broken"}},
		{func(ctx context.Context) (any, error) { return nothing(c.Replace(ctx, dark, light)) },
			[]any{"Replace", "dark", "light"}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.SettleHeld(ctx, held, true)) },
			[]any{"SettleHeld", held, true}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Revoke(ctx, "")) }, []any{"Revoke", ""}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Pause(ctx, Pause{On: true})) },
			[]any{"Pause", Pause{On: true}}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Undo(ctx, 7)) }, []any{"Undo", 7}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.AcceptGrants(ctx)) }, []any{"AcceptGrants"}, nil},
		{func(ctx context.Context) (any, error) { return c.Suggest(ctx) }, []any{"Suggest"},
			[]policy.Suggestion{{Folders: []string{"/srv"}}}},
		{func(ctx context.Context) (any, error) { return c.History(ctx, query) }, []any{"History", query},
			history.Page{Lines: []history.Line{{Seq: 7, Gist: "make"}}, More: true}},
		{func(ctx context.Context) (any, error) { return c.Entry(ctx, 7) }, []any{"Entry", int64(7)}, someEntry},
		{func(ctx context.Context) (any, error) { return c.Changed(ctx, 7) }, []any{"Changed", int64(7)},
			Changed{Files: []snapshot.Change{{Path: "a", Kind: snapshot.Added}}}},
		{func(ctx context.Context) (any, error) { return c.Diff(ctx, 7, "a") }, []any{"Diff", int64(7), "a"},
			Diff{Text: []byte("+\xff")}},
		{func(ctx context.Context) (any, error) { return c.PlanTakeBack(ctx, 7) }, []any{"PlanTakeBack", int64(7)},
			TakeBack{Digest: "ab"}},
		{func(ctx context.Context) (any, error) { return c.TakeBack(ctx, 7, "ab") }, []any{"TakeBack", int64(7), "ab"},
			[]snapshot.Conflict{{Path: "a", Why: "it has"}}},
		{func(ctx context.Context) (any, error) { return c.Facets(ctx) }, []any{"Facets"},
			history.Facets{Tools: []string{"Bash"}}},
		{func(ctx context.Context) (any, error) { return nothing(c.SetAutostart(ctx, true)) },
			[]any{"SetAutostart", true}, nil},
		{func(ctx context.Context) (any, error) { return c.Peers(ctx) }, []any{"Peers"}, Peers{Fingerprint: "able baker"}},
		{func(ctx context.Context) (any, error) {
			return nothing(c.Pair(ctx, remote.Key{Sign: "U1"}, remote.RoleDesk, "web"))
		}, []any{"Pair", remote.Key{Sign: "U1"}, remote.RoleDesk, "web"}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.Unpair(ctx, "web")) }, []any{"Unpair", "web"}, nil},
		{func(ctx context.Context) (any, error) {
			return nothing(c.SetMay(ctx, "tel", remote.May{Questions: true}))
		},
			[]any{"SetMay", "tel", remote.May{Questions: true}}, nil},
		{func(ctx context.Context) (any, error) {
			return nothing(c.SettlePeers(ctx, []remote.Peer{{Name: "web"}}, true))
		},
			[]any{"SettlePeers", []remote.Peer{{Name: "web"}}, true}, nil},
		{func(ctx context.Context) (any, error) { return nothing(c.ForgetApprovals(ctx, "web")) },
			[]any{"ForgetApprovals", "web"}, nil},
		{func(ctx context.Context) (any, error) {
			return c.Invite(ctx, "tel", remote.May{Approvals: policy.Write})
		},
			[]any{"Invite", "tel", remote.May{Approvals: policy.Write}}, Invitation{URL: "https://192.0.2.1/"}},
		{func(ctx context.Context) (any, error) { return nothing(c.WithdrawInvitation(ctx)) },
			[]any{"WithdrawInvitation"}, nil},
		{func(ctx context.Context) (any, error) { return c.TestRequest(ctx) }, []any{"TestRequest"},
			interact.Answer{Outcome: api.Denied}},
		{func(ctx context.Context) (any, error) { return nothing(c.Welcomed(ctx)) }, []any{"Welcomed"}, nil},
	}
	for _, tt := range tests {
		o.err = nil
		result, err := tt.call(t.Context())
		if err != nil || !reflect.DeepEqual(o.got, tt.got) || !reflect.DeepEqual(result, tt.result) {
			t.Errorf("%v, %v: called %v and returned %+v, want %v and %+v", tt.got[0], err, o.got, result, tt.got, tt.result)
		}
		for _, want := range []error{ErrGone, ErrChanged, config.ErrChanged} {
			o.err = fmt.Errorf("in vain: %w", want)
			if _, err := tt.call(t.Context()); !errors.Is(err, want) {
				t.Errorf("%v: %v, want %v", tt.got[0], err, want)
			}
		}
		o.err = errors.New("disk on fire")
		if _, err := tt.call(t.Context()); err == nil || err.Error() != "disk on fire" {
			t.Errorf("%v: %v, want what went wrong", tt.got[0], err)
		}
	}
}

// The tray process must not go down with a connection that it closes while a request comes in.
func TestCloseMeetsWithARequest(t *testing.T) {
	for range 500 {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		s := Serve(fromClient, toClient, &recorder{}, "1", slog.New(slog.DiscardHandler))
		var client sync.WaitGroup
		client.Go(func() {
			for {
				if _, err := io.WriteString(toServer, `{"jsonrpc":"2.0","id":1,"method":"desktop"}`+"\n"); err != nil {
					return
				}
			}
		})
		client.Go(func() { _, _ = io.Copy(io.Discard, fromServer) })
		s.Close()
		client.Wait()
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	if c, err := connect(t, &recorder{}, "2"); !errors.Is(err, ErrVersion) {
		t.Errorf("connected: %v, error %v", c, err)
	}
}

// How long a request waits is the same on both sides, whatever their clocks say.
func TestTimesSurviveAnotherClock(t *testing.T) {
	here := time.Now()
	there := here.Add(-37 * time.Hour)
	for _, snoozed := range []time.Time{{}, here.Add(4 * time.Minute)} {
		r := interact.Request{
			Created: here.Add(-time.Minute), Deadline: here.Add(5 * time.Minute), Until: here.Add(9 * time.Minute),
			Snoozed: snoozed,
		}
		got := interact.TimesOf(r, here).Of(interact.Request{}, there)
		if there.Sub(got.Created) != time.Minute || got.Deadline.Sub(there) != 5*time.Minute ||
			got.Until.Sub(there) != 9*time.Minute || got.Snoozed.IsZero() != snoozed.IsZero() ||
			!snoozed.IsZero() && got.Snoozed.Sub(there) != 4*time.Minute {
			t.Errorf("%+v", got)
		}
	}
}
