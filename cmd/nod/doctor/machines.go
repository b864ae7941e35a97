package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
	"nod/ipc/remote/command"
	"nod/policy/config"
)

const (
	maxSkew  = time.Minute // between two clocks; matters to people who read the history
	natsPort = "4222"      // where NATS servers listen
)

// checkMachines checks the connections to other machines: as nod-desktop reports them, or by a harmless probe if none
// runs.
func checkMachines(ctx context.Context, e *exam) []Finding {
	if !e.isRunning() {
		return append(e.probeMachines(ctx), e.probeNATS(ctx)...)
	}
	p, err := operator.ReadPublished(e.Runtime, e.at.PID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a relay, or an older nod-desktop
	case err != nil:
		return []Finding{warning(restart(), "nod can't read nod-desktop's list of machines: %v", err)}
	}
	var found []Finding
	if p.Peers.Problem != "" {
		found = append(found, failure(open("nod's settings › Machines and devices"), "%s", p.Peers.Problem))
	}
	for _, line := range p.Peers.Lines {
		if !line.Up {
			found = append(found, entitled(line.Name, warning(run("nod machines"), "not connected: %s",
				cmp.Or(line.Problem, "nod tries again"))))
		}
	}
	for _, peer := range p.Peers.Peers {
		if peer.Role == remote.RoleMachine && peer.Up {
			found = append(found, entitled(peer.Name, e.checkConnected(peer)))
		}
	}
	for _, j := range p.Peers.Joining {
		if j.Role == remote.RoleDevice {
			continue // the user has just invited it
		}
		found = append(found, entitled(j.Line, warning(open("nod's settings › Machines and devices"),
			"it asks to join as %q", j.Fingerprint)))
	}
	return found
}

func entitled(title string, f Finding) Finding {
	f.Title = "machine " + title
	return f
}

func (e *exam) checkConnected(p operator.Peer) Finding {
	switch {
	case p.Skew.Abs() > maxSkew:
		return warning(run("timedatectl"), "its clock differs from this one by %v: don't compare times in the history",
			p.Skew.Abs().Round(time.Second))
	case p.Hello.Version != e.Version:
		return warning(nil, "nod there is version %s, but %s here: install the same version", p.Hello.Version, e.Version)
	}
	return ok("connected, %v away, nod %s", p.Trip.Round(100*time.Microsecond), p.Hello.Version)
}

// probeMachines asks each machine for its version of nod.
func (e *exam) probeMachines(ctx context.Context) []Finding {
	machines := e.config.Remote.Machines
	found := make([]Finding, len(machines))
	var all sync.WaitGroup
	for i, m := range machines {
		all.Go(func() { found[i] = entitled(m.String(), e.probe(ctx, m)) })
	}
	all.Wait()
	return found
}

func (e *exam) probe(ctx context.Context, m config.Machine) Finding {
	probe, err := command.Command(m, "--version")
	if err != nil {
		return failure(run("nod settings"), "%v", err)
	}
	if _, err := e.Look(probe[0]); err != nil {
		return warning(nil, "%s is not installed", probe[0])
	}
	out, err := e.Run(ctx, e.Environ, probe...)
	there := firstWord(strings.TrimPrefix(out, "nod "))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return warning(nil, "no answer within %s", patience)
	case err != nil:
		return warning(nil, "%s", command.Explain(probe[0], err.Error()))
	case there != e.Version:
		return warning(nil, "nod there is version %s, but %s here: install the same version", there, e.Version)
	}
	return ok("reached, nod %s", there)
}

// probeNATS checks whether something listens at the cluster's addresses.
func (e *exam) probeNATS(ctx context.Context) []Finding {
	if e.config.Remote.NATS.URL == "" {
		return nil
	}
	var last error
	for server := range strings.SplitSeq(e.config.Remote.NATS.URL, ",") {
		u, err := url.Parse(server)
		if err == nil {
			err = e.Dial(ctx, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), natsPort)))
		}
		if err == nil {
			return []Finding{entitled("nats", ok("%s://%s is reachable", u.Scheme, u.Host))}
		}
		last = err
	}
	return []Finding{entitled("nats", warning(nil, "no server is reachable: %v", last))}
}
