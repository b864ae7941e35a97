package policy

import (
	"fmt"
	"path/filepath"
	"time"

	"nod/policy/shell"
)

// Ids of what decides when no rule and no grant does. A rule's id cannot hold a colon, so they never meet.
const (
	builtinAuto      = "class:" // and the class
	builtinAskAll    = "builtin:ask_everything"
	builtinBroken    = "builtin:broken"
	builtinInput     = "builtin:unreadable"
	builtinHidden    = "builtin:hidden"
	builtinLong      = "builtin:long"
	builtinQuestion  = "builtin:question"
	builtinOwn       = "builtin:own_files"
	builtinGuarded   = "builtin:guarded"
	builtinLost      = "builtin:lost_path"
	builtinSecrets   = "builtin:secrets"
	builtinShell     = "builtin:shell"
	builtinScreen    = "builtin:screen"
	builtinOutside   = "builtin:outside"
	reasonNothing    = "no rule matches"
	reasonBroken     = "the configuration file is broken, so everything is asked about"
	reasonAskAll     = `"ask about everything" is on`
	reasonHidden     = "the input holds characters that cannot be seen"
	reasonHiddenTool = "the tool's name holds characters that cannot be seen"
	reasonQuestion   = "only you can answer a question"
	reasonOwn        = "it would change nod's own files"
	reasonLost       = "nobody can tell where a path in the input leads"
	reasonSecrets    = "the path may hold keys, passwords or tokens"
	reasonScreen     = "it can control your screen, and so click for you"
	reasonOutside    = "the path is outside your trusted folders"
)

// Decide says what a policy makes of one call: what the strictest rule that matches says, in whatever order
// the rules were written. Above the rules stand a few things that are always asked about (never allowed, and
// still denied by a rule that denies them): input that a person cannot see as it is, questions to the human,
// changes of nod's own files and of files that lead to more than they seem to.
//
// It changes nothing and depends on nothing but its arguments and, for paths, where symbolic links lead.
func Decide(call Call, p *Compiled, now time.Time) Decision {
	f := newFacts(&call, p, now)
	d := decide(f)
	d.Class = f.class
	if p.askAll && d.Effect == Allow {
		return Decision{Effect: Ask, Rule: builtinAskAll, Reason: reasonAskAll + "; without it, " + d.Reason, Class: f.class}
	}
	return d
}

// decide weighs everything in one order, for commands and tools alike: what denies, what must be asked about,
// rules that ask, rules and grants that allow, and last the class.
func decide(f *facts) Decision {
	rule := f.policy.find(f)
	if rule != nil && rule.effect == Deny {
		return rule.decision()
	}
	if f.policy.isBroken {
		return Decision{Effect: Ask, Rule: builtinBroken, Reason: reasonBroken}
	}
	if id, reason := f.mustAsk(); id != "" {
		return Decision{Effect: Ask, Rule: id, Reason: reason}
	}
	if rule != nil {
		return rule.decision()
	}
	return f.byGrant()
}

// byGrant decides by what the person allowed before, and by class. What is read may be sent away, so neither opens
// a place that may hold secrets.
func (f *facts) byGrant() Decision {
	d := f.allowed()
	if d.Effect != Allow {
		return d
	}
	if id, reason := f.mayLeak(); id != "" {
		return Decision{Effect: Ask, Rule: id, Reason: reason}
	}
	return d
}

// allowed is what class, grants and the parts of a command line come to, before anybody looks for secrets.
func (f *facts) allowed() Decision {
	if f.policy.auto[f.class.care()] {
		return autoAllowed[f.class.care()]
	}
	if g := f.policy.grants.find(f); g != nil {
		return g.decision()
	}
	parts, covered := f.judgeParts()
	for _, v := range parts {
		switch {
		case !covered:
		case v.rule != nil:
			return v.rule.decision()
		case v.grant != nil:
			return v.grant.decision()
		}
	}
	return Decision{Effect: Ask, Reason: f.nothing()}
}

func (g *Grant) decision() Decision {
	return Decision{Effect: Allow, Rule: g.ID, Reason: g.reason(), Grant: true}
}

func (r *compiledRule) decision() Decision {
	return Decision{Effect: r.effect, Rule: r.id, Reason: r.reason}
}

// mustAsk finds what no rule and no grant can let pass.
func (f *facts) mustAsk() (id, reason string) {
	switch {
	case f.input.problem != "":
		return builtinInput, f.input.problem
	case f.input.hidden:
		return builtinHidden, reasonHidden
	case hasHidden(f.call.Tool):
		return builtinHidden, reasonHiddenTool
	case f.input.isLong():
		return builtinLong, longReason
	case isQuestion(f.call.Tool):
		return builtinQuestion, reasonQuestion
	case f.line != nil && f.line.Unreadable:
		return builtinShell, f.line.why()
	case f.line != nil && shell.DrivesScreen(f.line.Analysis):
		return builtinScreen, reasonScreen
	case f.class == ReadOnly:
		return "", ""
	}
	return f.mustAskToChange()
}

var longReason = fmt.Sprintf("the input is longer than %d characters", maxInput)

// autoAllowed holds the decisions that the classes lead to, by place in [Classes].
var autoAllowed = func() (d [6]Decision) {
	for i, c := range Classes {
		d[i] = Decision{Effect: Allow, Rule: builtinAuto + string(c), Reason: fmt.Sprintf("class %s passes without a prompt", c)}
	}
	return d
}()

// facts are what is known of one call while it is decided. What costs a look at the disk is worked out when
// it is first needed.
type facts struct {
	call   *Call
	policy *Compiled
	now    time.Time
	class  Class
	tool   tool
	input  input
	line   *commandLine // what a shell would run; nil when the tool is none

	reached   []access
	isReached bool
	isKnown   bool      // tool is in the catalogue
	buf       [2]access // the accesses of the usual input, without an allocation

	tree                    any // the input, decoded
	isTree                  bool
	isProject               bool
	projectTop, realProject string // as text, and with links followed
	workIn                  place
	runIn                   place
}

func newFacts(call *Call, p *Compiled, now time.Time) *facts {
	f := &facts{call: call, policy: p, now: now}
	f.class = Classify(call.Agent, call.Tool, call.Declared, p.trusted[call.Agent])
	f.tool, f.isKnown = lookup(call.Agent, call.Tool)
	f.input.read(call.Input, f.tool)
	if f.input.isOther {
		f.class = Unknown
	}
	f.readCommandLine()
	return f
}

// cwd is the folder that the call works in.
func (f *facts) cwd() place {
	if f.workIn == (place{}) {
		f.workIn = place{lost: true}
		if filepath.IsAbs(f.call.CWD) {
			f.workIn = locate(f.call.CWD, "", f.policy.places.Home)
		}
	}
	return f.workIn
}

// folder is where the input tells a shell to run.
func (f *facts) folder() place {
	if f.runIn == (place{}) {
		f.runIn = locate(f.input.folder, f.call.CWD, f.policy.places.Home)
	}
	return f.runIn
}

// programs are the verified executables of the caller and its ancestors.
func (f *facts) programs() []string { return f.call.Programs }

func (f *facts) hasProgram(p *pattern) bool {
	for _, program := range f.programs() {
		if p.match(filepath.ToSlash(program)) {
			return true
		}
	}
	return false
}
