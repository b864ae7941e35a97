package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"nod/policy/shell/language"
)

const (
	suggestAfter   = 3   // like answers after which a rule is proposed
	maxSuggestions = 20  // users do not read more
	maxCandidates  = 60  // rules to try, those with the most calls first
	maxSuggested   = 160 // characters of a command or a folder: a longer one is not shown in full
)

const runNote = "also with other arguments, other project files and flags known to be harmless"

// A Past is a call that the user answered: Effect is Allow or Deny.
type Past struct {
	Call   Call
	Effect Effect
}

// A Suggestion is a rule that would have given the same answers as the user. nod only proposes it.
type Suggestion struct {
	Rule    Rule
	Calls   []Call   // the calls that it would have decided, oldest first
	Folders []string // the folders of the calls, in order of first use
}

// Suggest proposes rules that would have spared the user questions they always answered alike. A rule must decide every
// call that it rests on, and none that the user decided otherwise. Suggest never proposes to allow what deletes,
// installs or reaches other computers. Rules with the most calls come first. It fails if the context ends.
func (s *Simulation) Suggest(ctx context.Context, past []Past, now time.Time) ([]Suggestion, error) {
	candidates, err := group(ctx, past, s.rules, now)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(candidates, func(a, b *candidate) int { return cmp.Compare(len(b.Calls), len(a.Calls)) })
	candidates = candidates[:min(len(candidates), maxCandidates)]
	if err := oppose(ctx, candidates, past, s.rules, now); err != nil {
		return nil, err
	}
	var found []Suggestion
	taken := s.config.Rules
	for _, g := range candidates {
		if err := ctx.Err(); err != nil || len(found) == maxSuggestions {
			return found, err
		}
		g.Rule.ID = freeID(g.Rule, taken)
		if s.allows(g, now) {
			found, taken = append(found, g.Suggestion), slices.Concat(taken, []Rule{g.Rule})
		}
	}
	return found, nil
}

type candidate struct {
	Suggestion
	against []Call // calls the rule may match that the user decided otherwise
}

// group collects calls that one rule could decide, and no rule decides yet.
func group(ctx context.Context, past []Past, p *Compiled, now time.Time) ([]*candidate, error) {
	var all []*candidate
	by, refused := map[suggestKey]*candidate{}, map[string]bool{}
	for _, one := range past {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f := newFacts(&one.Call, p, now)
		if one.Effect == Deny {
			r, _ := f.ruleFor(Allow)
			for _, text := range r.Run {
				refused[text] = true
			}
		}
		rule, ok := f.suggestible(one.Effect)
		if !ok || f.decision().Effect != Ask {
			continue
		}
		k := suggestKey{rule.Effect, rule.Agent, rule.Program, rule.Tool, rule.Path, rule.Command, "", ""}
		if len(rule.Run) > 0 {
			k.run, k.project = rule.Run[0], rule.CWD
		}
		g := by[k]
		if g == nil {
			g = &candidate{Suggestion: Suggestion{Rule: rule}}
			by[k] = g
			all = append(all, g)
		}
		g.add(one.Call)
	}
	return slices.DeleteFunc(all, func(g *candidate) bool {
		return len(g.Calls) < suggestAfter || len(g.Rule.Run) > 0 && refused[g.Rule.Run[0]]
	}), nil
}

// suggestible returns the rule that may be proposed for a call: for one command, and short enough to be read in full.
func (f *facts) suggestible(effect Effect) (Rule, bool) {
	r, ok := f.ruleFor(effect)
	if len(r.Run) > 1 { // the user answered this line, not each of its commands
		r.Run, r.Command, r.CWD, r.Note = nil, f.input.command, f.call.CWD, ""
	}
	for _, text := range append([]string{r.Command, r.CWD, r.Path}, r.Run...) {
		ok = ok && utf8.RuneCountInString(text) <= maxSuggested
	}
	return r, ok && (effect != Allow || !f.acts())
}

// acts reports whether a call may delete, install or reach other computers, according to what nod knows of its programs
// or to a word of the command.
func (f *facts) acts() bool {
	command, ok := f.commandText()
	if !ok {
		return false
	}
	return f.lineDoes(Destructive) || f.lineDoes(Network) || hasWord(command, actWords) || f.isRisky()
}

const actWords language.Words = "add clean delete deploy destroy drop erase install post prune publish purge " +
	"push release remove reset rm send truncate uninstall upload wipe"

// oppose notes for each candidate the calls that its rule may match and the user decided otherwise.
func oppose(ctx context.Context, candidates []*candidate, past []Past, p *Compiled, now time.Time) error {
	rules := make([]compiledRule, len(candidates))
	effects := map[Effect]bool{}
	for i, g := range candidates {
		rules[i] = newCompiledRule(g.Rule, p.places.Home)
		effects[g.Rule.Effect] = true
	}
	for _, one := range past {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(effects) == 1 && effects[one.Effect] {
			continue
		}
		f := newFacts(&one.Call, p, now)
		for i, g := range candidates {
			r := &rules[i]
			if r.Effect != one.Effect && r.appliesTo(f) && (r.Effect == Allow || r.matches(f)) {
				g.against = append(g.against, one.Call)
			}
		}
	}
	return nil
}

type suggestKey struct {
	effect                                            Effect
	agent, program, tool, path, command, run, project string
}

func (g *candidate) add(c Call) {
	g.Calls = append(g.Calls, c)
	if !slices.Contains(g.Folders, c.CWD) {
		g.Folders = append(g.Folders, c.CWD)
	}
	if len(g.Folders) > 1 && len(g.Rule.Run) == 0 {
		g.Rule.CWD = "" // asked in several projects: it applies in all
	}
}

// ruleFor returns the narrowest rule that decides calls like this one: for the new commands of a line, otherwise the
// same line, or files in the same project. There is none for a command that may leak secrets, or if no rule would limit
// the tool.
func (f *facts) ruleFor(effect Effect) (Rule, bool) {
	c := f.call
	if f.mustAsk().Effect == Ask || !isPlainFolder(c.CWD) {
		return Rule{}, false
	}
	r := c.ruleFrom(effect)
	r.CWD = c.CWD
	switch {
	case f.input.isRun && effect == Allow && f.mayLeak().Effect == Ask:
		return Rule{}, false
	case f.input.isRun && f.input.command != "":
		if r.Run = f.newCommands(); len(r.Run) > 0 && effect == Allow {
			r.CWD, r.Note = f.project()+"/**", runNote
		} else {
			r.Run, r.Command = nil, f.input.command
		}
	case f.class == Write && f.reachesOnly(f.cwd()):
		r.Path, r.CWD = c.CWD+"/**", ""
	default:
		return Rule{}, false
	}
	return r, !strings.ContainsAny(r.Tool, "*?")
}

func (c *Call) ruleFrom(effect Effect) Rule {
	r := Rule{Effect: effect, Agent: c.Agent, Tool: c.Tool}
	if program := c.program(); isPlainFolder(program) {
		r.Program = program
	}
	return r
}

func (f *facts) reachesOnly(folder place) bool {
	return len(f.reach()) > 0 && !slices.ContainsFunc(f.reach(), func(a access) bool { return !folder.holds(a.place) })
}

// newCommands returns what a rule must name so that the command line may run. There is nothing if more than commands is
// new, if a command deletes files, or if a rule would cover more than a grant of each part.
func (f *facts) newCommands() []string {
	verdicts, _ := f.judgeParts()
	if len(verdicts) == 0 || f.line.Whole != "" || f.line.outside != "" || !isPlainFolder(f.project()) {
		return nil
	}
	var texts []string
	for _, v := range verdicts {
		if v.state != PartNew {
			continue
		}
		text, ok := f.ruleText(v)
		if !ok {
			return nil
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (f *facts) ruleText(v verdict) (text string, ok bool) {
	if v.file != nil || v.part.doesMore() {
		return "", false
	}
	pattern, err := v.part.Pattern()
	if err != nil || !pattern.Covers(*v.part.Part, f.insideProject(v.part)) ||
		pattern.HasPath() && !f.partRunsAtTop(v.part) {
		return "", false
	}
	return pattern.Rule()
}

func isPlainFolder(path string) bool {
	return filepath.IsAbs(path) && path != "/" && !strings.ContainsAny(path, `*?[]{}\!`)
}

func (s *Simulation) allows(g *candidate, now time.Time) bool {
	with, err := s.With(g.Rule) // which validates the rule
	if err != nil {
		return false
	}
	decides := func(c Call) bool { return Decide(c, with.rules, now).Rule == g.Rule.ID }
	return !slices.ContainsFunc(g.against, decides) &&
		!slices.ContainsFunc(g.Calls, func(c Call) bool { return !decides(c) })
}

func freeID(r Rule, rules []Rule) string {
	about := cmp.Or(r.Command, r.Tool+" "+filepath.Base(strings.TrimSuffix(r.Path, "/**")))
	if len(r.Run) == 1 {
		about = r.Run[0]
	} else if len(r.Run) > 1 {
		about = "commands " + filepath.Base(strings.TrimSuffix(r.CWD, "/**"))
	}
	isBetween := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }
	words := strings.FieldsFunc(strings.ToLower(about), isBetween)
	base := strings.Join(words[:min(len(words), 4)], "-")
	base = string(r.Effect) + "-" + cmp.Or(base[:min(len(base), 40)], "rule")
	base = strings.TrimSuffix(base, "-")
	for id, n := base, 2; ; id, n = fmt.Sprintf("%s-%d", base, n), n+1 {
		if !slices.ContainsFunc(rules, func(o Rule) bool { return o.ID == id }) {
			return id
		}
	}
}

// A Proposal is a rule for a call and similar ones, and the decision on the call with that rule.
type Proposal struct {
	Rule     Rule
	Changes  string   // id of the rule that it replaces; empty: it is a new one
	Decision Decision // on the call, with the rule
}

var (
	// ErrNoRule is the error if no rule can be made for a call.
	ErrNoRule = errors.New("no rule could limit such a call")
	// ErrRuleIsThere is the error if a rule with this effect already exists.
	ErrRuleIsThere = errors.New("a rule already covers this")
)

// Propose makes the narrowest rule of an effect for a call and similar ones, or changes a rule for the same calls. It
// saves nothing. It fails with [ErrNoRule], [ErrRuleIsThere], or what is wrong with the policy.
func Propose(p Policy, places Places, call Call, effect Effect, now time.Time) (Proposal, error) {
	compiled, err := Compile(p, places)
	if err != nil {
		return Proposal{}, err
	}
	f := newFacts(&call, compiled, now)
	r, ok := f.ruleFor(effect)
	if !ok {
		r, ok = f.wholeRule(effect)
	}
	if !ok {
		return Proposal{}, ErrNoRule
	}
	found := Proposal{Rule: r}
	rules := slices.Clone(p.Rules)
	at := slices.IndexFunc(rules, func(old Rule) bool { return old.matchesAs(r) })
	switch {
	case at < 0:
		found.Rule.ID = freeID(r, rules)
		rules = append(rules, found.Rule)
	case rules[at].Effect == effect && !rules[at].Disabled:
		return Proposal{Rule: rules[at], Changes: rules[at].ID}, ErrRuleIsThere
	default:
		old := rules[at]
		found.Changes, found.Rule.ID = old.ID, old.ID
		if old.Effect != effect && strings.HasPrefix(old.ID, string(old.Effect)+"-") {
			found.Rule.ID = freeID(r, rules) // the old one says the opposite
		}
		rules[at] = found.Rule
	}
	p.Rules = rules
	if compiled, err = Compile(p, places); err != nil {
		return Proposal{}, err
	}
	found.Decision = Decide(call, compiled, now)
	return found, nil
}

func (r Rule) matchesAs(o Rule) bool {
	r.ID, r.Effect, r.Note, r.Examples, r.Disabled = o.ID, o.Effect, o.Note, o.Examples, o.Disabled
	return r.Equal(o)
}

// wholeRule returns a rule if [facts.ruleFor] has none: for the host, the file or the command of the call, otherwise
// for its tool in this project. It allows only tools of MCP servers and hosts: nothing would limit others.
func (f *facts) wholeRule(effect Effect) (Rule, bool) {
	c := f.call
	if c.Tool == "" || strings.ContainsAny(c.Tool, "*?") || effect == Allow && f.mustAsk().Effect == Ask {
		return Rule{}, false
	}
	r := c.ruleFrom(effect)
	hosts, sure := f.hosts()
	reach := f.reach()
	switch {
	case f.input.isRun && f.input.command != "" && effect != Allow:
		r.Command = f.input.command
	case f.input.isRun:
		return Rule{}, false
	case sure && len(hosts) == 1 && checkHost(hosts[0]) == "":
		r.Host = hosts[0]
	case len(reach) == 1 && isPlainFolder(reach[0].clean) && effect != Allow:
		r.Path = reach[0].clean
	case !isPlainFolder(c.CWD) || effect == Allow && !strings.HasPrefix(c.Tool, mcpPrefix):
		return Rule{}, false
	default:
		r.CWD = c.CWD
	}
	r.ID = "new" // only to have it checked
	return r, r.Validate() == nil
}

// A Simulation decides past calls by the current configuration, and plays a user who answers every prompt with the
// widest "always" that it offers. It stores nothing on disk, and is not safe for concurrent use.
//
// It uses the current disk, and does not know which program asked: a rule on one never matches.
type Simulation struct {
	config Policy
	places Places
	rules  *Compiled         // without grants
	kept   *Compiled         // with the grants that the user has given so far
	tops   map[string]string // see [Compiled.tops]
}

const maxTops = 10_000

// NewSimulation returns a simulation of a policy without grants.
func NewSimulation(p Policy, places Places) (*Simulation, error) {
	return newSimulation(p, places, map[string]string{})
}

func newSimulation(p Policy, places Places, tops map[string]string) (*Simulation, error) {
	rules, err := Compile(p, places)
	if err != nil {
		return nil, err
	}
	rules.isPast, rules.tops = true, tops
	kept := rules.WithGrants(nil)
	return &Simulation{config: p, places: places, rules: rules, kept: kept, tops: tops}, nil
}

// InSandbox makes the commands of every project run in the sandbox from now on, as if the user had switched that on and
// each agent's commands could run there.
func (s *Simulation) InSandbox() {
	s.rules.inSandbox, s.kept.inSandbox = true, true
}

// note treats the folder that a session starts in as its project: the folders of the past may be gone, and with them
// the signs of where the project starts.
func (s *Simulation) note(c Call) {
	if c.Session == "" || c.CWD == "" || len(s.tops) >= maxTops {
		return
	}
	if key := sessionKey(&c); s.tops[key] == "" {
		s.tops[key] = c.CWD
	}
}

func sessionKey(c *Call) string { return c.Agent + "\x00" + c.Session }

// Decide returns the policy's decision on a call, without the user's earlier answers.
func (s *Simulation) Decide(c Call, at time.Time) Decision {
	s.note(c)
	return s.decide(&c, s.rules, at)
}

// decide allows what the agent allows by itself, without nod, unless a rule or a guard applies.
func (s *Simulation) decide(c *Call, p *Compiled, at time.Time) Decision {
	c.Contains, c.Undoes = p.inSandbox, p.inSandbox
	d := Decide(*c, p, at)
	if d.Effect == Ask && d.Rule == "" && catalogue()[c.Agent][c.Tool].passes {
		return Decision{Effect: Allow, Reason: "the agent allows it on its own"}
	}
	return d
}

// Answer reports whether the user sees a prompt for a call, given all that they have answered before. If so, they
// answer with the widest allow that is offered.
func (s *Simulation) Answer(c Call, at time.Time) (asked bool) {
	s.note(c)
	d := s.decide(&c, s.kept, at)
	for i := range s.kept.grants {
		if g := &s.kept.grants[i]; g.ID == d.Rule {
			g.LastUsed = at
		}
	}
	if d.Effect != Ask {
		return false
	}
	f := newFacts(&c, s.kept, at)
	for _, offer := range []struct {
		scope Scope
		cover Cover
	}{
		{UntilQuit, CoverEdits}, {Always, CoverBuilds}, {Always, CoverGit}, {Always, CoverContainers},
		{Always, CoverCommands}, {Everywhere, CoverHost}, {Always, CoverHost}, {Always, CoverServer},
		{Everywhere, CoverTool}, {Always, CoverTool}, {Always, CoverInput},
	} {
		grants, err := f.newGrants(offer.scope, offer.cover)
		if err != nil || len(s.kept.grants)+len(grants) > MaxGrants {
			continue
		}
		for _, g := range grants {
			s.kept.grants = append(slices.DeleteFunc(s.kept.grants, g.SameAs), g)
		}
		break
	}
	return true
}

// With returns a simulation of the same policy with additional rules.
func (s *Simulation) With(rules ...Rule) (*Simulation, error) {
	p := s.config
	p.Rules = slices.Concat(p.Rules, rules)
	with, err := newSimulation(p, s.places, s.tops)
	if err != nil {
		return nil, fmt.Errorf("add the suggested rules: %w", err)
	}
	with.rules.inSandbox, with.kept.inSandbox = s.rules.inSandbox, s.kept.inSandbox
	return with, nil
}

// IsQuestion reports whether a tool asks the user something. Such a call needs no permission.
func IsQuestion(c Call) bool { return isQuestion(c.Tool) }
