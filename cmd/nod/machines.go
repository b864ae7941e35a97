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
	return &cobra.Command{
		Use:   "machines",
		Short: "List the machines and devices paired with this desk, and whether they are connected",
		Long: `List the machines, desks and devices paired with this desk, those asking to pair, and the state of their
connections. The first line has this desk's key, for nod relay --desk.

To pair or unpair, open nod's settings, under Machines and devices. The exit status is 5 if nod-desktop isn't running.`,
		Args: noArgs,
		RunE: c.runs(func(ctx context.Context, _ []string) error {
			peers, err := publishedPeers(ctx)
			if err != nil {
				return err
			}
			return c.print(describePeers(peers))
		}),
	}
}

// publishedPeers reads the list that nod-desktop writes to its runtime folder, which only the user can read.
func publishedPeers(ctx context.Context) (operator.Peers, error) {
	cl, _, err := reach(ctx)
	if err != nil {
		return operator.Peers{}, err
	}
	dir, err := endpoint.Locate()
	if err != nil {
		return operator.Peers{}, err
	}
	p, err := operator.ReadPublished(dir, cl.Current().PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("the running nod has no list of machines: %w: if it is not a relay, run: nod stop; nod start", err)
	case err != nil:
		err = fmt.Errorf("read nod-desktop's list of machines: %w", err)
	}
	return p.Peers, err
}

// describePeers formats the list as a table for the user. It makes text from other machines safe to display.
func describePeers(p operator.Peers) string {
	var lines []string
	line := func(name, what, state, fingerprint string) {
		lines = append(lines, oneLine(name)+"\t"+oneLine(what)+"\t"+oneLine(state)+"\t"+oneLine(fingerprint))
	}
	key := ""
	if p.Desk != (remote.Key{}) {
		key = "key " + p.Desk.String()
	}
	line("this desk", "desk", key, p.Fingerprint)
	for _, peer := range p.Peers {
		line(peer.Name, string(peer.Role), stateOfPeer(peer), peer.Key.Fingerprint())
	}
	for _, j := range p.Joining {
		state := "asks to join by " + cmp.Or(j.Line, "an invitation") + ": settle it in nod's settings"
		line("?", string(j.Role), withVersion(state, j.Hello), j.Fingerprint)
	}
	for _, l := range p.Lines {
		state := "not connected: " + cmp.Or(l.Problem, "nod tries again")
		if l.Up {
			state = "connected since " + clock(l.Since)
		}
		line(l.Name, "line", state, "")
	}
	if p.Phone.URL != "" {
		line(p.Phone.URL, "page", cmp.Or(p.Phone.Problem, "served"), "SHA-256 "+p.Phone.Fingerprint)
	}
	text := columns(lines)
	if p.Problem != "" {
		text += oneLine(p.Problem) + "\n"
	}
	return text
}

func stateOfPeer(p operator.Peer) string {
	var said []string
	switch {
	case p.Role == remote.RoleDesk: // it connects to machines, never to this desk
		said = append(said, "can answer too")
	case p.Up && p.Since.IsZero(): // a device: each of its requests is a connection
		said = append(said, "connected")
	case p.Up:
		said = append(said, "connected since "+clock(p.Since))
	case p.Problem != "":
		said = append(said, "not connected: "+p.Problem)
	default:
		said = append(said, "not connected")
	}
	if !p.Up && !p.Seen.IsZero() {
		said = append(said, "last seen "+clock(p.Seen))
	}
	if p.Up && p.Trip > 0 {
		said = append(said, fmt.Sprintf("%v away", p.Trip.Round(100*time.Microsecond)))
	}
	if p.Pending > 0 {
		said = append(said, count(p.Pending, "request")+" waiting")
	}
	return withVersion(strings.Join(said, ", "), p.Hello)
}

func withVersion(state string, h remote.Hello) string {
	if h.Version == "" {
		return state
	}
	return state + ", nod " + h.Version
}

func clock(t time.Time) string { return t.Local().Format("Mon 2 Jan 15:04") }
