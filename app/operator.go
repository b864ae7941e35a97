package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
	"nod/ipc/operator"
	"nod/policy"
	"nod/policy/config"
)

// operatorAPI is what the person can do with the running program. It implements [operator.Operator]: what prompts
// need is the part of [windows], the rest is here.
type operatorAPI struct {
	*windows
	p *program
}

var _ operator.Operator = operatorAPI{}

// State implements [operator.Operator].
func (o operatorAPI) State(ctx context.Context) (operator.State, error) {
	store, where := o.p.store, o.p.server.Endpoint()
	s := operator.State{
		Config: store.Config(), Grants: store.Grants(), HeldGrants: store.HeldGrants(),
		Contacts: o.p.hooks.Contacts(), Shortcut: o.p.shortcut.Problem(), Undos: o.undos.all(),
		Journal: o.p.kept(ctx),
		About: operator.About{
			Version: o.p.opts.Version, URL: where.URL, Socket: where.Socket, Config: o.p.opts.ConfigPath, Log: o.p.logPath,
		},
	}
	s.Restart = s.Config.IPC != o.p.started.IPC || s.Config.Look.Language != o.p.started.Look.Language
	if err := store.Err(); err != nil {
		s.Problem = err.Error()
	}
	if held, isHeld := store.Held(); isHeld {
		s.Held = &held
	}
	on, err := o.p.autostart.Enabled()
	s.Autostart.On = on
	if err != nil {
		s.Autostart.Problem = err.Error()
	}
	return s, nil
}

// Snooze implements [operator.Operator].
func (o operatorAPI) Snooze(_ context.Context, id interact.ID, d time.Duration) error {
	err := o.p.broker.Snooze(id, d)
	if errors.Is(err, interact.ErrNotFound) {
		return operator.ErrGone
	}
	return err
}

// SettleHeld implements [operator.Operator].
func (o operatorAPI) SettleHeld(_ context.Context, held config.HeldChange, accept bool) error {
	if accept {
		return o.p.store.Accept(held)
	}
	return o.p.store.Undo(held)
}

// Revoke implements [operator.Operator].
func (o operatorAPI) Revoke(_ context.Context, id string) error {
	return o.changeGrants(o.p.store, operator.UndoRevoke, func() error {
		if id == "" {
			return o.p.store.RevokeAll()
		}
		return o.p.store.Revoke(id)
	})
}

// AcceptGrants implements [operator.Operator].
func (o operatorAPI) AcceptGrants(context.Context) error { return o.p.store.AcceptGrants() }

// Try implements [operator.Operator].
func (o operatorAPI) Try(_ context.Context, call policy.Call) (operator.Trial, error) {
	decision, steps := o.p.store.Explain(call)
	return operator.Trial{Decision: decision, Steps: steps, Parts: o.p.store.Offers(call).Parts}, nil
}

// SetAutostart implements [operator.Operator].
func (o operatorAPI) SetAutostart(_ context.Context, on bool) error {
	return o.p.autostart.Set(on)
}

// Desktop implements [operator.Operator].
func (o operatorAPI) Desktop(context.Context) (operator.Desktop, error) {
	notifications, _ := notificationService()
	return operator.Desktop{Tray: trayService(), Notifications: notifications}, nil
}

// TestRequest implements [operator.Operator].
func (o operatorAPI) TestRequest(ctx context.Context) (interact.Answer, error) {
	r, err := testRequest(lang.L("A test from nod itself. Nothing runs, whatever you answer."))
	if err != nil {
		return interact.Answer{}, err
	}
	return o.p.broker.Do(ctx, r)
}

// Welcomed implements [operator.Operator].
func (o operatorAPI) Welcomed(context.Context) error { return o.p.welcome.seen() }

// Replace implements [operator.Operator].
func (o operatorAPI) Replace(_ context.Context, base, next config.Config) error {
	deleted := slices.DeleteFunc(slices.Clone(base.Policy.Rules), func(r policy.Rule) bool {
		return slices.ContainsFunc(next.Policy.Rules, func(n policy.Rule) bool { return n.ID == r.ID })
	})
	if len(deleted) == 0 || len(next.Policy.Rules) >= len(base.Policy.Rules) { // renamed, at most
		return o.p.store.Replace(base, next)
	}
	back, err := o.p.store.ReplaceUndoably(base, next)
	if err == nil {
		o.undos.add(operator.Undo{Kind: operator.UndoRule, Text: deleted[0].ID}, o.undoFor(), back)
	}
	return err
}
