package hooks

import (
	"context"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// Sandbox is where commands run that agents have nod run.
type Sandbox interface {
	// Contains reports whether this machine can contain what an agent has nod run in its project, or only what reads.
	// release is the agent's, and empty where nod is tested with it.
	Contains(who interact.Requester, release string) (contains, onlyReads bool)
	// Edits is told of a call that the policy lets pass, and that may change files.
	Edits(ctx context.Context, who interact.Requester, id interact.ID, edit interact.Approve)
	// Expect has the agent's command, of the request with this id, run there the next time, or with the zero Confinement
	// outside.
	Expect(who interact.Requester, id interact.ID, command string, in policy.Confinement) error
}

// contain marks the request of a command that can run in the sandbox.
func (h *Hooks) contain(who interact.Requester, s *Step) {
	call, isApproval := s.Ask.(interact.Approve)
	if s.Command != "" && isApproval && h.cfg.Sandbox != nil {
		call.Contains, call.OnlyReads = h.cfg.Sandbox.Contains(who, s.Release)
		s.Ask = call
	}
}

// expect has a command that was allowed run where the answer says. Where that cannot be had it is denied.
func (h *Hooks) expect(ctx context.Context, who interact.Requester, s Step, a interact.Answer) interact.Answer {
	call, isApproval := s.Ask.(interact.Approve)
	switch {
	case !isApproval || h.cfg.Sandbox == nil || a.Outcome != api.Allowed:
		return a
	case s.Command == "" && a.By == api.ByPolicy && a.Rule != policy.ClassRule(policy.ReadOnly):
		h.cfg.Sandbox.Edits(ctx, who, a.Request, call)
		return a
	case s.Command == "":
		return a
	}
	if err := h.cfg.Sandbox.Expect(who, a.Request, s.Command, a.Confinement); err != nil {
		h.cfg.Log.Error("hook: not run in the sandbox", "agent", who.Agent, "err", err)
		return interact.Answer{
			Outcome: api.Denied, By: api.ByPolicy,
			Reason: "nod denied this, not the user: it could not have it run in the sandbox: see nod's log",
		}
	}
	return a
}
