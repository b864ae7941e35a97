package asking

import (
	"cmp"
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
	"nod/ipc/remote/session"
)

// deskKeyName is the file with this desk's keys, next to the list of its peers.
const deskKeyName = "desk.key"

// openMachines prepares the lines to machines, with the keys in folder. It starts none.
func (d *Desk) openMachines(folder string, asks gate) {
	var err error
	if d.identity, err = remote.LoadIdentity(filepath.Join(folder, deskKeyName)); err != nil {
		d.log.Error("this desk has no keys: it can't connect to machines", "err", err)
	}
	d.machines = newMachines(machinesConfig{
		log: d.log, name: deskName(d.identity), book: d.book, journal: d.cfg.Journal, prompter: asks,
		silences: asks.silences, notify: d.notifier.notify, policy: d.remotePolicy,
		history: func() int64 { return int64(d.store.Config().History.MaxSize) * 1_000_000 }, say: d.Say, dial: d.dial,
	})
}

// deskName returns what other desks call this one: its machine's name and the first word of its fingerprint, because
// two machines may have the same name.
func deskName(own *remote.Identity) string {
	if own == nil {
		return hostName()
	}
	word, _, _ := strings.Cut(own.Key().Fingerprint(), " ")
	return hostName() + " " + word
}

// hostName returns the name by which the user knows this machine.
func hostName() string {
	host, err := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	if err != nil || len(host) > 30 || book.CheckName(host) != nil {
		return "desk"
	}
	return host
}

func (d *Desk) dial(spec lineSpec, desk remote.Desk) (remote.Line, error) {
	if d.identity == nil {
		return nil, errors.New("this desk has no keys: see the log")
	}
	log, changed := d.log.With("line", spec.name()), func() { d.machines.changed.Send() }
	if spec.name() == operator.NATSLine {
		carrier := cluster.NewDesk(spec.nats, d.identity.Key(), d.machines.keys, log)
		return session.NewLine(d.identity, desk, carrier, log, changed), nil
	}
	run, err := session.Command(spec.machine, d.identity.Key())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.name(), err)
	}
	return session.NewLine(d.identity, desk, session.NewCommandCarrier(run, log, changed), log, changed), nil
}

// remotePolicy returns the policy that machines apply. While the policy file is broken, or another program's change to
// it is held back, they ask about everything that it does not deny.
func (d *Desk) remotePolicy() remote.Policy {
	s := d.store.State()
	p := remote.Policy{
		Policy: s.Config.Policy.Clone(), Timeout: s.Config.Prompt.Timeout, AskMore: s.Config.Agents.AskMore,
	}
	if s.Err != nil || s.Held != nil {
		p.Policy.AskEverything = true
	}
	return p
}

func (d *Desk) runMachines(ctx context.Context) {
	changes, stop := d.store.Changes()
	defer stop()
	paired, end := d.book.Changes()
	defer end()
	if _, err := d.book.Problem(); err != nil {
		d.Say(interact.Warning, lang.L("Another program changed nod's list of pairings, so no pairing works. Accept the "+
			"change or start over in nod's settings."))
		d.Show(operator.View{Settings: true})
	}
	d.machines.keepLines(ctx, specs(d.store.Config().Remote))
	var published time.Time
	publish := time.After(0)
	for {
		select {
		case <-publish:
			d.publishPeers()
			published, publish = time.Now(), nil
			continue
		case <-ctx.Done():
			d.machines.runs.Wait()
			if err := operator.Unpublish(); err != nil {
				d.log.Warn("nod machines reads an outdated state", "err", err)
			}
			return
		case <-changes:
			d.machines.keepLines(ctx, specs(d.store.Config().Remote))
			d.machines.greet()
		case <-paired:
			d.windows.refetch()
		case <-d.machines.changed:
			d.Refresh()
			d.windows.refetch()
		case <-d.devices.changed:
			d.windows.refetch()
		case <-d.machines.looks():
			d.windows.refetch()
		}
		if publish == nil {
			publish = time.After(time.Until(published.Add(publishPace)))
		}
	}
}

// publishPace is the shortest time between two updates of the peers' state for nod machines: requests may come and go
// by the hundred.
const publishPace = time.Second

func (d *Desk) publishPeers() {
	peers, err := d.Peers(d.ctx)
	if err == nil {
		err = operator.Publish(peers)
	}
	if err != nil {
		d.log.Warn("nod machines can't show the machines", "err", err)
	}
}

// Peers implements [operator.Operator].
func (d *Desk) Peers(context.Context) (operator.Peers, error) {
	all := operator.Peers{Joining: append(d.devices.asking(), d.machines.asking()...)}
	if d.identity != nil {
		all.Desk = d.identity.Key()
		all.Fingerprint = all.Desk.Fingerprint()
	}
	held, err := d.book.Problem()
	if err != nil {
		all.Problem, all.Held = err.Error(), held
	}
	for _, peer := range d.book.Peers() {
		one := d.machines.peer(peer)
		if peer.Role == remote.RoleDevice {
			one.Up = d.devices.isNear(peer)
		}
		all.Peers = append(all.Peers, one)
	}
	all.Phone = d.devices.phone()
	all.Lines = d.machines.list()
	return all, nil
}

// Pair implements [operator.Operator].
func (d *Desk) Pair(_ context.Context, key remote.Key, role remote.Role, name string) error {
	if role == remote.RoleDevice {
		return d.devices.pair(key, name)
	}
	return d.machines.pair(key, role, name)
}

// Unpair implements [operator.Operator].
func (d *Desk) Unpair(_ context.Context, name string) error {
	peer, err := d.book.Remove(name)
	if peer.Name != "" {
		d.machines.revoked(peer)
	}
	return err
}

// SetMay implements [operator.Operator].
func (d *Desk) SetMay(_ context.Context, name string, may remote.May) error {
	return d.book.SetMay(name, may)
}

// SettlePeers implements [operator.Operator].
func (d *Desk) SettlePeers(_ context.Context, seen []remote.Peer, accept bool) error {
	if err := d.book.Settle(seen, accept); err != nil {
		return err
	}
	d.machines.greet()
	d.machines.changed.Send()
	return nil
}

// ForgetApprovals implements [operator.Operator].
func (d *Desk) ForgetApprovals(ctx context.Context, name string) error {
	peer, ok := d.book.Named(name)
	line := d.machines.lineTo(peer.Key)
	switch {
	case !ok || peer.Role != remote.RoleMachine:
		return fmt.Errorf("forget approvals on %q: %w", name, book.ErrUnknown)
	case line == nil:
		return fmt.Errorf("forget approvals on %s: %w", name, remote.ErrDown)
	}
	if err := line.Forget(ctx, peer.Key); err != nil {
		return fmt.Errorf("forget approvals on %s: %w", name, err)
	}
	return nil
}

// Invite implements [operator.Operator].
func (d *Desk) Invite(_ context.Context, name string, may remote.May) (operator.Invitation, error) {
	server, problem := d.devices.current()
	if server != nil {
		problem = server.Problem()
	}
	if _, isThere := d.book.Named(name); isThere {
		return operator.Invitation{}, fmt.Errorf("%q is already in use: pick another name", name)
	}
	_, changed := d.book.Problem()
	err := cmp.Or(changed, book.CheckName(name))
	switch {
	case err != nil:
		return operator.Invitation{}, err
	case problem != nil:
		return operator.Invitation{}, fmt.Errorf("no device can reach nod: %w", problem)
	case server == nil:
		return operator.Invitation{}, errors.New("the phone page is off: pick an address for it first")
	}
	url, until := server.Invite(name, may)
	return operator.Invitation{URL: url, Until: until}, nil
}

// WithdrawInvitation implements [operator.Operator].
func (d *Desk) WithdrawInvitation(context.Context) error {
	if server, _ := d.devices.current(); server != nil {
		server.Withdraw()
		d.devices.changed.Send()
	}
	return nil
}
