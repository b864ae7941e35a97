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

// only returns the only option of a kind, if its id is unique.
func (o options) only(kind sdk.PermissionOptionKind) options {
	fitting := o.of(kind)
	if len(fitting) != 1 || !o.isUnique(fitting[0]) {
		return nil
	}
	return fitting
}

// isUnique reports whether the id of p, one of the options, is of no other.
func (o options) isUnique(p sdk.PermissionOption) bool {
	isOther := func(other sdk.PermissionOption) bool { return other.OptionId != p.OptionId }
	return len(slices.DeleteFunc(slices.Clone(o), isOther)) == 1
}

// reject is how to say no: once if there is such an option, for good if that is all there is. An id that allows as well
// says nothing.
func (o options) reject() options {
	all := slices.Concat(o.of(sdk.PermissionOptionKindRejectOnce), o.of(sdk.PermissionOptionKindRejectAlways))
	if i := slices.IndexFunc(all, o.isUnique); i >= 0 {
		return all[i : i+1]
	}
	return nil
}

// canAllow reports whether an allow can be said: which of several ways to allow once is meant only the editor can ask.
func (o options) canAllow() bool { return o.only(sdk.PermissionOptionKindAllowOnce) != nil }

func (o options) suggestions() []string {
	var all []string
	for _, p := range o.of(sdk.PermissionOptionKindAllowAlways) {
		all = append(all, cmp.Or(p.Name, string(p.OptionId)))
	}
	return all
}

// chosen returns the option that says what was decided, if anything was. What the user allows for longer in nod's own
// rules is allowed once here, and what is denied is rejected once: the agent keeps only what the user picked of it.
func (o options) chosen(r api.ApproveReply) (id sdk.PermissionOptionId, decided bool) {
	var fitting options
	switch {
	case r.Allowed() && r.Suggestion > 0:
		fitting = o.of(sdk.PermissionOptionKindAllowAlways)
		fitting = fitting[min(r.Suggestion-1, len(fitting)):]
	case r.Allowed():
		fitting = o.only(sdk.PermissionOptionKindAllowOnce)
	case r.Outcome == api.Denied:
		fitting = o.reject()
	}
	if len(fitting) == 0 || !o.isUnique(fitting[0]) {
		return "", false
	}
	return fitting[0].OptionId, true
}
