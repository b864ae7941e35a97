package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nod/policy/shell"
)

// Compiled is a policy prepared for [Decide]. It is immutable, and safe for concurrent use.
type Compiled struct {
	rules    []compiledRule // strictest first, then by id: the first match decides
	parts    partIndex      // rules that allow parts of command lines
	grants   []Grant
	guard    guard
	places   Places
	trusted  []string
	roots    []*pattern // trusted folders, with all that is below
	auto     [6]bool    // by place in [Classes]
	askAll   bool
	projects []place // whose commands run in the sandbox
	confined bool    // in these projects, commands that only read run in the sandbox, too
	hosts    []string
	isBroken bool
	// inSandbox makes the commands of every project run in the sandbox.
	inSandbox bool
	isPast    bool // calls are of the past: a git repository that is gone counts as harmless

	// tops are the folders in which past sessions began, by [sessionKey].
	tops map[string]string
}

// Compile prepares a policy. It fails with the first of [Policy.Problems], or the first example that fails: a policy
// with a hole in it must not decide anything. Patterns follow symbolic links as they are now.
func Compile(p Policy, places Places) (*Compiled, error) {
	p = p.Clone()
	p.Normalize()
	problems := p.Problems()
	if len(problems) == 0 {
		problems = p.FailedExamples(places)
	}
	if len(problems) > 0 {
		return nil, problems[0]
	}
	c := &Compiled{
		guard: newGuard(places), places: places, askAll: p.AskEverything, trusted: p.TrustedAgents,
		confined: p.Sandbox.ReadOnly, hosts: p.Sandbox.Hosts,
	}
	for _, root := range p.TrustedRoots {
		c.roots = append(c.roots, newPattern(root, places.Home, true))
	}
	for _, folder := range p.Sandbox.Projects {
		if at := locate(folder, "", places.Home); c.guard.mayContain(at) {
			c.projects = append(c.projects, at)
		}
	}
	for _, class := range p.AutoAllow {
		c.auto[class.care()] = true
	}
	for _, r := range p.Rules {
		if !r.Disabled {
			c.rules = append(c.rules, newCompiledRule(r, places.Home))
		}
	}
	slices.SortFunc(c.rules, func(a, b compiledRule) int {
		return cmp.Or(cmp.Compare(a.Effect.strictness(), b.Effect.strictness()), strings.Compare(a.ID, b.ID))
	})
	c.parts = newPartIndex(c.rules)
	return c, nil
}

// WithGrants returns the policy with these grants in place of its own.
func (c *Compiled) WithGrants(grants []Grant) *Compiled {
	next := *c
	next.grants = slices.Clone(grants)
	return &next
}

// SandboxHosts returns the hosts that a command in the sandbox reaches without a prompt, as patterns of rules.
func (c *Compiled) SandboxHosts() []string { return c.hosts }

// Broken returns what is left of a policy whose file can no longer be read: what was denied stays denied, and nod asks
// about everything else.
func (c *Compiled) Broken() *Compiled {
	denials := slices.DeleteFunc(slices.Clone(c.rules), func(r compiledRule) bool { return r.Effect != Deny })
	return &Compiled{guard: c.guard, places: c.places, isBroken: true, rules: denials}
}

// find returns the strictest rule that matches and is no stricter than an effect, or nil.
func (c *Compiled) find(f *facts, from Effect) *compiledRule {
	for i := range c.rules { // strictest first
		if r := &c.rules[i]; !r.Effect.IsStricter(from) && r.matches(f) {
			return r
		}
	}
	return nil
}

type compiledRule struct {
	Rule    // its class as in [Classes]
	reason  string
	run     []shell.Pattern
	program *pattern
	path    *pattern
	cwd     *pattern
	expires time.Time // zero: never
}

func newCompiledRule(r Rule, home string) compiledRule {
	c := compiledRule{Rule: r, reason: reason(r)}
	c.expires, _ = expiry(r.Expires) // which was validated
	for _, text := range r.Run {
		run, _ := shell.ParsePattern(text)
		c.run = append(c.run, run)
	}
	if c.Class != "" {
		c.Class = r.Class.known()
	}
	below := !r.Effect.Permits()
	c.program = newPattern(r.Program, home, false)
	c.path, c.cwd = newPattern(r.Path, home, below), newPattern(r.CWD, home, below)
	return c
}

func reason(r Rule) string {
	verb := map[Effect]string{
		Allow: "allows it", Sandbox: "runs it in the sandbox", Ask: "asks about it", Deny: "denies it",
	}[r.Effect]
	if r.Note == "" {
		return fmt.Sprintf("rule %q %s", r.ID, verb)
	}
	return fmt.Sprintf("rule %q %s: %s", r.ID, verb, strings.TrimSpace(r.Note))
}

// matches checks every matcher of the rule, the cheapest first.
func (r *compiledRule) matches(f *facts) bool {
	return r.matchesClass(f) && r.appliesTo(f) && (r.Effect != Sandbox || f.runsCommand()) &&
		(r.Server == "" || r.matchesServer(f)) &&
		(r.Command == "" || r.matchesCommand(f)) &&
		(len(r.run) == 0 || r.matchesRun(f)) &&
		(r.Host == "" || r.matchesHost(f)) &&
		(len(r.Args) == 0 || r.matchesArgs(f)) &&
		(r.path == nil || r.matchesPath(f))
}

// matchesClass compares the class of the tool. To ask or deny, what a command line does counts, too, and so does the
// tool's own class where the caller declares a stricter one; to allow, the two must be the same.
func (r *compiledRule) matchesClass(f *facts) bool {
	if r.Effect.Permits() {
		return r.Class == "" || r.Class == f.class && r.Class == f.ownClass
	}
	return r.Class == "" || r.Class == f.class || r.Class == f.ownClass || f.lineDoes(r.Class)
}

// lineDoes reports whether a command line deletes, or uses the network, as tools of a class do.
func (f *facts) lineDoes(c Class) bool {
	return f.line != nil && (c == Destructive && f.line.Deletes || c == Network && f.line.Network)
}

func (r *compiledRule) wouldMatch(f *facts) bool {
	still := *r
	still.expires = time.Time{}
	return still.matches(f)
}

// matchesCommand compares byte for byte. To allow, the tool must be a shell, or named by the rule, and
// nothing else in the input may change what the command does.
func (r *compiledRule) matchesCommand(f *facts) bool {
	if !f.input.isRun || f.input.command != r.Command {
		return false
	}
	return !r.Effect.Permits() || ((isShell(f.call.Tool) || r.Tool != "") && f.input.onlyRuns())
}

// matchesFolder checks the folder that the call works in, and the one that a shell is told to change to. To allow, both
// must match, as text and with links followed; otherwise one is enough.
func (r *compiledRule) matchesFolder(f *facts) bool {
	if !r.Effect.Permits() {
		return f.cwd().touches(r.cwd) || (f.input.folder != "" && f.folder().touches(r.cwd))
	}
	return f.cwd().isInside(r.cwd) && (f.input.folder == "" || f.folder().isInside(r.cwd))
}

// matchesPath checks everything that the call reaches. To allow, all of it must match, as text and with links followed,
// and the input must not hold a command, whose paths are not checked; otherwise one match is enough.
func (r *compiledRule) matchesPath(f *facts) bool {
	reached := f.reach()
	if !r.Effect.Permits() {
		touches := func(a access) bool { return a.touches(r.path) || f.holds(&a, r.path) }
		return slices.ContainsFunc(reached, touches) || slices.ContainsFunc(f.input.names, r.path.isNamed) ||
			f.line != nil && slices.ContainsFunc(f.line.mayReach, touches)
	}
	if (isShell(f.call.Tool) || f.input.isRun) && r.Command == "" {
		return false
	}
	sure := slices.ContainsFunc(reached, func(a access) bool { return a.source == fromField })
	return sure && !slices.ContainsFunc(reached, func(a access) bool {
		return a.source != fromWords && !a.isInside(r.path)
	})
}
