package acp

import (
	"cmp"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"nod/ipc/api"
)

// options are the answers that an agent takes.
type options []sdk.PermissionOption

// of returns the options of a kind.
func (o options) of(kind sdk.PermissionOptionKind) options {
	return slices.DeleteFunc(slices.Clone(o), func(p sdk.PermissionOption) bool { return p.Kind != kind })
}

// fit reports whether nod's answers can be said with them: one way to allow once, a way to reject once, and no id that
// stands for two answers. Which of several ways to allow is meant only the editor can ask.
func (o options) fit() bool {
	ids := map[sdk.PermissionOptionId]bool{}
	for _, p := range o {
		ids[p.OptionId] = true
	}
	once, reject := o.of(sdk.PermissionOptionKindAllowOnce), o.of(sdk.PermissionOptionKindRejectOnce)
	return len(ids) == len(o) && len(once) == 1 && len(reject) > 0
}

// suggestions are what the agent would keep when it is allowed for good, in its own words.
func (o options) suggestions() []string {
	var all []string
	for _, p := range o.of(sdk.PermissionOptionKindAllowAlways) {
		all = append(all, cmp.Or(p.Name, string(p.OptionId)))
	}
	return all
}

// chosen returns the option that says what was decided, if anything was. What the person allows for longer in nod's own
// rules is allowed once here, and what is denied is rejected once: the agent keeps only what the person picked of it.
func (o options) chosen(r api.ApproveReply) (id sdk.PermissionOptionId, decided bool) {
	var fitting options
	switch {
	case r.Allowed() && r.Suggestion > 0:
		fitting = o.of(sdk.PermissionOptionKindAllowAlways)
		fitting = fitting[min(r.Suggestion-1, len(fitting)):]
	case r.Allowed():
		fitting = o.of(sdk.PermissionOptionKindAllowOnce)
	case r.Outcome == api.Denied:
		fitting = o.of(sdk.PermissionOptionKindRejectOnce)
	}
	if len(fitting) == 0 {
		return "", false
	}
	return fitting[0].OptionId, true
}
