package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"nod/interact"
	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/book"
	"nod/ipc/remote/cluster"
	"nod/ipc/remote/command"
	"nod/ipc/remote/session"
)

// deskKeyName is the file with the keys of this desk, beside the list of its peers.
const deskKeyName = "desk.key"

// openMachines reads who is paired with this desk. Its lines do not run yet.
func (p *program) openMachines() error {
	path, err := book.DefaultPath()
	if err != nil {
		return err
	}
	p.book = book.Open(path, p.store.SealKey())
	if _, err := p.book.Problem(); err != nil {
		p.log.Warn("nothing that was paired counts", "err", err)
	}
	if p.identity, err = remote.LoadIdentity(filepath.Join(filepath.Dir(path), deskKeyName)); err != nil {
		p.log.Error("this desk has no keys: it reaches no machine", "err", err)
	}
	p.machines = newMachines(machinesConfig{
		log: p.log, name: deskName(p.identity), seal: p.store.SealKey(), book: p.book,
		broker: func() *interact.Broker { return p.broker }, prompter: p.presence, silences: p.presence.silences,
		notify: p.notifier.Notify, settle: p.journal.Settle, policy: p.remotePolicy,
		history: func() int64 { return int64(p.store.Config().History.MaxSize) * 1_000_000 }, say: p.say, dial: p.dial,
	})
	return nil
}

// deskName is what other desks call this one: its machine's name and the first word of its fingerprint, because two
// machines may have one name.
func deskName(own *remote.Identity) string {
	if own == nil {
		return hostName()
	}
	word, _, _ := strings.Cut(own.Key().Fingerprint(), " ")
	return hostName() + " " + word
}

// hostName is what the person knows this machine by.
func hostName() string {
	host, err := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	if err != nil || len(host) > 30 || book.CheckName(host) != nil {
		return "desk"
	}
	return host
}

// dial makes a line.
func (p *program) dial(spec lineSpec, desk remote.Desk) (remote.Line, error) {
	if p.identity == nil {
		return nil, errors.New("this desk has no keys: see the log")
	}
	log, changed := p.log.With("line", spec.name()), func() { operator.Signal(p.machines.changed) }
	if spec.name() == operator.NATSLine {
		carrier := cluster.NewDesk(cluster.Config(spec.nats), p.identity.Key(), p.machines.keys, log)
		return session.NewLine(p.identity, desk, carrier, log, changed), nil
	}
	run, err := command.Command(spec.machine, command.RelayArgs(p.identity.Key())...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.name(), err)
	}
	return session.NewLine(p.identity, desk, command.NewCarrier(run, log, changed), log, changed), nil
}

// remotePolicy is what machines apply. While the policy file is broken, or what another program has made of it is held
// back, they ask about everything that it does not deny.
func (p *program) remotePolicy() remote.Policy {
	s := p.store.State()
	told := remote.Policy{
		Policy: s.Config.Policy.Clone(), Timeout: s.Config.Prompt.Timeout, AskMore: s.Config.Agents.AskMore,
	}
	if s.Err != nil || s.Held != nil {
		told.Policy.AskEverything = true
	}
	return told
}

// runMachines keeps the lines to machines until ctx ends.
func (p *program) runMachines(ctx context.Context) {
	changes, stop := p.store.Changes()
	defer stop()
	peers, end := p.book.Changes()
	defer end()
	if _, err := p.book.Problem(); err != nil {
		p.say(interact.Warning, lang.L("Another program changed the list of what is paired with nod, so nothing is. "+
			"Accept the change or start anew in nod's settings."))
		p.showSettings()
	}
	p.machines.keepLines(ctx, specs(p.store.Config().Remote))
	var published time.Time
	publish := time.After(0)
	for {
		select {
		case <-publish:
			p.publishPeers()
			published, publish = time.Now(), nil
			continue
		case <-ctx.Done():
			p.machines.runs.Wait()
			if err := operator.Unpublish(); err != nil {
				p.log.Warn("nod machines reads what is past", "err", err)
			}
			return
		case <-changes:
			p.machines.keepLines(ctx, specs(p.store.Config().Remote))
			p.machines.push()
		case <-peers:
			p.windows.Changed()
		case <-p.machines.changed:
			p.refresh()
			p.windows.Changed()
		case <-p.machines.looks():
			p.windows.Changed()
		}
		if publish == nil {
			publish = time.After(time.Until(published.Add(publishPace)))
		}
	}
}

// publishPace is how often at most nod machines is told how the peers are: requests may come and go by the hundred.
const publishPace = time.Second

// publishPeers has nod machines know how the peers are.
func (p *program) publishPeers() {
	peers, err := operatorAPI{p.windows, p}.Peers(p.ctx)
	if err == nil {
		err = operator.Publish(peers)
	}
	if err != nil {
		p.log.Warn("nod machines does not know how the machines are", "err", err)
	}
}

// Peers implements [operator.Operator].
func (o operatorAPI) Peers(context.Context) (operator.Peers, error) {
	all := operator.Peers{Joining: append(o.p.devices.asking(), o.p.machines.asking()...)}
	if o.p.identity != nil {
		all.Desk = o.p.identity.Key()
		all.Fingerprint = all.Desk.Fingerprint()
	}
	held, err := o.p.book.Problem()
	if err != nil {
		all.Problem, all.Held = err.Error(), held
	}
	for _, peer := range o.p.book.Peers() {
		one := o.p.machines.peer(peer)
		if peer.Role == remote.RoleDevice {
			one.Up = o.p.devices.isNear(peer)
		}
		all.Peers = append(all.Peers, one)
	}
	all.Phone = o.p.devices.phone()
	all.Lines = o.p.machines.list()
	return all, nil
}

// Pair implements [operator.Operator].
func (o operatorAPI) Pair(_ context.Context, key remote.Key, name string) error {
	if key.Check() != nil { // as of a device
		return o.p.devices.pair(key, name)
	}
	return o.p.machines.pair(key, name)
}

// Unpair implements [operator.Operator].
func (o operatorAPI) Unpair(_ context.Context, name string) error {
	peer, err := o.p.book.Remove(name)
	if peer.Name != "" {
		o.p.machines.revoked(peer)
	}
	return err
}

// SetMay implements [operator.Operator].
func (o operatorAPI) SetMay(_ context.Context, name string, may remote.May) error {
	return o.p.book.SetMay(name, may)
}

// SettlePeers implements [operator.Operator].
func (o operatorAPI) SettlePeers(_ context.Context, seen []remote.Peer, accept bool) error {
	return o.p.machines.settlePeers(seen, accept)
}

// ForgetApprovals implements [operator.Operator].
func (o operatorAPI) ForgetApprovals(ctx context.Context, name string) error {
	return o.p.machines.forget(ctx, name)
}

// Invite implements [operator.Operator].
func (o operatorAPI) Invite(_ context.Context, name string, may remote.May) (operator.Invitation, error) {
	return o.p.devices.invite(name, may)
}

// WithdrawInvitation implements [operator.Operator].
func (o operatorAPI) WithdrawInvitation(context.Context) error {
	o.p.devices.withdrawInvitation()
	return nil
}
