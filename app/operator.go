package app

import (
	"context"

	"fyne.io/fyne/v2/lang"

	"nod/app/asking"
	"nod/interact"
	"nod/interact/history"
	"nod/ipc/operator"
	"nod/policy/config"
	"nod/sandbox/snapshot"
)

// operatorAPI is what the user can do with the running program. It implements [operator.Operator]: [asking.Desk]
// handles requests, [contain.Runs] changed files, and this type the rest.
type operatorAPI struct {
	*asking.Desk
	changed
	archive
	p *program
}

// changed is what commands in the sandbox changed. Like archive it is an interface, so that no other method of its
// implementation hides one of the desk's.
type changed interface {
	Changed(ctx context.Context, seq int64) (operator.Changed, error)
	Diff(ctx context.Context, seq int64, path string) (operator.Diff, error)
	PlanTakeBack(ctx context.Context, seq int64) (operator.TakeBack, error)
	TakeBack(ctx context.Context, seq int64, digest string) ([]snapshot.Conflict, error)
}

// archive is the history that the user can look through.
type archive interface {
	Entry(ctx context.Context, seq int64) (history.Entry, error)
	Facets(ctx context.Context) (history.Facets, error)
}

var _ operator.Operator = operatorAPI{}

// State implements [operator.Operator].
func (o operatorAPI) State(ctx context.Context) (operator.State, error) {
	store, where := o.p.store, o.p.server.Endpoint()
	s := operator.State{
		Config: store.Config(), Grants: store.Grants(), HeldGrants: store.HeldGrants(),
		Contacts: o.p.hooks.Contacts(), Undos: o.Undos(),
		Pause:   o.Paused(),
		Journal: o.p.kept(ctx),
		About: operator.About{
			Version: o.p.opts.Version, URL: where.URL, Socket: where.Socket, Config: o.p.opts.ConfigPath, Log: o.p.logPath,
		},
	}
	s.Restart = s.Config.IPC != o.p.started.IPC || s.Config.Look.Language != o.p.started.Look.Language
	if why := o.p.noSandbox.Load(); why != nil {
		s.Sandbox = *why
	}
	if err := store.Err(); err != nil {
		s.Problem = err.Error()
	}
	if held, isHeld := store.Held(); isHeld {
		s.Held = &held
	}
	on, err := o.p.autostart.enabled()
	s.Autostart.On = on
	if err != nil {
		s.Autostart.Problem = err.Error()
	}
	return s, nil
}

// SettleHeld implements [operator.Operator].
func (o operatorAPI) SettleHeld(_ context.Context, held config.HeldChange, accept bool) error {
	if accept {
		return o.p.store.Accept(held)
	}
	return o.p.store.Undo(held)
}

// AcceptGrants implements [operator.Operator].
func (o operatorAPI) AcceptGrants(context.Context) error { return o.p.store.AcceptGrants() }

// SetAutostart implements [operator.Operator].
func (o operatorAPI) SetAutostart(_ context.Context, on bool) error {
	return o.p.autostart.turn(on)
}

// TestRequest implements [operator.Operator].
func (o operatorAPI) TestRequest(ctx context.Context) (interact.Answer, error) {
	return o.p.broker.Do(ctx, testRequest(lang.L("A test from nod itself. Nothing runs, whatever you answer.")))
}

// Welcomed implements [operator.Operator].
func (o operatorAPI) Welcomed(context.Context) error { return o.p.welcome.seen() }

// History implements [operator.Operator].
func (o operatorAPI) History(ctx context.Context, q history.Query) (history.Page, error) {
	return o.p.journal.Search(ctx, q)
}
