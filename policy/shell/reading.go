package shell

import (
	"cmp"
	"slices"
	"strings"

	"nod/policy/shell/language"
)

// A reading is what the words of one call mean to the program, according to its entry.
type reading struct {
	*budget
	program *program
	name    string // as written in the command, with its subcommands

	behind   map[int]string    // by the number of an operand: the flag before it, whose value it may be
	given    []string          // flags as spelled, without values: -n, --lines
	values   map[string]string // of the flags that have one
	operands []word
	dashes   int // the number of operands before --, or -1 without one

	accesses []Access
	only     []string // filters on the names that it reads in folders
	at       int      // the operand that is being judged
	specs    []Access // what its operands narrow a history to
	revs     int      // operands that are revisions
	blobs    int      // operands that are files in a revision
	folder   string   // where a flag of its own, such as git -C, moves it; empty: nowhere

	named     bool     // a file name from others may be a flag with a pattern: then it reads the first operand
	patterns  []string // that are matched against lines, in a syntax that the flags choose
	syntax    language.Syntax
	lead      []string  // words that say what runs: the name, its sub-commands, targets
	seen      []string  // flags, with their values, that only a user who saw them can allow
	examples  []example // words that others may replace; seen holds the words themselves
	limits    []string  // flags, with their values, that restrain it
	outputs   []string  // files that a task writes as its flags say
	exports   []word    // settings that apply to what it runs
	args      []string  // operands of a task, which must be plain words or lie in the project
	fixed     string    // why a task can be remembered with exactly these words only
	inner     [][]word  // commands that it runs
	fed       bool      // {} in the inner command stands for the names that are piped in
	finds     bool      // {} stands for the names that it finds
	names     []string  // patterns of the names that it finds
	loose     string    // why file names from others may be flags to it
	script    *string   // a shell script that it runs
	remotes   bool      // it prints addresses of remotes
	changed   bool      // a variable is set that may change what it runs
	grows     float64   // how many times its scripts may lengthen their input
	prints    float64   // the length of the texts that it may print repeatedly
	settings  []word    // NAME=value for the inner command
	variables []string  // names of variables that its flags set, as jq --arg does
	seems     *reading  // for an unknown program: its reading as the known program that its name resembles
}

func (r *reading) has(flags ...string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(r.given, f) })
}

// growth returns how many times longer than its input the program's output may be. The program may print a text in its
// words for each line, or each character.
func (r *reading) growth() float64 {
	most := max(1, r.prints)
	for _, g := range r.program.grows {
		if len(g.with) == 0 || r.has(g.with...) {
			most = max(most, g.times)
		}
	}
	return most * max(r.grows, 1)
}

// read works out what the words after a program's name mean. It returns the first reason why they are not all
// understood, or "", and reads on after it for what else the call shows.
func (r *reading) read(args []word) string {
	var first string
	for i := 0; i < len(args); {
		if r.isOperand(args[i]) {
			if typ := r.next(args[i]); typ.all != nil {
				return cmp.Or(first, r.globbed(args[i:]...), r.judgeOperands(), r.checkAll(typ, args[i:]))
			}
		}
		taken, problem := r.word(args, i)
		if first = cmp.Or(first, problem); taken == 0 && r.isOperand(args[i]) {
			r.operands = append(r.operands, args[i])
		}
		i += max(taken, 1)
	}
	return cmp.Or(first, r.judgeOperands(), r.withoutRest())
}

// withoutRest judges a call that ends before the operands of a type that takes all remaining words.
func (r *reading) withoutRest() string {
	n := len(r.program.operands)
	switch {
	case r.program.runs() && r.name == "env":
		return showsEnvironment(r.name)
	case r.program.runs():
		return quote(r.name) + " is given no command to run."
	case n > 0 && r.program.operands[n-1].typ.all != nil:
		return r.checkAll(r.program.operands[n-1].typ, nil)
	}
	return ""
}

// runs reports whether the program runs the command in its words.
func (p *program) runs() bool {
	n := len(p.operands)
	return n > 0 && p.operands[n-1].typ.runs
}

// isOperand reports whether a word is not a flag. A raw program has only operands.
func (r *reading) isOperand(w word) bool {
	return r.program.traits[traitRaw] || r.dashes >= 0 || w.text == "-" || !strings.HasPrefix(w.text, "-")
}

// next returns the type of the next operand, which may be a type that takes all remaining words.
func (r *reading) next(w word) *wordType {
	all, n := r.program.operands, len(r.operands)
	for i, o := range all {
		if o.many && i+1 < len(all) && all[i+1].typ.all != nil && n >= i {
			if try := *r; o.typ.check(&try, w) == "" {
				return o.typ
			}
			return all[i+1].typ
		}
		if i == n {
			return o.typ
		}
	}
	return wordTypes["TEXT"]
}

// globbed says why file names from others, out of a pattern or a listing, are unsafe among these words.
func (r *reading) globbed(words ...word) string {
	for _, w := range words {
		isValue := w.isHeld() && r.program.takesValues()
		if problem := r.mayBeFlag(w); problem != "" && w.stands() && !isValue {
			r.loose = cmp.Or(r.loose, problem)
			if r.program.kind == understood {
				return problem
			}
		}
	}
	return ""
}

// mayBeFlag says why a file name that replaces a word could be a flag, or an assignment. The name starts as the word
// does, unless the word may be anything.
func (r *reading) mayBeFlag(w word) string {
	t := r.program.traits
	isAny := w.listed || w.glob && strings.ContainsAny(w.text[:1], "-+*?[")
	isOver := r.dashes >= 0 || t[traitFirst] && len(r.operands) > 0 // no more flags
	switch {
	case t[traitAssigns] && (w.listed || w.glob && mayAssign().MatchString(w.text)):
		return "A file name that matches " + quote(w.text) + " could set a variable of " + r.name + "."
	case t[traitGlobs]:
	case t[traitEnded] && (w.spelled || w.glob && endedPattern().MatchString(w.text)):
		r.named = r.named || isAny && !isOver
	case r.program.kind == understood && !t[traitNamed] && (w.glob || w.many || w.listed && !isOver):
		return r.name + " has flags that write or run programs, and a file name that matches " + quote(w.text) +
			" could be one."
	case isAny && !isOver:
		return "A file name that matches " + quote(w.text) + " could be a flag of " + r.name + "."
	}
	return ""
}

// endedPattern matches patterns whose names cannot end like a short flag, nor give a longer flag any file but those
// that the pattern means; and patterns that are a flag's value.
var endedPattern = language.Compiled(`[./][A-Za-z0-9_.-]*$|^--[a-z-]+=`)

// mayAssign matches patterns that may match NAME=value.
var mayAssign = language.Compiled(`^[A-Za-z0-9_]*[=*?[]`)

// word reads the word at place i and returns how many words it took.
func (r *reading) word(args []word, i int) (taken int, problem string) {
	w, p := args[i], r.program
	if problem := r.globbed(w); problem != "" {
		return 0, problem
	}
	if p.traits[traitAtFiles] && strings.HasPrefix(w.text, "@") {
		return 0, r.name + " reads more words from the file " + quote(w.text) + "."
	}
	switch {
	case i == 0 && p.traits[traitBundle] && (!w.known || !strings.HasPrefix(w.text, "-")):
		return r.bundle(args)
	case r.isOperand(w):
		r.operands = append(r.operands, w)
		return 1, ""
	case p.traits[traitFirst] && len(r.operands) > 0:
		return 0, "It gives " + r.name + " a flag behind an operand, which some systems read as a file."
	case w.text == "--":
		r.dashes = len(r.operands)
		return 1, ""
	case !w.known:
		if _, isListed := p.flags[flagName(w.text)]; !isListed && w.said != "" {
			taken = r.like(args[i:])
		}
		if taken > 0 {
			return taken, ""
		}
		return 0, "It gives " + r.name + " a flag that is known only when it runs."
	}
	if _, ok := p.flag(w.text); ok || strings.HasPrefix(w.text, "--") || p.traits[traitDashes] {
		return r.flags(args, i, true)
	}
	if p.traits[traitNumbers] && digits(w.text[1:]) {
		r.given = append(r.given, "-number")
		return 1, ""
	}
	return r.flags(args, i, false)
}

// flags reads the flags in a word: one long flag, or any number of single letters.
func (r *reading) flags(args []word, i int, long bool) (int, string) {
	own, p := args[i], r.program
	for at := 1; at < len(own.text); at++ {
		name, value := "-"+own.text[at:at+1], own.text[at+1:]
		glued := value != ""
		if long {
			name, value, glued = strings.Cut(own.text, "=")
		}
		f, ok := p.flag(name)
		if ok && long && f.typ == nil && p.restrains(name) && isSwitched(args[i:]) {
			ok = false
		}
		switch {
		case !ok, glued && f.typ == nil && (long || p.traits[traitAlone]),
			glued && f.typ != nil && !long && p.traits[traitApart]:
			return r.unlisted(args, i, name)
		case f.typ != nil && glued:
			return 1, r.value(name, f, word{text: value, known: true, plain: own.plain, glob: own.glob && long})
		case f.typ != nil && !f.optional:
			return r.nextValue(name, f, args, i)
		}
		r.give(name, "")
		if long {
			break
		}
	}
	return 1, ""
}

// bundle reads a first word of letters without a dash, as tar accepts: the letters that have a value take the next
// words in order.
func (r *reading) bundle(args []word) (taken int, problem string) {
	if !args[0].known || args[0].text == "" {
		return 0, r.name + " reads a first word without a dash as flags."
	}
	taken = 1
	for letter := range strings.SplitSeq(args[0].text, "") {
		f, listed := r.program.flags["-"+letter]
		if !listed || f.never != "" {
			problem = cmp.Or(problem, f.never, r.notKnown(args[0].text))
		}
		switch {
		case !listed: // whether it takes a value is not known
			return taken, problem
		case f.typ == nil:
			r.give("-"+letter, "")
		case taken == len(args):
			return taken, cmp.Or(problem, "The flag "+quote(letter)+" of "+r.name+" lacks its value.")
		default:
			value := args[taken]
			if !value.fits(f.typ) || isFlag(value.text) && value.text != "-" {
				problem = cmp.Or(problem, r.notKnown(args[0].text+" "+value.text))
			}
			problem = cmp.Or(problem, r.value("-"+letter, f, value))
			taken++
		}
	}
	return taken, problem
}

// nextValue reads the next word as a flag's value. A value that looks like a flag is one for versions of the program
// that know the flag differently; only negative numbers and messages pass.
func (r *reading) nextValue(name string, v flag, args []word, i int) (int, string) {
	if i+1 == len(args) {
		return 0, "The flag " + quote(args[i].text) + " of " + r.name + " lacks its value."
	}
	value := args[i+1]
	rest, dash := strings.CutPrefix(value.text, "-")
	strict := r.program.kind == understood
	switch {
	case dash && rest != "" && !digits(rest) && (strict || !v.typ.free), strict && !value.fits(v.typ):
		return 0, r.notKnown(args[i].text + " " + value.text)
	case value.glob:
		return 0, "The value of " + name + " may be several words."
	case v.second == nil:
		return 2, r.value(name, v, value)
	case i+2 == len(args):
		return 0, "The flag " + quote(args[i].text) + " of " + r.name + " lacks its second value."
	case strict && !args[i+2].fits(v.typ):
		return 0, r.notKnown(args[i].text + " " + value.text + " " + args[i+2].text)
	}
	if problem := r.value(name, v, value); problem != "" {
		return 0, problem
	}
	return 3, r.value(name, flag{typ: v.second}, args[i+2])
}

// give notes a flag of the entry, with its value if any. For a flag that restrains or extends, the value matters too.
func (r *reading) give(name, value string) {
	if twice := name + name[1:]; r.has(name) && r.program.flags[twice].extends { // -q -q is -qq
		name = twice
	}
	r.given = append(r.given, name)
	if r.program.restrains(name) {
		r.limits = append(r.limits, name+value)
	}
	if r.program.extends(name) {
		r.seen = append(r.seen, name+value)
	}
}

func (r *reading) value(name string, v flag, w word) string {
	mark := " "
	if v.optional {
		mark = "="
	}
	isAny := v.typ == wordTypes["MESSAGE"] && !r.program.restrains(name)
	if isAny && r.program.extends(name) {
		r.given = append(r.given, name)
		r.note(w.text, markTold+name, name+mark+w.text)
	} else {
		r.give(name, mark+w.text)
	}
	if r.values == nil {
		r.values = map[string]string{}
	}
	r.values[name] += w.text
	if v.typ == wordTypes["TEXT"] {
		r.prints += float64(len(w.text))
	}
	if r.program.traits[traitAtFiles] && strings.HasPrefix(w.text, "@") {
		return r.name + " reads more words from the file " + quote(w.text) + "."
	}
	if w.splits || !w.known && !isAny && (!v.typ.free || r.program.restrains(name) || r.program.extends(name)) {
		return "The value of " + name + " is known only when it runs."
	}
	return r.check(w, v.typ)
}

func (r *reading) check(w word, typ *wordType) string {
	if w.hat && !typ.hats {
		return patternIn(w)
	}
	if !r.spend(len(w.text) * typ.steps) {
		return r.notKnown(w.text)
	}
	return typ.check(r, w)
}

func (r *reading) checkAll(typ *wordType, words []word) string {
	for _, w := range words {
		if !r.spend(stepsWord + len(w.text)*typ.steps) {
			return r.notKnown(w.text)
		}
	}
	return typ.all(r, words)
}

// unlisted reads a flag that the entry lacks. In a task the user must see it, with the next word if that may be its
// value.
func (r *reading) unlisted(args []word, i int, name string) (int, string) {
	text := args[i].text
	reason := r.never(name, text)
	taken := r.spoiled(name, args[i:])
	switch {
	case r.program.kind == understood:
		return taken, cmp.Or(reason, r.notKnown(text))
	case reason != "":
		r.fix(reason)
		return taken, ""
	case (text == "--help" || text == "--version") && !isSwitched(args[i:]): // tells of a program that may run anyway
		r.limits = append(r.limits, text)
		return 1, ""
	case len(text) > 2 && prints(text):
		return 1, ""
	}
	if taken := r.like(args[i:]); taken > 0 {
		return taken, ""
	}
	hasNext := i+1 < len(args) && !strings.Contains(text, "=") && !isFlag(args[i+1].text)
	if hasNext && (takesName(text) || r.isDrastic() || isSwitched(args[i:])) {
		if !args[i+1].known {
			return 0, "The value of " + text + " is known only when it runs."
		}
		r.seen = append(r.seen, text+" "+args[i+1].text)
		return 2, ""
	}
	r.seen = append(r.seen, text)
	if hasNext {
		if r.behind == nil {
			r.behind = map[int]string{}
		}
		r.behind[len(r.operands)] = text
	}
	return 1, ""
}

// spoiled notes what a never harmless flag does to its value, and returns how many words the two take.
func (r *reading) spoiled(name string, args []word) int {
	f := r.program.flags[name]
	switch value, glued := strings.CutPrefix(args[0].text, name); {
	case f.never == "" || f.typ == nil:
	case f.typ.all != nil:
		f.typ.all(r, args[1:])
		return len(args)
	case glued && value != "":
		f.typ.check(r, word{text: strings.TrimPrefix(value, "="), known: args[0].known})
	case len(args) > 1 && args[1].known:
		f.typ.check(r, args[1])
		return 2
	}
	return 1
}

// never returns why a flag is never harmless; name is the flag that was looked up, text the whole word.
func (r *reading) never(name, text string) string {
	if reason := r.program.flags[name].never; reason != "" {
		return reason
	}
	if isFlag(text) && !isLong(text) && r.program.bundles() {
		for i := 1; i < len(text); i++ {
			if reason := r.program.flags["-"+text[i:i+1]].never; reason != "" {
				return reason
			}
		}
	}
	return r.program.flags[flagName(text)].never
}

// fix notes why only exactly these words of a task can be remembered.
func (r *reading) fix(reason string) {
	r.fixed = cmp.Or(r.fixed, reason)
}

// naming are the parts of flag names whose value says what is run, read, written, reached or kept.
var naming = strings.Fields("config conf rc file path dir out exec cmd command prog bin shell script plugin require " +
	"load preset import hook root prefix cwd workspace project url host user token env profile target registry stage " +
	"context namespace account region cluster database tenant eval expr code sql query statement " +
	"keep retain retention older")

// takesName reports whether the value of an unknown flag may name a program, a file or a place. A single letter may
// mean anything.
func takesName(flag string) bool {
	if len(flag) == 2 {
		return true
	}
	flag = strings.ToLower(flag)
	if rest, ok := strings.CutPrefix(flag, "--no"); ok { // --no-config, --noout
		rest = strings.TrimPrefix(rest, "-")
		if slices.ContainsFunc(naming, func(part string) bool { return strings.HasPrefix(rest, part) }) {
			return false
		}
	}
	return slices.ContainsFunc(naming, func(part string) bool { return strings.Contains(flag, part) })
}

// switches are values that turn a flag on or off, for programs that read one as the next word.
const switches language.Words = "true false yes no on off 0 1 null none"

// isSwitched reports whether the first word may be followed by a value that turns it on or off.
func isSwitched(args []word) bool {
	return len(args) > 1 && (!args[1].known || switches.Has(strings.ToLower(args[1].text)))
}

func (r *reading) notKnown(text string) string {
	return "nod doesn't know that " + r.name + " with " + quote(text) + " is harmless."
}

func (r *reading) judgeOperands() string {
	types := r.program.operands
	isGone := func(o operand) bool { return o.typ.all != nil || r.has(o.unless...) }
	if slices.ContainsFunc(types, isGone) {
		types = slices.DeleteFunc(slices.Clone(types), isGone)
	}
	if r.program.kind != understood && len(r.program.operands) == 0 {
		types = []operand{{typ: wordTypes["ARG"], many: true}}
	}
	var first string
	for i, w := range r.operands {
		r.at = i
		o, ok := operandAt(types, i, len(r.operands))
		switch {
		case !ok:
			first = cmp.Or(first, "It gives "+r.name+" more operands than nod knows to be harmless.")
		case w.sample != "" && o.typ.hats && o.many && r.program.kind == understood:
			first = cmp.Or(first, r.check(word{text: w.sample, known: true}, o.typ))
		case r.likeOperand(w, o.typ):
		case !w.known && !r.takesUnknown(w, o.typ, r.dashes >= 0 && i >= r.dashes):
			first = cmp.Or(first, "It gives "+r.name+" a word that is known only when it runs.")
		case w.found && !o.typ.names && !o.typ.free:
			r.loose = cmp.Or(r.loose, "It uses a file name as another kind of argument.")
			first = cmp.Or(first, r.loose)
		case r.program == unknown && r.isTelling(w.text), o.typ == wordTypes["ARG"] && strings.HasPrefix(w.text, "@"):
			// It may say what a program does, or name a file of more words.
			r.seen = append(r.seen, markOperand+w.text)
		default:
			first = cmp.Or(first, r.check(w, o.typ))
			if w.glob || w.many {
				first = cmp.Or(first, r.checkMatches(w, types, i, o.typ))
			}
		}
	}
	r.finish()
	if r.edits() && len(r.accesses) == 0 {
		first = cmp.Or(first, quote(r.name)+" is given no file to change.")
	}
	return cmp.Or(first, r.judgePatterns(), r.lacks())
}

// lacks says why a missing flag is needed.
func (r *reading) lacks() string {
	for _, n := range r.program.needs {
		isGiven := r.has(n.flags...) || len(r.operands) > 0 && slices.Contains(n.flags, "OPERAND")
		if (len(n.with) == 0 || r.has(n.with...)) && !isGiven {
			return n.why
		}
	}
	return ""
}

// checkMatches judges operand i, a pattern, by the types of all operands that its matches may become: the first match
// is operand i, and the others come before the last.
func (r *reading) checkMatches(w word, types []operand, i int, own *wordType) (problem string) {
	for at := i; at <= i+1; at++ {
		switch o, ok := operandAt(types, at, len(r.operands)+1); {
		case !ok:
			problem = cmp.Or(problem, quote(w.text)+" may match more names than nod allows for "+r.name+".")
		case o.typ != own:
			problem = cmp.Or(problem, r.check(w, o.typ))
		}
	}
	return problem
}

// takesUnknown reports whether an operand may be unknown until the command runs: text that cannot be a flag that
// matters; the output of a command in place of a file; names of files from known folders.
func (r *reading) takesUnknown(w word, typ *wordType, behindDashes bool) bool {
	t := r.program.traits
	switch {
	case w.stream:
		return typ.streams
	case len(w.below) > 0:
		return typ.streams && r.program.takesNames(w)
	}
	return typ.free && (t[traitRaw] || t[traitGlobs] && r.program.kind == understood || behindDashes && !w.splits)
}

func operandAt(types []operand, i, n int) (operand, bool) {
	many := slices.IndexFunc(types, func(o operand) bool { return o.many })
	switch {
	case many < 0 || i < many:
		if i < len(types) {
			return types[i], true
		}
		return operand{}, false
	case i >= n-(len(types)-many-1) && n > 1:
		return types[len(types)-(n-i)], true
	}
	return types[many], true
}

// edits reports whether the call changes its FILE operands in place.
func (r *reading) edits() bool {
	return slices.ContainsFunc(r.given, func(f string) bool { return r.program.flags[f].edit })
}

// finish works out what depends on the whole call.
func (r *reading) finish() {
	given := append([]string{always}, r.given...)
	deep := slices.ContainsFunc(given, func(f string) bool { return r.program.flags[f].tree })
	kind := Tree
	if slices.ContainsFunc(given, r.program.brief.Has) {
		kind = Look
	}
	r.history(deep)
	if r.edits() {
		for _, a := range slices.Clone(r.accesses) {
			r.reach(Write, a.Path)
		}
	}
	if len(r.accesses) == 0 && deep {
		r.accesses = []Access{{Path: ".", Kind: kind}}
	} else if len(r.accesses) == 0 && r.program.traits[traitHere] {
		r.accesses = []Access{{Path: ".", Kind: Look}}
	}
	r.spend(len(r.only) * (stepsPattern + len(r.accesses)))
	for i := range len(r.accesses) {
		a := &r.accesses[i]
		named := *a
		if deep && a.Kind == Read {
			a.Kind = kind
		}
		if a.Kind != Tree && !deep {
			continue
		}
		a.Only = slices.Concat(a.Only, r.only)
		if len(r.only) > 0 && named.Kind == Read { // a named file is read, whatever filter applies to folders
			r.accesses = append(r.accesses, named)
		}
	}
}

// history notes which files a program that reads a repository shows, as they are now or were at any time.
func (r *reading) history(deep bool) {
	p, name := r.program, strings.ReplaceAll(r.name, " ", "-")
	isBrief := slices.ContainsFunc(r.given, p.brief.Has) && !(r.name == "git show" &&
		slices.ContainsFunc(r.operands, func(w word) bool { return mayBeFile().MatchString(w.text) }))
	isPast := slices.ContainsFunc(r.given, p.past.Has) || p.past.Has(name) && !isBrief
	isWide := r.has("--full-diff", "--follow") || r.name == "git stash show" // which takes no path
	if isPast && (isWide || len(r.specs) == 0 && (r.blobs == 0 || r.revs > 0)) {
		r.specs = append(r.specs, Access{Path: ".", Kind: Tree})
		isPast = !deep || r.revs > 0
	}
	for _, a := range r.specs {
		switch {
		case isPast:
			a.Kind, a.Past = Tree, true
		case len(a.Only) > 0 && deep:
			a.Kind = Tree
		case len(a.Only) > 0:
			a.Kind = Look
		}
		r.accesses = append(r.accesses, a)
	}
}

// mayBeFile matches revisions that may be the id of a file, which git show prints whatever its flags.
var mayBeFile = language.Compiled(`(^|-g)[0-9A-Fa-f]{4,64}(\^\{.*)?$`)

// reach notes an access. For paths given to a task, the user allows only those in the project.
func (r *reading) reach(kind Kind, path string) {
	r.accesses = append(r.accesses, Access{Path: path, Kind: kind})
	if r.program.kind != understood {
		r.args = append(r.args, path)
	}
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
