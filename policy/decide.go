package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nod/policy/invisible"
)

// Some of what nod asks about, whatever the rules say. No rule has such an id: a rule's cannot contain a colon.
var (
	askBroken  = ask("builtin:broken", "the policy file has an error, so nod asks about everything")
	askOwn     = ask("builtin:own_files", "it would change nod's own files")
	askLost    = ask("builtin:lost_path", "nod can't tell where a path in the input leads")
	askSecrets = ask("builtin:secrets", "the path may contain keys, passwords or tokens")
	askOutside = ask("builtin:outside", "the path is outside your trusted folders")
)

// AskUnread replaces a decision that failed.
var AskUnread = ask("builtin:unread", "nod failed while reading the call")

func ask(id, reason string) Decision { return Decision{Effect: Ask, Rule: id, Reason: reason} }

// Decide returns the policy's decision on one call: that of the strictest rule that matches. A few things no rule can
// allow, so nod asks about them or denies them: input that a user cannot see as it is, questions to the user, changes
// of nod's own files and of files that lead to more than they seem to.
//
// It changes nothing and depends on nothing but its arguments and, for paths, on symbolic links.
func Decide(call Call, p *Compiled, now time.Time) Decision {
	return newFacts(&call, p, now).decision()
}

func (f *facts) decision() Decision {
	d := decide(f)
	if f.policy.askAll && d.Effect.Permits() {
		d = ask("builtin:ask_everything", `"ask about everything" is on; without it, `+d.Reason)
	}
	d.Class = f.class
	return d
}

// decide weighs everything in one order, for commands and tools alike: what denies, what must be asked about,
// rules that ask, those for the sandbox, rules and grants that allow, the class, and last whether the project's
// commands run in the sandbox.
func decide(f *facts) Decision {
	rule := f.policy.find(f, Deny)
	if rule != nil && rule.Effect == Deny {
		return rule.decision()
	}
	if f.policy.isBroken {
		return askBroken
	}
	if d := f.mustAsk(); d.Effect == Ask {
		return d
	}
	switch {
	case rule == nil, rule.Effect == Sandbox && !f.permits(rule):
		return f.byProject(f.byGrant())
	case rule.Effect == Sandbox:
		return f.contained(rule.decision())
	}
	return rule.decision()
}

// byGrant decides by what the user allowed before, and by class. What is read may be sent away, so neither opens a
// place that may hold secrets.
func (f *facts) byGrant() Decision {
	d, leak := f.allowed(), f.mayLeak()
	switch {
	case leak.Effect != Ask, d.Effect == Ask && leak != askSecrets: // no reason matters more than secrets
		return d
	case d.Effect != Ask && leak == askOutside:
		if g := f.grantForReads(); g != nil {
			return g.decision()
		}
	}
	return leak
}

// allowed returns what class, grants and the parts of a command line decide, before checking for secrets.
func (f *facts) allowed() Decision {
	if f.policy.auto[f.class.care()] && f.policy.auto[f.ownClass.care()] {
		reason := "class " + string(f.class) + " is allowed automatically"
		return Decision{Effect: Allow, Rule: ClassRule(f.class), Reason: reason}
	}
	if g := f.grant(); g != nil {
		return g.decision()
	}
	if parts, covered := f.judgeParts(); covered {
		for _, v := range parts {
			if v.by.Effect.Permits() {
				return v.by
			}
		}
	}
	return ask("", f.nothing())
}

// ClassRule names the rule that allows calls of a class.
func ClassRule(c Class) string { return "class:" + string(c) }

func (g *Grant) decision() Decision {
	return Decision{Effect: Allow, Rule: g.ID, Reason: g.reason(), Grant: true}
}

func (r *compiledRule) decision() Decision {
	return Decision{Effect: r.Effect, Rule: r.ID, Reason: r.reason}
}

// mustAsk returns a decision for what no rule and no grant can allow; otherwise the zero Decision.
func (f *facts) mustAsk() Decision {
	switch {
	case f.input.problem != "":
		return ask("builtin:unreadable", f.input.problem)
	case f.call.Input.isHidden:
		return ask("builtin:hidden", "the input contains invisible characters")
	case invisible.In(f.call.Tool):
		return ask("builtin:hidden", "the tool's name contains invisible characters")
	case f.call.Input.isLong():
		return ask("builtin:long", "the input is longer than 10,000 characters")
	case isQuestion(f.call.Tool):
		return ask("builtin:question", "only you can answer a question")
	case f.call.Refused:
		return ask("builtin:refused", "the agent's own check refused it; only you can overrule that, and only this once")
	case f.line != nil && f.line.Unreadable && (isUnixShell(f.call.Tool) || f.isBound()):
		return ask("builtin:shell", f.line.why(f.line.Reasons))
	case f.line != nil && f.line.DrivesScreen:
		return ask("builtin:screen", "it can control your screen and click for you")
	case f.class == ReadOnly:
		return Decision{}
	}
	return f.mustAskToChange()
}

// facts are what is known of one call while it is decided. What needs a look at the disk is worked out when it is first
// needed.
type facts struct {
	call   *Call
	policy *Compiled
	now    time.Time
	class  Class // that counts
	// ownClass is that of the tool, in nod's catalogue. class is another if the caller declares a stricter one.
	ownClass Class
	tool     tool
	input    input
	line     *commandLine // what a shell would run; nil if the tool is not a shell

	reached   []access
	verdicts  []verdict // on the parts of the command
	isCovered bool      // all parts pass
	isJudged  bool
	isKnown   bool      // tool is in the catalogue
	buf       [2]access // the accesses of the usual input, without an allocation
	listings  map[string]*listing
	meant     map[meaningKey]bool

	tree                    any // the input, decoded
	isTree                  bool
	isProject               bool
	projectTop, realProject string // as text, and with links followed
	workIn                  place
	runIn                   place
}

func newFacts(call *Call, p *Compiled, now time.Time) *facts {
	f := inputFacts(call, p)
	f.now = now
	f.readCommandLine()
	return f
}

func inputFacts(call *Call, p *Compiled) *facts {
	f := &facts{call: call, policy: p}
	f.class = classify(call.Agent, call.Tool, call.Declared, slices.Contains(p.trusted, call.Agent))
	f.tool, f.isKnown = lookup(call.Agent, call.Tool)
	if f.ownClass = f.class; f.isKnown {
		f.ownClass = f.tool.class
	}
	f.input.read(&call.Input, f.tool)
	if f.input.isOther {
		f.class = Unknown
	}
	return f
}

func (f *facts) cwd() place {
	if f.workIn == (place{}) {
		f.workIn = place{lost: true}
		if filepath.IsAbs(f.call.CWD) {
			f.workIn = locate(f.call.CWD, "", f.policy.places.Home)
		}
	}
	return f.workIn
}

// folder returns the folder that the input names for a command. It is cached, because every rule for a folder needs it.
func (f *facts) folder() place {
	if f.runIn == (place{}) {
		f.runIn = f.locate(f.input.folder)
	}
	return f.runIn
}

// Unrecorded replaces a decision that cannot be written to the history: it must not let anything pass.
func (d Decision) Unrecorded() Decision {
	return Decision{Effect: Ask, Class: d.Class, Reason: "nod can't write its history, so it asks you"}
}

// Explain returns the decision on a call and every step that led to it, as sentences for a user. It
// weighs what [Decide] weighs, but looks at all rules where Decide stops at the strictest.
func Explain(call Call, p *Compiled, now time.Time) (Decision, []string) {
	f := newFacts(&call, p, now)
	var steps []string
	say := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }

	if f.isKnown {
		say("nod knows the tool %s of %s: class %s", plain(call.Tool), plain(call.Agent), f.tool.class)
	} else {
		say("nod doesn't know a tool %s of agent %s: class %s", plain(call.Tool), plain(call.Agent), Unknown)
	}
	if call.Declared != "" {
		say("the agent declares class %s", call.Declared)
	}
	f.explainCommand(say)
	say("nod treats it as class %s", f.class)
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
		say("only a deny rule can decide this: %s", d.Reason)
	}
	if g := f.grant(); g != nil {
		say("%s", g.reason())
	}
	f.explainSandbox(say)
	d := Decide(call, p, now)
	say("so the decision is %s: %s", d.Effect, d.Reason)
	return d, steps
}

// explainSandbox says whether a command can run in the sandbox, or an edit can be taken back, if that may matter.
func (f *facts) explainSandbox(say func(string, ...any)) {
	project := f.switchedOn()
	if project != "" && f.editsOnly(project) && !f.call.Undoes {
		say("nod would take no snapshot of %s that could take this back", project)
	}
	if !f.runsCommand() || project == "" {
		return
	}
	in, problem := f.confinement(project)
	switch {
	case problem != "":
		say("in the sandbox of %s it cannot run: %s", project, problem)
	case !f.call.Contains:
		say("it does not run in the sandbox of %s: %s", project, askNoSandbox)
	case !in.Write:
		say("in the sandbox of %s it can read the project", project)
	default:
		say("in the sandbox of %s it can change the project", project)
	}
}

func (f *facts) explainCommand(say func(string, ...any)) {
	if f.line == nil {
		return
	}
	if names := f.line.Programs; len(names) > 0 {
		say("the command runs %s", strings.Join(names, ", "))
	}
	if f.class == ReadOnly {
		say("the command only reads")
	}
	verdicts, _ := f.judgeParts()
	for _, v := range verdicts {
		say("part %q: %s", v.part.Text, v.describe())
	}
	for _, reason := range f.line.Reasons {
		say("the command is not read-only: %s", asClause(reason))
	}
}

func (p place) describe() string {
	switch {
	case p.lost:
		return "nod can't tell where " + p.clean + " leads"
	case p.relative:
		return p.clean + " is relative to an unknown folder"
	case p.real != p.clean:
		return p.clean + " leads to " + p.real
	}
	return p.clean
}

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
