package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/policy"
)

// The keys of tests.
var (
	deskKey  = remote.Key{Sign: "UDESK"}
	build1   = remote.Key{Sign: "UBUILD1"}
	newcomer = remote.Key{Sign: "UNEW"}
	pixel    = remote.Key{Sign: "pixel"}
)

// tablet is a device that asks to be paired by an invitation.
var tablet = operator.Joining{
	Key: remote.Key{Sign: "tablet"}, Role: remote.RoleDevice, Fingerprint: "magnet noodle ocean pencil quiz rabbit",
	Hello: remote.Hello{Name: "Tablet"}, May: remote.May{Questions: true, Approvals: policy.Write},
}

// somePeers are paired with a desk, or ask to be.
func somePeers(now time.Time) operator.Peers {
	day := time.Date(2030, 5, 6, 12, 0, 0, 0, time.Local)
	return operator.Peers{
		Desk: deskKey, Fingerprint: "amused bronze cactus dinner elbow fossil",
		Lines: []operator.Line{
			{Name: "docker dev", State: remote.State{Problem: "docker exec: no such container: start it, and nod tries again"}},
			{Name: "nats", State: remote.State{Up: true}}, {Name: "ssh ci@build-1", State: remote.State{Up: true}},
		},
		Peers: []operator.Peer{
			{Peer: remote.Peer{Name: "office", Role: remote.RoleDesk, Key: remote.Key{Sign: "UOFFICE"}, Added: day}},
			{
				Peer:  remote.Peer{Name: "build-1", Role: remote.RoleMachine, Key: build1, Added: day},
				State: remote.State{Up: true, Trip: 12 * time.Millisecond, Skew: 3 * time.Minute},
				Hello: remote.Hello{Name: "ip-10-0-0-7", User: "ci", System: "linux/arm64", Version: "1.4.0", Policy: 17,
					Grants: 2},
				Line: "ssh ci@build-1", Pending: 2,
			},
			{
				Peer:  remote.Peer{Name: "dev container", Role: remote.RoleMachine, Key: remote.Key{Sign: "UDEV"}, Added: day},
				State: remote.State{Problem: "docker exec: no such container: start it, and nod tries again"},
				Hello: remote.Hello{Name: "8f3c", User: "root", System: "linux/amd64", Version: "1.4.0"}, Line: "docker dev",
			},
			{
				Peer: remote.Peer{Name: "Pixel", Role: remote.RoleDevice, Key: pixel, Added: day,
					May: remote.May{Questions: true, Approvals: policy.Write}},
				State: remote.State{Up: true},
			},
		},
		Joining: []operator.Joining{{
			Key: newcomer, Role: remote.RoleMachine, Fingerprint: "garlic hockey ivory jungle kettle lemon",
			Hello: remote.Hello{Name: "ci-7", User: "ci", System: "linux/amd64", Version: "1.4.0"}, Line: "nats", Came: now,
		}},
		Phone: operator.Phone{
			URL: "https://100.64.0.7:7464/",
			Fingerprint: "9F:86:D0:81:88:4C:7D:65:9A:2F:EA:A0:C5:5A:D0:15:" +
				"A3:BF:4F:1B:2B:0B:82:2C:D1:5D:6C:15:B0:F0:0A:08",
			Addresses: []operator.Address{
				{IP: "100.64.0.7", Interface: "tailscale0", Private: true}, {IP: "192.168.1.20", Interface: "wlp2s0"},
			},
		},
	}
}

// paired are the peers of the fake's desk; nil for none.
func (o *fakeOperator) paired(change func(*operator.Peers)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.peers)
}

// done records a call, and fails if the fake refuses calls.
func (o *fakeOperator) done(call ...any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.did = append(o.did, fmt.Sprint(call...))
	return o.refuse
}

// Peers returns a copy.
func (o *fakeOperator) Peers(context.Context) (operator.Peers, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.peers
	all.Peers, all.Joining = slices.Clone(all.Peers), slices.Clone(all.Joining)
	return all, nil
}

func (o *fakeOperator) Pair(_ context.Context, key remote.Key, role remote.Role, name string) error {
	if err := o.done("pair ", key, " ", name); err != nil {
		return err
	}
	o.paired(func(p *operator.Peers) {
		p.Joining = slices.DeleteFunc(p.Joining, func(j operator.Joining) bool { return j.Key == key })
		p.Peers = append(p.Peers, operator.Peer{Peer: remote.Peer{Name: name, Role: role, Key: key}})
	})
	return nil
}

func (o *fakeOperator) Unpair(_ context.Context, name string) error {
	if err := o.done("unpair ", name); err != nil {
		return err
	}
	o.paired(func(p *operator.Peers) {
		p.Peers = slices.DeleteFunc(p.Peers, func(peer operator.Peer) bool { return peer.Name == name })
	})
	return nil
}

func (o *fakeOperator) SetMay(_ context.Context, name string, may remote.May) error {
	if err := o.done("may ", name, " ", may.Questions, " ", may.Approvals); err != nil {
		return err
	}
	o.paired(func(p *operator.Peers) {
		for i := range p.Peers {
			if p.Peers[i].Name == name {
				p.Peers[i].May = may
			}
		}
	})
	return nil
}

func (o *fakeOperator) SettlePeers(_ context.Context, seen []remote.Peer, accept bool) error {
	if err := o.done("settle ", len(seen), " ", accept); err != nil {
		return err
	}
	o.paired(func(p *operator.Peers) { p.Problem, p.Held = "", nil })
	return nil
}

func (o *fakeOperator) ForgetApprovals(_ context.Context, name string) error {
	return o.done("forget ", name)
}

func (o *fakeOperator) Invite(_ context.Context, name string, may remote.May) (operator.Invitation, error) {
	err := o.done("invite ", name, " ", may.Questions, " ", may.Approvals)
	return operator.Invitation{
		URL: "https://100.64.0.7:7464/#pair=c2VjcmV0LXNlY3JldC1zZWNyZXQ" +
			"&fp=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
		Until: time.Now().Add(5 * time.Minute),
	}, err
}

func (o *fakeOperator) WithdrawInvitation(context.Context) error {
	o.paired(func(p *operator.Peers) { p.Joining = slices.DeleteFunc(slices.Clone(p.Joining), isDevice) })
	return o.done("withdraw")
}

var errRefused = errors.New("this name is taken: use another")
