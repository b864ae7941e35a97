package policy

import (
	"fmt"
	"strings"
	"time"
)

// Explain returns the decision on a call and every step that led to it, as sentences for a person. It
// weighs what [Decide] weighs, but looks at all rules where Decide stops at the strictest.
func Explain(call Call, p *Compiled, now time.Time) (Decision, []string) {
	f := newFacts(&call, p, now)
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }

	if known, ok := lookup(call.Agent, call.Tool); ok {
		say("nod knows the tool %s of %s: class %s", plain(call.Tool), plain(call.Agent), known.class)
	} else {
		say("nod does not know a tool %s of agent %s: class %s", plain(call.Tool), plain(call.Agent), Unknown)
	}
	if call.Declared != "" {
		say("the caller declares class %s", call.Declared)
	}
	f.explainCommand(say)
	say("the class that counts is %s", f.class)
	for _, a := range f.reach() {
		say("path %s", a.describe())
	}
	for _, risk := range Risks(call) {
		say("%s: %s", risk.Level, risk)
	}
	for i := range p.rules {
		switch r := &p.rules[i]; {
		case r.matches(f):
			say("%s", r.reason)
		case !r.inForce(now) && r.wouldMatch(f):
			say("rule %q would match, but has expired", r.ID)
		}
	}
	if p.isBroken {
		say("%s", askBroken.Reason)
	}
	if d := f.mustAsk(); d.Effect == Ask {
		say("no rule but a deny can decide this: %s", d.Reason)
	}
	if g := f.grant(); g != nil {
		say("%s", g.reason())
	}
	d := Decide(call, p, now)
	say("so the decision is %s: %s", d.Effect, d.Reason)
	return d, steps
}

func (f *facts) explainCommand(say func(string, ...any)) {
	if f.line == nil {
		return
	}
	if names := f.line.Programs; len(names) > 0 {
		say("the command runs %s", strings.Join(names, ", "))
	}
	if f.class == ReadOnly {
		say("the command surely only reads")
	}
	verdicts, _ := f.judgeParts()
	for _, v := range verdicts {
		say("part %q: %s", v.part.Text, v.describe())
	}
	for _, reason := range f.line.Reasons {
		say("the command is not read-only: %s", strings.TrimSuffix(reason, "."))
	}
}

// describe says where a path leads, for a sentence.
func (p place) describe() string {
	switch {
	case p.lost:
		return p.clean + " leads nobody knows where"
	case p.relative:
		return p.clean + " is relative to a folder that the caller did not name"
	case p.real != p.clean:
		return p.clean + " leads to " + p.real
	}
	return p.clean
}

// describe says what the policy makes of a part, for a sentence.
func (v verdict) describe() string {
	what := ""
	if v.file != nil {
		what = "writes " + v.file.clean + ": "
	}
	switch v.state {
	case PartReads:
		return what + "reads"
	case PartCovered:
		return what + "covered by " + v.by.Rule
	}
	return what + "new"
}
