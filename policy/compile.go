package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nod/policy/shell"
)

// Compiled is a policy made ready for [Decide]. It is immutable, and safe for concurrent use.
type Compiled struct {
	rules    []compiledRule // strictest first, then by id, so that the first match decides
	index    index
	parts    partIndex // rules that allow parts of command lines
	grants   grantIndex
	guard    guard
	places   Places
	trusted  map[string]bool
	roots    []pattern // trusted folders, with all that is below
	auto     [6]bool   // by place in [Classes]
	askAll   bool
	isBroken bool
	isPast   bool // calls are of the past: a git repository that is gone is taken for a harmless one

	// tops are the folders in which sessions of the past began, by [sessionKey].
	tops map[string]string
}

// Compile makes a policy ready. It fails on the first rule that [Rule.Validate] refuses and on a repeated
// id: a policy with a hole in it must not decide anything.
//
// Patterns are tied to this moment: where the folder that one starts in is a symbolic link, the pattern
// also matches where the link led when it was compiled.
func Compile(p Policy, places Places) (*Compiled, error) {
	c := &Compiled{
		guard: newGuard(places), places: places, askAll: p.AskEverything,
		trusted: make(map[string]bool, len(p.TrustedAgents)),
	}
	for _, agent := range p.TrustedAgents {
		c.trusted[agent] = true
	}
	for _, root := range p.TrustedRoots {
		if problem := checkPattern(root); problem != "" {
			return nil, fmt.Errorf("trusted_roots: %q: %s", root, problem)
		}
		c.roots = append(c.roots, newPattern(root, places.Home, true))
	}
	for _, class := range p.AutoAllow {
		known, err := ParseClass(string(class))
		if err != nil {
			return nil, fmt.Errorf("auto_allow: %w", err)
		}
		c.auto[known.care()] = true
	}
	if err := c.addRules(p.Rules); err != nil {
		return nil, err
	}
	c.index, c.parts = newIndex(c.rules), newPartIndex(c.rules)
	return c, nil
}

func (c *Compiled) addRules(rules []Rule) error {
	ids := make(map[string]bool, len(rules))
	for _, r := range rules {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("rule %q: %w", r.ID, err)
		}
		if ids[r.ID] {
			return fmt.Errorf("rule %q: its id is taken", r.ID)
		}
		ids[r.ID] = true
		for _, e := range r.tryExamples(c.places) {
			if e.Problem != "" {
				return fmt.Errorf("rule %q: %s: %q: %s", r.ID, e.Key, e.Text, e.Problem)
			}
		}
		if !r.Disabled {
			c.rules = append(c.rules, newCompiledRule(r, c.places.Home))
		}
	}
	slices.SortFunc(c.rules, func(a, b compiledRule) int {
		return cmp.Or(cmp.Compare(a.effect.strictness(), b.effect.strictness()), strings.Compare(a.id, b.id))
	})
	return nil
}

// withGrants returns the policy with these grants in the place of the ones it had.
func (c *Compiled) withGrants(grants []Grant) *Compiled {
	next := *c
	next.grants = newGrantIndex(grants)
	return &next
}

// broken returns what is left of a policy whose file cannot be read any more: what was denied stays denied,
// and everything else is asked about.
func (c *Compiled) broken() *Compiled {
	next := &Compiled{guard: c.guard, places: c.places, isBroken: true}
	for _, r := range c.rules {
		if r.effect == Deny {
			next.rules = append(next.rules, r)
		}
	}
	next.index = newIndex(next.rules)
	return next
}

// A compiledRule is a [Rule] with its patterns prepared and its reason written.
type compiledRule struct {
	id      string
	effect  Effect
	reason  string
	agent   string
	tool    nameGlob
	class   Class
	command string
	run     []shell.Pattern
	program *pattern
	path    *pattern
	cwd     *pattern
	session string
	server  nameGlob
	host    string
	args    []Arg
	expires time.Time // zero: never
}

func newCompiledRule(r Rule, home string) compiledRule {
	c := compiledRule{
		id: r.ID, effect: r.Effect, reason: reason(r),
		agent: r.Agent, tool: nameGlob(r.Tool), class: r.Class, command: r.Command,
		session: r.Session, server: nameGlob(r.Server), host: r.Host, args: r.Args,
	}
	c.expires, _ = expiry(r.Expires) // which was validated
	for _, text := range r.Run {
		run, _ := shell.ParsePattern(text)
		c.run = append(c.run, run)
	}
	if c.class != "" {
		c.class, _ = ParseClass(string(r.Class))
	}
	below := r.Effect != Allow
	prepare := func(p string, below bool) *pattern {
		if p == "" {
			return nil
		}
		ready := newPattern(p, home, below)
		return &ready
	}
	c.program, c.path, c.cwd = prepare(r.Program, false), prepare(r.Path, below), prepare(r.CWD, below)
	return c
}

func reason(r Rule) string {
	verb := map[Effect]string{Allow: "allows it", Ask: "says ask", Deny: "denies it"}[r.Effect]
	if r.Note == "" {
		return fmt.Sprintf("rule %q %s", r.ID, verb)
	}
	return fmt.Sprintf("rule %q %s: %s", r.ID, verb, strings.TrimSpace(r.Note))
}

// matches weighs every matcher of the rule; those that cost least come first.
func (r *compiledRule) matches(f *facts) bool {
	return r.inForce(f.now) &&
		(r.session == "" || r.session == f.call.Session) &&
		(r.agent == "" || r.agent == f.call.Agent) &&
		(r.class == "" || r.class == f.class) &&
		(r.tool == "" || r.tool.match(f.call.Tool)) &&
		(r.program == nil || f.hasProgram(r.program)) &&
		(r.server == "" || r.matchesServer(f)) &&
		(r.command == "" || r.matchesCommand(f)) &&
		(len(r.run) == 0 || r.matchesRun(f)) &&
		(r.host == "" || r.matchesHost(f)) &&
		(len(r.args) == 0 || r.matchesArgs(f)) &&
		(r.cwd == nil || r.matchesFolder(f)) &&
		(r.path == nil || r.matchesPath(f))
}

// wouldMatch reports whether the rule matched before it expired.
func (r *compiledRule) wouldMatch(f *facts) bool {
	still := *r
	still.expires = time.Time{}
	return still.matches(f)
}

// matchesCommand compares byte for byte. To allow, the tool must be a shell, or named by the rule, and
// nothing else in the input may change what the command does.
func (r *compiledRule) matchesCommand(f *facts) bool {
	if !f.input.isRun || f.input.command != r.command {
		return false
	}
	return r.effect != Allow || ((isShell(f.call.Tool) || r.tool != "") && f.input.onlyRuns())
}

// matchesFolder looks at the folder that the call works in, and at the one that a shell is told to change to.
// To allow, all must match, as text and with links followed; else any does.
func (r *compiledRule) matchesFolder(f *facts) bool {
	if r.effect != Allow {
		return f.cwd().touches(r.cwd) || (f.input.folder != "" && f.folder().touches(r.cwd))
	}
	return f.cwd().isInside(r.cwd) && (f.input.folder == "" || f.folder().isInside(r.cwd))
}

// matchesPath looks at everything that the call reaches. To allow, all of it must match, as text and with links
// followed, and the input must not hold a command, whose paths nobody looked at; else any does.
func (r *compiledRule) matchesPath(f *facts) bool {
	reached := f.reach()
	if r.effect != Allow {
		return slices.ContainsFunc(reached, func(a access) bool { return a.touches(r.path) })
	}
	if (isShell(f.call.Tool) || f.input.isRun) && r.command == "" {
		return false
	}
	sure := slices.ContainsFunc(reached, func(a access) bool { return a.source == fromField })
	return sure && !slices.ContainsFunc(reached, func(a access) bool {
		return a.source != fromWords && !a.isInside(r.path)
	})
}
