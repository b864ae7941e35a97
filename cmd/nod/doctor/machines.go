package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"nod/ipc/operator"
	"nod/ipc/remote"
)

const maxSkew = time.Minute

func checkMachines(_ context.Context, e *exam) []Finding {
	if !e.isRunning() {
		return nil
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
	if problem := p.Peers.Phone.Problem; problem != "" {
		found = append(found, warning(open("nod's settings › Machines and devices"), "phones cannot reach nod: %s", problem))
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
