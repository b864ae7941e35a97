package acp

import (
	"cmp"
	"slices"

	sdk "github.com/coder/acp-go-sdk"

	"nod/api"
)

type options []sdk.PermissionOption

func (o options) of(kind sdk.PermissionOptionKind) options {
	return slices.DeleteFunc(slices.Clone(o), func(p sdk.PermissionOption) bool { return p.Kind != kind })
}

// allowOnce returns the option that allows once, if its id is unique. Of several, only the editor can ask which one is
// meant: then there is none.
func (o options) allowOnce() options {
	fitting := o.of(sdk.PermissionOptionKindAllowOnce)
	if len(fitting) != 1 || !o.isUnique(fitting[0]) {
		return nil
	}
	return fitting
}

// isUnique reports whether p, one of the options, has an id, which no other option has.
func (o options) isUnique(p sdk.PermissionOption) bool {
	isOther := func(other sdk.PermissionOption) bool { return other.OptionId != p.OptionId }
	return p.OptionId != "" && len(slices.DeleteFunc(slices.Clone(o), isOther)) == 1
}

// reject returns the option that says no: once if possible, else for good. It ignores an option whose id another option
// has, too, since that may allow.
func (o options) reject() options {
	all := slices.Concat(o.of(sdk.PermissionOptionKindRejectOnce), o.of(sdk.PermissionOptionKindRejectAlways))
	if i := slices.IndexFunc(all, o.isUnique); i >= 0 {
		return all[i : i+1]
	}
	return nil
}

func (o options) suggestions() []string {
	var all []string
	for _, p := range o.of(sdk.PermissionOptionKindAllowAlways) {
		all = append(all, cmp.Or(p.Name, string(p.OptionId)))
	}
	return all
}

// chosen returns the option that expresses the decision, if there is one. What the user allows for longer in nod's own
// rules is allowed once here, and what is denied is rejected once: the agent saves only one of its own rules that the
// user picked.
func (o options) chosen(r api.ApproveReply) (id sdk.PermissionOptionId, decided bool) {
	var fitting options
	switch {
	case r.Allowed() && r.Suggestion > 0:
		fitting = o.of(sdk.PermissionOptionKindAllowAlways)
		fitting = fitting[min(r.Suggestion-1, len(fitting)):]
	case r.Allowed():
		fitting = o.allowOnce()
	case r.Outcome == api.Denied:
		fitting = o.reject()
	}
	if len(fitting) == 0 || !o.isUnique(fitting[0]) {
		return "", false
	}
	return fitting[0].OptionId, true
}
