package hooks

import (
	"context"

	"nod/api"
	"nod/interact"
	"nod/policy"
)

// sandbox is where nod runs agents' commands.
type sandbox interface {
	// Contains reports whether this machine can contain the commands that nod runs for an agent in its project, or only
	// those that read. release is the agent's release, which is empty if nod is tested with it.
	Contains(who interact.Requester, release string) (contains, onlyReads bool)
	// Undoes reports whether the changes of a call can be taken back: the sandbox is on for the agent's project, and the
	// snapshot that Edits takes will have the files.
	Undoes(ctx context.Context, who interact.Requester, edit interact.Approve) bool
	// Edits takes a snapshot of the agent's project, if the sandbox is on for it, before a call that the policy allows and
	// that may change files. It reports whether the snapshot has the files, and no command runs that could redirect the
	// call.
	Edits(ctx context.Context, who interact.Requester, id interact.ID, edit interact.Approve) (taken bool, err error)
	// Edited notes that a call has run, if it was an edit: what changes from now on is not its own.
	Edited(ctx context.Context, who interact.Requester, edit interact.Approve)
	// Expect makes the request's command run in the sandbox the next time or, with the zero Confinement, outside it.
	Expect(who interact.Requester, id interact.ID, command string, in policy.Confinement) error
}

// contain marks the request if its command can run in the sandbox, or if the changes of its call can be taken back.
func (h *Hooks) contain(ctx context.Context, who interact.Requester, s *Step) {
	call, isApproval := s.Ask.(interact.Approve)
	switch {
	case !isApproval || h.cfg.Sandbox == nil:
		return
	case s.Command == "":
		call.Undoes = h.cfg.Sandbox.Undoes(ctx, who, call)
	default:
		call.Contains, call.OnlyReads = h.cfg.Sandbox.Contains(who, s.Release)
	}
	s.Ask = call
}

// expect makes an allowed command run where the answer says, and takes a snapshot before an edit. If either fails, it
// denies what was allowed because of it.
func (h *Hooks) expect(ctx context.Context, who interact.Requester, s Step, a interact.Answer) interact.Answer {
	call, isApproval := s.Ask.(interact.Approve)
	switch {
	case !isApproval || h.cfg.Sandbox == nil || a.Outcome != api.Allowed:
		return a
	case s.Command == "" && a.By == api.ByPolicy && a.Rule != policy.ClassRule(policy.ReadOnly):
		taken, err := h.cfg.Sandbox.Edits(ctx, who, a.Request, call)
		if err != nil {
			h.cfg.Log.Warn("hook: no snapshot before an edit", "agent", who.Agent, "err", err)
		}
		if !taken && a.Rule == policy.EditsRule {
			return denied("it could not make sure that the change can be taken back: see nod's log")
		}
		return a
	case s.Command == "":
		return a
	}
	if err := h.cfg.Sandbox.Expect(who, a.Request, s.Command, a.Confinement); err != nil {
		h.cfg.Log.Error("hook: not run in the sandbox", "agent", who.Agent, "err", err)
		return denied("it could not have it run in the sandbox: see nod's log")
	}
	return a
}

func (h *Hooks) edited(ctx context.Context, who interact.Requester, s Step) {
	if call, isApproval := s.Ran.(interact.Approve); isApproval && h.cfg.Sandbox != nil {
		h.cfg.Sandbox.Edited(ctx, who, call)
	}
}

func denied(why string) interact.Answer {
	return interact.Answer{Outcome: api.Denied, By: api.ByPolicy, Reason: "nod denied this, not the user: " + why}
}
