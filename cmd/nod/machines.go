//go:build !relay

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nod/ipc/endpoint"
	"nod/ipc/operator"
	"nod/ipc/remote"
)

func (c *console) machines() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use:   "machines",
		Short: "List the machines and devices paired with this desk, and whether they are connected",
		Long: `List the machines, desks and devices paired with this desk, those asking to pair, and the state of their
connections.

nod-desktop writes this list to machines.json in its runtime folder, which only you can read. To pair or unpair, open
nod's settings, under Machines and devices. The exit status is 5 if nod-desktop isn't running.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error { return c.listMachines(ctx) }),
	}, "print JSON")
}

// pairedPeer is a line of nod machines: a machine, a desk or a device.
type pairedPeer struct {
	Name        string        `json:"name,omitempty"` // empty until it is paired
	Role        remote.Role   `json:"role"`
	Joins       bool          `json:"joins,omitempty"`
	Connected   bool          `json:"connected"`
	Since       time.Time     `json:"since,omitzero"`
	Seen        time.Time     `json:"seen,omitzero"`
	Problem     string        `json:"problem,omitempty"`
	Line        string        `json:"line,omitempty"`
	Trip        time.Duration `json:"trip_ns,omitempty"`
	Skew        time.Duration `json:"skew_ns,omitempty"`
	Pending     int           `json:"pending,omitempty"`
	Version     string        `json:"version,omitempty"`
	Fingerprint string        `json:"fingerprint"`
	May         remote.May    `json:"may,omitzero"` // of a device
}

type pairedLine struct {
	Name      string    `json:"name"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Problem   string    `json:"problem,omitempty"`
}

type machineList struct {
	At          time.Time    `json:"at"` // when nod-desktop wrote it
	Fingerprint string       `json:"fingerprint"`
	Key         string       `json:"key"`
	Problem     string       `json:"problem,omitempty"` // why all peers are ignored
	Peers       []pairedPeer `json:"peers"`
	Lines       []pairedLine `json:"lines"`
	Phone       servedPage   `json:"phone,omitzero"`
}

type servedPage struct {
	URL         string `json:"url"`
	Fingerprint string `json:"fingerprint"` // SHA-256 of its certificate
	Problem     string `json:"problem,omitempty"`
}

func (c *console) listMachines(ctx context.Context) error {
	published, err := publishedPeers(ctx)
	if err != nil {
		return err
	}
	list := newMachineList(published)
	return c.show(list, list.String())
}

func publishedPeers(ctx context.Context) (operator.Published, error) {
	cl, err := discover()
	if err != nil {
		return operator.Published{}, err
	}
	if _, err := health(ctx, cl); err != nil {
		return operator.Published{}, err
	}
	dir, err := endpoint.Locate()
	if err != nil {
		return operator.Published{}, err
	}
	p, err := operator.ReadPublished(dir, cl.Current().PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, fmt.Errorf("the running nod has no list of machines: %w: if it is not a relay, run: nod stop; nod "+
			"start", err)
	case err != nil:
		return p, fmt.Errorf("read nod-desktop's list of machines: %w", err)
	}
	return p, nil
}

func newMachineList(p operator.Published) machineList {
	list := machineList{
		At: p.At, Fingerprint: p.Peers.Fingerprint, Problem: p.Peers.Problem,
		Peers: []pairedPeer{}, Lines: []pairedLine{},
	}
	if p.Peers.Desk != (remote.Key{}) {
		list.Key = p.Peers.Desk.String()
	}
	for _, peer := range p.Peers.Peers {
		list.Peers = append(list.Peers, pairedPeer{
			Name: peer.Name, Role: peer.Role, Connected: peer.Up, Since: peer.Since, Seen: peer.Seen, Problem: peer.Problem,
			Line: peer.Line, Trip: peer.Trip, Skew: peer.Skew, Pending: peer.Pending, Version: peer.Hello.Version,
			Fingerprint: peer.Key.Fingerprint(), May: peer.May,
		})
	}
	for _, j := range p.Peers.Joining {
		list.Peers = append(list.Peers, pairedPeer{
			Role: j.Role, Joins: true, Since: j.Came, Line: j.Line, Version: j.Hello.Version, Fingerprint: j.Fingerprint,
		})
	}
	list.Phone = servedPage{p.Peers.Phone.URL, p.Peers.Phone.Fingerprint, p.Peers.Phone.Problem}
	for _, line := range p.Peers.Lines {
		list.Lines = append(list.Lines, pairedLine{line.Name, line.Up, line.Since, line.Problem})
	}
	return list
}

// String formats the list for people. It escapes text from other machines.
func (l machineList) String() string {
	lines := []string{"this desk\tdesk\t\t" + oneLine(l.Fingerprint)}
	for _, p := range l.Peers {
		name := p.Name
		if p.Joins {
			name = "?"
		}
		lines = append(lines, strings.Join([]string{
			oneLine(name), oneLine(string(p.Role)), p.state(), oneLine(p.Fingerprint),
		}, "\t"))
	}
	for _, line := range l.Lines {
		state := "not connected: " + cmp.Or(line.Problem, "nod tries again")
		if line.Connected {
			state = "connected since " + clock(line.Since)
		}
		lines = append(lines, oneLine(line.Name)+"\tline\t"+oneLine(state)+"\t")
	}
	if page := l.Phone; page.URL != "" {
		state := cmp.Or(page.Problem, "served")
		lines = append(lines, oneLine(page.URL)+"\tpage\t"+oneLine(state)+"\tSHA-256 "+oneLine(page.Fingerprint))
	}
	text := columns(lines)
	if l.Problem != "" {
		text += oneLine(l.Problem) + "\n"
	}
	return text
}

func (p pairedPeer) state() string {
	var said []string
	switch {
	case p.Joins:
		said = append(said, "asks to join by "+cmp.Or(p.Line, "an invitation")+": settle it in nod's settings")
	case p.Connected && p.Since.IsZero(): // a device: each of its requests is a connection
		said = append(said, "connected")
	case p.Connected:
		said = append(said, "connected since "+clock(p.Since))
	case p.Problem != "":
		said = append(said, "not connected: "+p.Problem)
	default:
		said = append(said, "not connected")
	}
	if !p.Connected && !p.Seen.IsZero() {
		said = append(said, "last seen "+clock(p.Seen))
	}
	if p.Connected && p.Trip > 0 {
		said = append(said, fmt.Sprintf("%v away", p.Trip.Round(100*time.Microsecond)))
	}
	if p.Pending > 0 {
		said = append(said, count(p.Pending, "request")+" waiting")
	}
	if p.Version != "" {
		said = append(said, "nod "+p.Version)
	}
	return oneLine(strings.Join(said, ", "))
}

func clock(t time.Time) string { return t.Local().Format("Mon 2 Jan 15:04") }
