package shell

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

// maxNested bounds how deep commands inside commands are read.
const maxNested = 4

// simple judges one simple command: a program and its words.
func (w *walk) simple(c *syntax.CallExpr, s *syntax.Stmt, at places, in pipe) outcome {
	if len(c.Args) == 0 {
		w.assignments(c.Assigns, at)
		w.redirectAll(s, nil, at)
		return same(at)
	}
	w.watchAt(c, nil)
	before, said := len(w.Programs), len(w.said)
	words, whole := w.words(c, at)
	var settings []word
	for _, a := range c.Assigns {
		settings = append(settings, w.setting(a, at))
	}
	if in.here = slices.ContainsFunc(s.Redirs, feeds); in.here {
		in.from = listing{}
	}
	in.fed, in.text = in.fed || w.piped, w.fedText(s.Redirs)
	w.overhear(s.Redirs)
	in.said = w.hear(in.said, w.said[said:])
	w.watchAt(c, w.Programs[before:])
	first := len(w.Parts)
	isOdd, more := w.unbraced(whole, settings, at, in)
	for i := range words {
		if words[i].isBraced && (isOdd || isFlag(words[i].text)) {
			words[i].refuse("It contains braces outside quotes, which some shells expand.")
		}
	}
	out := w.call(words, settings, w.textOf(c, s), at, in)
	w.out = listing{}
	if first == len(w.Parts) {
		w.redirectAll(s, nil, at)
		return out
	}
	p := w.Parts[first]
	p.Accesses = append(p.Accesses, more...)
	w.redirectAll(s, &p, at)
	w.Parts[first] = p
	w.watchMade(&p, in)
	if first+1 == len(w.Parts) && len(p.Output) == 0 {
		w.spend(len(p.Accesses) * (1 + len(p.names)))
		w.out = p.lines(in)
	}
	return out
}

// words reads the words of a call. If some have braces, whole holds the words for a shell that does not expand braces.
func (w *walk) words(c *syntax.CallExpr, at places) (words, whole []word) {
	words = make([]word, 0, len(c.Args))
	for _, arg := range c.Args {
		all := braced(arg)
		if len(all) != 1 && whole == nil {
			whole = slices.Clone(words)
		}
		for _, each := range all {
			read := w.readWord(each)
			read.isBraced = len(all) > 1
			if read.isValue && takesValues(words) {
				read.doubt = ""
			}
			w.look(each, &read, at)
			words = append(words, read)
		}
		switch {
		case len(all) != 1:
			whole = append(whole, w.readWord(quotedBraces(arg)))
		case whole != nil:
			whole = append(whole, words[len(words)-1])
		}
	}
	return words, whole
}

// unbraced judges a call for a shell that does not expand braces: whether it may do more than read, and what it reads.
func (w *walk) unbraced(whole, settings []word, at places, in pipe) (isOdd bool, reads []Access) {
	if whole == nil {
		return false, nil
	}
	own := walk{source: w.source, budget: w.budget, vars: w.vars, exports: w.exports, nested: w.nested, piped: w.piped,
		calls: w.calls, fedGrown: w.fedGrown, texts: w.texts}
	own.call(whole, settings, spelled(whole), at, in)
	for _, p := range own.Parts {
		reads = append(reads, p.Accesses...)
	}
	w.texts = own.texts
	w.spend(stepsAccess * len(reads))
	return own.refused || slices.ContainsFunc(own.Parts, func(p Part) bool { return !p.Reads }), reads
}

// quotedBraces returns a word of literal text with its braces quoted.
func quotedBraces(from *syntax.Word) *syntax.Word {
	text := from.Lit()
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start <= 0 || end < start || text[start-1] == '$' {
		return from
	}
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text[:start]},
		&syntax.SglQuoted{Value: text[start : end+1]}, &syntax.Lit{Value: text[end+1:]}}}
}

// takesValues reports whether the program that the words start with may be given the values of variables.
func takesValues(words []word) bool {
	return len(words) > 0 && programs().find(words[0].text).takesValues()
}

func (p *program) takesValues() bool {
	return p != nil && len(p.operands) > 0 && p.operands[0].typ.values
}

// feeds reports whether a redirection replaces what is piped in.
func feeds(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc,
		syntax.DashHdoc, syntax.WordHdoc}, r.Op)
}

// fedText returns the text that a command's only input redirection feeds it, if the command contains that text. It
// returns nil when a shell changes the text, or when a program given the here-document verbatim would read another one.
func (w *walk) fedText(list []*syntax.Redirect) *string {
	i := slices.IndexFunc(list, feeds)
	if i < 0 || slices.ContainsFunc(list[i+1:], feeds) || list[i].N != nil {
		return nil
	}
	r := list[i]
	if r.Op == syntax.WordHdoc {
		if read := w.readWord(r.Word); read.known && read.doubt == "" && !read.glob {
			return &read.text
		}
		return nil
	}
	if r.Hdoc == nil || r.Hdoc.Lit() == "" && len(r.Hdoc.Parts) > 0 { // the shell fills in a part
		return nil
	}
	text := r.Hdoc.Lit()
	if r.Op == syntax.DashHdoc {
		text = leadingTabs().ReplaceAllString(text, "")
	}
	if !isVerbatim(r) && strings.Contains(text, `\`) {
		return nil
	}
	return &text
}

// isVerbatim reports whether a here-document is fed verbatim: its end is quoted.
func isVerbatim(r *syntax.Redirect) bool {
	end := r.Word.Lit()
	return end == "" || strings.Contains(end, `\`)
}

var leadingTabs = language.Compiled(`(?m)^\t+`)

// maxBraced bounds the words that one word with braces may become, maxPairs the pairs of braces in it.
const (
	maxBraced = 20
	maxPairs  = 4
)

// braced returns the words that bash and zsh make of a word with braces, such as {a,b}.go. For dash it is one word,
// which names no file of note.
func braced(from *syntax.Word) []*syntax.Word {
	pairs, splits := 0, false
	for _, part := range from.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			pairs += strings.Count(lit.Value, "{")
			splits = splits || hasBrace(lit.Value)
		}
	}
	split := syntax.Word{Parts: slices.Clone(from.Parts)}
	if !splits || pairs > maxPairs || !syntax.SplitBraces(&split) {
		return []*syntax.Word{from}
	}
	var words []*syntax.Word
	for word, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(words) == maxBraced {
			return []*syntax.Word{from}
		}
		words = append(words, word)
	}
	return words
}

func hasBrace(s string) bool {
	return strings.Contains(s, "{") && strings.Contains(s, ",") && !strings.Contains(s, "..") && !strings.Contains(s, `\`)
}

// between returns the source between two positions, or "". The parser sets the end of some commands after the source,
// or before their start, as in coproc NAME A=1.
func (w *walk) between(from, to syntax.Pos) string {
	end := min(int(to.Offset()), len(w.source))
	return w.source[min(int(from.Offset()), end):end]
}

// textOf returns the source text of a command with its input, preceded by the variables that matter to it.
func (w *walk) textOf(c *syntax.CallExpr, s *syntax.Stmt) string {
	text := w.between(c.Pos(), c.End())
	if text == "" || int(c.End().Offset()) > len(w.source) {
		return ""
	}
	for _, r := range s.Redirs {
		if r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Op == syntax.RdrIn {
			text += " " + w.between(r.Pos(), r.Word.End())
		}
		if r.Hdoc != nil {
			text += "\n" + w.between(r.Hdoc.Pos(), r.Hdoc.End())
		}
	}
	var set []string
	for _, value := range w.exports {
		set = append(set, "export "+spelled([]word{value}))
	}
	for _, name := range slices.Sorted(maps.Keys(w.vars)) {
		if value := w.vars[name]; strings.Contains(text, "$"+name) || strings.Contains(text, "${"+name) {
			set = append(set, name+"="+cmp.Or(spelled([]word{value}), value.text))
		}
	}
	return strings.Join(append(set, text), "; ")
}

// assignments judges NAME=value with no program after it.
func (w *walk) assignments(list []*syntax.Assign, at places) {
	w.watchSet(list)
	for _, a := range list {
		value := w.setting(a, at)
		name, _, _ := strings.Cut(value.text, "=")
		if value.doubt != "" || !isLoopName(name) || value.glob || len(w.vars) > maxVariables {
			w.bind("It sets a variable, which can change what programs do.")
		}
		w.hold(value)
	}
}

// hold notes what NAME=value sets, whatever the name: rules that deny hold for what is done with it. HOME stays what it
// is, for it may be set in a branch that does not run.
func (w *walk) hold(value word) {
	name, text, _ := strings.Cut(value.text, "=")
	value.text, value.plain = text, value.plain && text != "" && strings.Trim(text, ordinary) == ""
	if value.doubt == "" && name != "HOME" && len(w.vars) <= maxVariables {
		w.set(name, value)
	}
}

// setting evaluates NAME=value as one word.
func (w *walk) setting(a *syntax.Assign, at places) word {
	if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Name == nil {
		out := word{}
		out.unknown("It sets a variable in a way that nod can't follow.")
		w.apart(func() { w.survive(a, at) })
		w.assigned = append(w.assigned, w.elements(a.Array)...)
		return out
	}
	out := word{known: true, plain: true}
	if a.Value != nil {
		out = w.readWord(a.Value)
		w.look(a.Value, &out, at)
	}
	w.assigned = append(w.assigned, out.text)
	out.text = a.Name.Value + "=" + out.text
	return out
}

// elements returns the text of each element of an array, and of each joined with those after it.
func (w *walk) elements(a *syntax.ArrayExpr) []string {
	var list, rest []string
	for i := 0; a != nil && i < len(a.Elems) && w.spend(stepsWord*len(a.Elems)); i++ {
		if value := a.Elems[i].Value; value != nil {
			list = append(list, w.readWord(value).text)
		}
	}
	for i := range list {
		rest = append(rest, strings.Join(list[i:], " "))
	}
	return slices.Concat(list, rest)
}

// call judges a program with its words and the variables that are set for it.
func (w *walk) call(words, settings []word, text string, at places, in pipe) outcome {
	if !w.spend(stepsCall + stepsWord*len(words)) {
		return same(at)
	}
	if w.calls++; w.calls > maxPrograms {
		w.bind("It starts more than 50 programs.")
	}
	name, argv := words[0], literals(words)
	if end := slices.IndexFunc(words, func(word word) bool { return !word.known || word.glob }); end >= 0 {
		argv = literals(words[:end])
		w.mayRun(at, texts(words), strings.Fields(strings.Join(w.assigned, " ")))
	}
	p := Part{Text: text, Argv: argv, In: at, Within: w.within, whole: len(argv) == len(words)}
	program := ""
	if len(argv) > 0 {
		program = argv[0]
		w.DrivesScreen = w.DrivesScreen || drives(baseName(program), argv[1:])
		p.needs(baseName(program), texts(words[1:]))
	}
	w.Programs = append(w.Programs, program)
	if w.watch != nil {
		p.At = w.watch.at
	}
	isAssessed := w.assess(words, settings, in)
	switch {
	case program == "":
		p.Why = "The program's name is known only when it runs."
	case !ascii(name.text):
		w.Unreadable = true
		p.Why = "The program's name " + quote(name.text) + " contains letters outside ASCII."
	case name.text == "cd" && len(settings) == 0:
		return w.cd(words[1:], at)
	}
	if w.say(words); strings.Contains(words[0].text, " ") { // several words, unless it is quoted
		w.readText(strings.Join(texts(words), " "), at)
	}
	if p.Why != "" {
		if w.opaque = true; name.varies || name.glob {
			w.runsAnything()
		}
		for _, text := range slices.Concat(w.said, w.assigned) {
			w.mayRun(at, strings.Fields(text), texts(words[1:]))
		}
		w.readOtherwise(words, at, w.said)
		w.bind(p.Why)
		w.Parts = append(w.Parts, p)
		return same(at)
	}
	first := len(w.Parts)
	w.judge(&p, words, settings, at, in)
	if !isAssessed {
		w.assessUnread(&p, words, first)
	}
	return same(at)
}

func (w *walk) judge(p *Part, words, settings []word, at places, in pipe) {
	r, problem := w.resolve(words)
	w.grow(r)
	shown := cmp.Or(r.seems, r)
	problem = cmp.Or(problem, shown.feed(in, w.source))
	p.words, p.entry = Pattern{Words: r.lead, Flags: r.counting()}, r.program
	extends := func(f string) bool { return r.program.extends(flagName(f)) }
	p.free = slices.DeleteFunc(slices.Concat(r.given, r.limits), extends)
	if p.args = r.args; problem == "" && r.program != unknown {
		p.lead = r.lead
	}
	w.settings(p, r, settings)
	if r.program.kind == understood {
		for _, word := range words {
			if problem = cmp.Or(problem, word.doubt); word.unfit != lineEnd || !r.program.traits[traitLines] {
				problem = cmp.Or(problem, word.unfit)
			}
		}
	}
	if problem == "" && !words[0].plain {
		problem = "It spells the program's name " + quote(words[0].text) + " with quotes."
	}
	byPath := strings.Contains(words[0].text, "/") && programs().find(words[0].text) == nil
	if problem != "" && r.program != unknown && !byPath {
		r.fix(problem)
	}
	w.describe(p, r, problem)
	p.removes = removesUnseen(shown, words)
	p.In, p.given, p.names = w.from(r, at), r.given, r.found()
	for _, a := range shown.accesses {
		p.Accesses = w.reachFrom(p.Accesses, p.In, a)
		if problem != "" {
			continue
		}
		if special := w.checkPath(a.Path, a.Kind == Tree); special != "" && p.Why == "" {
			p.Reads, p.Why = false, special
		}
	}
	for _, path := range shown.outputs {
		p.Output = w.reachFrom(p.Output, p.In, Access{Path: path, Kind: Write})
	}
	if p.Repository {
		p.Accesses = w.reachFrom(p.Accesses, p.In, Access{Path: ".", Kind: Look})
		for _, place := range p.In {
			w.Repositories = appendNew(w.Repositories, place)
		}
	}
	w.vary(p, r, words)
	w.remember(p, r, words, in)
	p.bound = cmp.Or(p.bound, r.loose)
	if !p.Understood && (problem != "" || len(shown.inner) == 0 && shown.script == nil) {
		w.survey(p, shown, words, at)
	}
	w.inside(p, shown, problem, at, in)
	isFilled := shown.script != nil && (strings.Contains(*shown.script, "$") || strings.Contains(*shown.script, "{}"))
	name := baseName(words[0].text) // of a flag in dash, where time is no keyword, and of - in zsh
	mayRun := shown.program.runsShell() || isFlag(name) || shells.Has(name)
	if (!p.Understood || isFilled) && (mayRun || shown.program.starts(texts(words[1:]))) {
		w.readOtherwise(words, p.In, in.said)
	}
	w.watchFedText(shown, words, at, in)
}

var anywhere = Access{Path: "/", Kind: Tree, Only: []string{"?*"}}

// vary judges a call whose words some shells read differently, which nod does not work out: it may reach any file, and
// run any command if its words are code. So rules that deny apply to it.
func (w *walk) vary(p *Part, r *reading, words []word) {
	if p.varies = slices.ContainsFunc(words, func(w word) bool { return w.varies }); !p.varies {
		return
	}
	if r.program.takesFiles() {
		p.Accesses = append(p.Accesses, anywhere)
	}
	if r.program.traits[traitCode] {
		w.runsAnything()
	}
}

// feed judges what is fed to a program as its first operand, if the program treats it so. If the text is known only
// when it runs, everything that the command spells out counts.
func (r *reading) feed(in pipe, command string) string {
	isGiven := len(r.operands) > 0
	if !r.program.traits[traitFed] || isGiven && r.operands[0].known && in.text == nil {
		return ""
	}
	typ := r.program.operands[0].typ
	if in.text == nil {
		spelled := command + "\n" + strings.ReplaceAll(command, `\n`, "\n") // as printf and $'...' have it
		r.check(word{text: spelled, known: true}, typ)
		return quote(r.name) + " takes a text that is known only when it runs."
	}
	problem := r.check(word{text: *in.text, known: true}, typ)
	if isGiven {
		return quote(r.name) + " is given two texts."
	}
	return problem
}

// from returns the folders that a program works in, which a flag of its own may change.
func (w *walk) from(r *reading, at places) places {
	if r.folder == "" {
		return at
	}
	var out places
	for _, place := range at {
		out = out.and(places{join(place, r.folder)})
	}
	return out
}

func (b *budget) resolve(words []word) (*reading, string) {
	name := words[0].text
	if strings.Contains(name, "/") && programs().find(name) == nil {
		return b.byPath(words)
	}
	p := programs().find(name)
	if sub, n := longest(name, words[1:]); sub != nil && words[0].plain {
		return b.newReading(sub, words[:n+1]).run(words[n+1:])
	}
	switch {
	case p == nil:
		return b.unknownProgram(words)
	case !programs().subs[name]:
		return b.newReading(p, words[:1]).run(words[1:])
	}
	r := b.newReading(p, words[:1])
	rest := words[1:]
	for len(rest) > 0 && !r.isOperand(rest[0]) {
		taken, problem := r.word(rest, 0)
		if problem != "" {
			return r, problem
		}
		rest = rest[taken:]
	}
	if sub, n := longest(name, rest); sub != nil {
		s := b.newReading(sub, append(words[:1:1], rest[:n]...))
		s.seen, s.fixed, s.folder, s.args, s.accesses = r.seen, r.fixed, r.folder, r.args, r.accesses
		s.limits, s.outputs, s.examples = r.limits, r.outputs, r.examples
		return s.run(rest[n:])
	}
	if len(rest) > 0 && len(p.operands) == 0 && p.kind != told {
		u, problem := b.unknownProgram(append(words[:1:1], rest...))
		u.seen, u.fixed = append(r.seen, u.seen...), cmp.Or(r.fixed, u.fixed)
		u.examples = append(r.examples, u.examples...)
		return u, problem
	}
	if len(rest) == 0 && len(p.operands) == 0 {
		return r, quote(name) + " needs a subcommand."
	}
	return r.run(rest)
}

const maxName = 4

func longest(name string, words []word) (sub *program, n int) {
	isPlain := func(w word) bool { return w.plain && w.known && !w.glob }
	for n < min(len(words), maxName-1) && isPlain(words[n]) {
		n++
	}
	for ; n > 0; n-- {
		if sub = programs().find(name + " " + strings.Join(literals(words[:n]), " ")); sub != nil {
			return sub, n
		}
	}
	return nil, 0
}

func (b *budget) newReading(p *program, name []word) *reading {
	lead := literals(name)
	return &reading{budget: b, program: p, dashes: -1, lead: lead, name: strings.Join(lead, " ")}
}

func (r *reading) run(args []word) (*reading, string) { return r, r.read(args) }

// subcommand matches a word that names what a program does: no flag, no path, no value.
func subcommand(s string) bool {
	return plainWord().MatchString(s) && !strings.ContainsAny(s, ".") && !digits(s)
}

// isSubcommand also accepts words such as db:migrate, for programs that nod does not know.
func isSubcommand(s string) bool { return subcommand(strings.ReplaceAll(s, ":", "_")) }

// byPath reads a call of a program named by its path. It may be any program, but a user who allows it saw the path, so
// its words are read as those of the known program with that name.
func (b *budget) byPath(words []word) (*reading, string) {
	named := slices.Clone(words)
	named[0].text = lastPart(words[0].text)
	if p := programs().find(named[0].text); p == nil || p.kind == understood || !words[0].plain {
		return b.unknownProgram(words)
	}
	r, problem := b.resolve(named)
	r.lead[0] = words[0].text
	if problem != "" {
		r.fix(problem)
	}
	return r, describeUnknown(words)
}

var unknown = &program{kind: task}

// unknownProgram reads a call of a program that nod does not know: its name leads, perhaps with a subcommand.
func (b *budget) unknownProgram(words []word) (*reading, string) {
	r := b.newReading(unknown, words[:1])
	rest := words[1:]
	if len(rest) > 0 && rest[0].known && !rest[0].glob && isSubcommand(rest[0].text) {
		r.lead, rest = append(r.lead, rest[0].text), rest[1:]
	}
	if problem := r.read(rest); problem != "" {
		r.fix(problem)
	}
	if name := baseName(words[0].text); name != words[0].text && programs().find(name) != nil {
		named := slices.Clone(words) // its name resembles a known one, as /bin/rm and RM.EXE resemble rm
		named[0].text = name
		r.seems, _ = b.resolve(named)
	}
	return r, describeUnknown(words)
}

func (w *walk) settings(p *Part, r *reading, settings []word) {
	settings = slices.Concat(w.exports, settings, r.settings)
	w.spend(stepsWord * len(settings))
	for _, s := range settings {
		name, value, _ := strings.Cut(s.text, "=")
		switch {
		case s.doubt != "" || !s.known:
			w.bind("It sets a variable to a value that is known only when it runs.")
		case projectSettings.Has(name) && harmlessSetting(s):
			r.exports = append(r.exports, s)
			p.words.Flags = sorted(append(p.words.Flags, markSetting+s.text))
			if name != "MIX_ENV" && value != "" {
				p.free = append(p.free, markSetting+s.text)
			}
		case !harmlessSetting(s):
			if r.changed = true; loaders.Has(name) {
				w.risk(Danger, riskSettings, name)
			}
			w.readText(value, p.In)
			p.Why = "It sets the variable " + quote(name) + ", which can change what programs do."
			p.words.Flags = append(p.words.Flags, markSetting+s.text)
		}
	}
	p.words.Flags = sorted(p.words.Flags)
}

// harmlessSetting reports whether NAME=value changes how programs write, never what they do.
func harmlessSetting(s word) bool {
	name, value, _ := strings.Cut(s.text, "=")
	typ := programs().settings[name]
	if kind, _, ok := strings.Cut(name, "_"); ok && typ == nil {
		typ = programs().settings[kind+"_*"]
	}
	return typ != nil && (value == "" || typ.check(&reading{}, word{text: value, known: true, plain: true}) == "")
}

// projectSettings are variables that decide what a task builds or tests: allowing it with one does not allow it
// without. To a program that only reads they mean nothing.
const projectSettings language.Words = "CI CGO_ENABLED GOOS GOARCH MIX_ENV"

// counting returns the flags that a permission for the call includes: every flag of an understood program, for rm -rf
// is not rm; of a task, those that only a user can allow, and, if one restrains it, all others, which may undo that.
func (r *reading) counting() []string {
	flags := slices.Clone(r.seen)
	if len(r.limits) > 0 || r.program.kind == understood {
		isLimit := func(name string) bool {
			return slices.ContainsFunc(r.limits, func(l string) bool { return flagName(l) == name })
		}
		flags = append(flags, r.limits...)
		flags = append(flags, slices.DeleteFunc(slices.Clone(r.given), isLimit)...)
	}
	return sorted(flags)
}

func (w *walk) describe(p *Part, r *reading, problem string) {
	p.Repository = r.program.traits[traitRepo] && problem == ""
	showsReflog := r.name == "git reflog" || r.name == "git reflog show" || // with the commands that moved a branch
		r.program.traits[traitRepo] && r.has("-g", "--walk-reflogs")
	w.Remotes = w.Remotes || r.remotes || r.program.traits[traitRemotes] || showsReflog
	w.Network = w.Network || r.program.traits[traitNetwork]
	if problem == "" && r.program.kind == understood {
		p.Understood = true
		isWritten := func(a Access) bool { return a.Kind == Write }
		switch {
		case p.Why != "":
		case slices.ContainsFunc(r.accesses, isRemoved):
			p.Why = quote(r.name) + " removes files."
		case slices.ContainsFunc(r.accesses, isWritten):
			p.Why = quote(r.name) + " writes files."
		}
		p.Reads = p.Why == ""
		return
	}
	p.Why = cmp.Or(p.Why, problem, r.program.why, quote(r.name)+" does more than read.")
}

// remember works out what a rule or grant for this part would cover.
func (w *walk) remember(p *Part, r *reading, words []word, in pipe) {
	if p.Understood {
		for _, a := range r.accesses {
			p.args = append(p.args, a.Path)
		}
	}
	if p.examples = r.examples; len(p.examples) > 0 {
		p.exact, p.words.Flags = p.words.Flags, r.withExamples(p.words.Flags)
	}
	if r.program.kind == told || r.fixed != "" || !words[0].plain {
		p.words = exactly(p)
		p.args = nil
	}
	for _, word := range words {
		if word.doubt != "" || !word.known && p.words.Text != "" {
			p.bound = "One of its words is known only when it runs."
		}
	}
	isCode := r.program.traits[traitCode] && !r.program.traits[traitNetwork] // mostly in its words or a file
	isInput := func(word word) bool { return strings.HasSuffix(word.text, "-") || word.text == "-s" }
	p.Fed = in.fed && !in.here
	if r.program.traits[traitInput] && len(r.operands) == 0 && in.fed || p.words.Text != "" && p.Fed &&
		(!isCode || slices.ContainsFunc(words, isInput)) {
		p.bound = "It may run what is piped into it."
	}
	if r.program.traits[traitFed] && len(r.operands) == 0 && (in.text == nil || in.fed && p.words.Text != "") {
		p.bound = "It takes a text that is known only when it runs."
	}
	if p.Text == "" {
		p.bound = "It can be spelled in several ways."
	}
}

// exactly returns the pattern that covers a part's exact text only. Its words and flags serve rules that ask or deny.
func exactly(p *Part) Pattern {
	words, flags := divide(p.Argv)
	return Pattern{Text: p.Text, Words: words, Flags: flags}
}

func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

func (w *walk) inside(p *Part, r *reading, problem string, at places, in pipe) {
	if len(r.inner) == 0 && r.script == nil {
		w.Parts = append(w.Parts, *p)
		return
	}
	w.interprets = true
	if w.nested == maxNested {
		w.risk(Caution, RiskOther, "")
		w.bind("It runs commands inside commands deeper than nod reads.")
		w.runsAnything()
		w.Parts = append(w.Parts, *p)
		return
	}
	plainly := r.program.kind != told && p.bound == ""
	if r.script != nil { // what only the survey treated as a script may be any other value
		plainly = r.fixed == "" && len(r.seen) == 0
	}
	through := problem == "" && !r.changed && plainly
	w.nested++
	defer func(was bool) { w.nested--; w.within = was }(w.within)
	if through && r.script != nil { // the wrapper does nothing but run its commands
		p.Understood, p.Reads, p.Why = true, true, ""
	}
	if !through {
		p.Understood, p.Reads, w.within = false, false, true
		if problem == "" { // otherwise remember did this
			p.words, p.args = exactly(p), nil
		}
	}
	w.Parts = append(w.Parts, *p)
	defer func(was []word) { w.exports = was }(w.exports)
	w.exports = slices.Concat(w.exports, r.exports)
	if r.script != nil {
		w.script(*r.script, at)
	}
	below, first := w.below(r, in), len(w.Parts)
	for _, inner := range r.inner {
		w.innerCall(r, inner, below, at, in)
	}
	for i := first; i < len(w.Parts); i++ {
		w.Parts[i].ends = w.Parts[i].ends || r.lead[0] == "timeout"
	}
}

// below returns where the names lie that replace {} in the commands that a call runs, or are appended to them.
func (w *walk) below(r *reading, in pipe) []Access {
	switch {
	case r.fed && r.takesLines():
		return in.from.below
	case r.fed:
		return nil
	}
	names := r.found()
	if !w.spend(len(r.accesses) * (1 + len(names))) {
		return nil
	}
	below := slices.Clone(r.accesses)
	for i := range below {
		below[i].Only = slices.Concat(below[i].Only, names)
	}
	return below
}

// innerCall judges a command that another one runs for the names that it finds or is fed.
func (w *walk) innerCall(r *reading, words []word, below []Access, at places, in pipe) {
	if len(words) == 0 {
		return
	}
	if words[0].text == "cd" {
		w.bind("It changes the folder in a way that nod can't follow.")
	}
	isName := func(word word) bool { return word.text == "{}" && (r.finds || !word.found) }
	isSpelled, isWhole := r.fed && in.from.spelled && r.takesLines(), r.takesZeros() && !in.from.cut
	if isSpelled {
		words = slices.Clone(words)
		for i := range words {
			words[i].spelled = words[i].listed
			words[i].listed = words[i].listed && !isWhole
		}
	}
	switch {
	case isSpelled && isWhole:
	case r.fed:
		for _, text := range in.said {
			w.mayRun(at, texts(words), strings.Fields(text))
		}
	case slices.ContainsFunc(words, isName):
		if !r.finds {
			words = marked(words, word{text: "{}", many: true, listed: true})
		}
	default:
		w.call(words, nil, spelled(words), at,
			pipe{fed: in.fed || in.here, text: in.text, programs: in.programs, said: in.said})
		return
	}
	first := len(w.Parts)
	w.call(words, nil, spelled(words), at, pipe{said: in.said})
	for i := first; i < len(w.Parts); i++ {
		if all := len(w.Parts[i].Accesses) + len(below)*w.Parts[i].marks(); !w.spend(stepsAccess * all) {
			return
		}
		if len(below) == 0 && w.Parts[i].Understood && w.Parts[i].marks() > 0 {
			w.unseen = w.unseen.and(w.Parts[i].In)
		}
		w.Parts[i].widen(below)
		for _, a := range w.Parts[i].Accesses {
			w.checkPath(a.Path, a.Kind == Tree)
		}
	}
}

// takesLines reports whether xargs reads each line of its input as one name.
func (r *reading) takesLines() bool {
	delimiter := r.values["-d"] + r.values["--delimiter"]
	return !r.has("-a", "--arg-file") && (delimiter == "" || delimiter == `\n` || delimiter == `\0`)
}

func (r *reading) takesZeros() bool {
	delimiter := r.values["-d"] + r.values["--delimiter"]
	return delimiter == `\0` || delimiter == "" && r.has("-0", "--null")
}

// spellsNames reports whether names that start with this path can only be read as paths, never as flags.
func spellsNames(start string) bool { return spelledPath().MatchString(start) }

var spelledPath = language.Compiled(`^[A-Za-z0-9_./~][A-Za-z0-9_./~-]*$`)

// found returns patterns of the names that find or fd finds, or that grep picks out of those piped into it.
func (r *reading) found() []string {
	isFilter := language.Words("grep egrep fgrep").Has(r.lead[0]) && len(r.accesses) == 0
	if !isFilter && r.lead[0] != "fd" && r.lead[0] != "fdfind" {
		return r.names
	}
	names := slices.Clone(r.only)
	isText := r.has("-g", "--glob", "-F", "--fixed-strings") || r.lead[0] == "fgrep"
	isPath := r.has("-p", "--full-path")
	for _, pattern := range r.patterns {
		if isText {
			names = append(names, pattern, "*"+pattern+"*")
		}
		if !isText || r.has("--regex") {
			rest, hasEnd := ".*", strings.HasSuffix(pattern, "$")
			pattern = strings.Trim(pattern, "^$")
			if strings.Contains(inBrackets().ReplaceAllString(pattern, ""), "|") {
				pattern = "(" + pattern + ")"
			} else if hasEnd {
				rest = ""
			}
			names = append(names, language.Glob(".*"+pattern+rest, isPath))
		}
	}
	if ending := r.values["-e"] + r.values["--extension"]; ending != "" {
		names = append(names, "*."+ending)
	}
	return names
}

// inBrackets matches brackets of a regular expression, within which | ends no alternative of the whole.
var inBrackets = language.Compiled(`\([^()]*\)`)

func (p *Part) marks() (n int) {
	for _, a := range p.Accesses {
		if lastPart(a.Path) == "{}" {
			n++
		}
	}
	return n
}

// widen replaces {} among a part's accesses by everything below the folders where the names lie.
func (p *Part) widen(below []Access) {
	var all []Access
	for _, a := range p.Accesses {
		if lastPart(a.Path) != "{}" {
			all = append(all, a)
			continue
		}
		for _, root := range below {
			all = append(all, root.of(a.Kind))
		}
	}
	p.Accesses = all
	if i := slices.Index(p.args, "{}"); i >= 0 {
		p.args = slices.Concat(p.args[:i], p.args[i+1:])
		for _, root := range below {
			p.args = append(p.args, strings.TrimSuffix(root.Path, "/")+"/{}")
		}
	}
	if len(below) == 0 || len(p.Argv) == 0 || p.Argv[0] == "{}" || p.words.Text != "" {
		p.Reads, p.Understood, p.bound = false, false, "It runs with words that are known only when it runs."
		p.Why = cmp.Or(p.Why, p.bound)
	}
}

// takesNames reports whether names that a command prints may safely be among the words of a program.
func (p *program) takesNames(w word) bool {
	return p.kind == understood && (p.traits[traitGlobs] || p.traits[traitEnded] && w.spelled)
}

func spelled(words []word) string {
	var out []string
	for _, w := range words {
		text, err := syntax.Quote(w.text, syntax.LangBash)
		if err != nil || !w.known || w.glob {
			return ""
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// A listing is the output of a command that prints file names, one in a line.
type listing struct {
	below   []Access // the folders that contain them all; nil: it may print anything
	spelled bool     // each starts with the path of such a folder
	cut     bool     // a program that reads lines may have cut names that hold line ends
}

func (p *Part) lines(in pipe) listing {
	if !p.Reads || len(p.Argv) == 0 {
		return listing{}
	}
	filter := programs().find(p.Argv[0])
	switch {
	case filter != nil && filter.keeps != "" && len(p.Accesses) == 0:
		if slices.ContainsFunc(p.given, func(f string) bool { return !filter.keeps.Has(f) }) {
			return listing{}
		}
		return listing{below: p.picks(in.from.below), spelled: in.from.spelled, cut: true}
	case !p.printsNames():
		return listing{}
	}
	out := listing{spelled: !language.Words("git ls").Has(p.Argv[0])}
	for _, a := range p.Accesses {
		if isFlag(a.Path) {
			return listing{}
		}
		out.below = append(out.below, Access{Path: a.Path, Kind: Tree, Only: slices.Concat(a.Only, p.names)})
		if a.Path == "." && p.Argv[0] != "find" || !spellsNames(a.Path) { // most leave ./ out
			out.spelled = false
		}
	}
	return out
}

// picks adds the names that a filter such as grep asks for to those of a listing, so that a secret that it names counts
// as named. The others stay, since its patterns match anywhere in a path. What -v leaves out is not asked for, unless
// nod cannot read the pattern.
func (p *Part) picks(below []Access) []Access {
	if len(p.names) == 0 {
		return below
	}
	below = slices.Clone(below)
	var only, picked []string
	for i := range below {
		if i == 0 || !slices.Equal(below[i].Only, only) { // most are alike, and many
			only = below[i].Only
			picked = p.picked(only)
		}
		below[i].Only = picked
	}
	return below
}

func (p *Part) picked(only []string) []string {
	picked := slices.Clone(only)
	if len(only) == 0 {
		picked = []string{"*"}
	}
	isRest := slices.Contains(p.given, "-v") || slices.Contains(p.given, "--invert-match")
	isOther := func(pattern string) bool { return !ofKind().MatchString(pattern) }
	isKind := len(only) > 0 && !slices.ContainsFunc(only, isOther)
	for _, name := range p.names {
		switch {
		case isRest && (len(only) > 0 || name != language.AnyName):
		case isKind && !strings.ContainsAny(name, ".?"):
			for _, kind := range only {
				picked = append(picked, name+kind[1:])
			}
		default:
			picked = append(picked, name)
		}
	}
	return picked
}

// ofKind matches patterns for all files of a kind, such as *.go.
var ofKind = language.Compiled(`^\*(\.[a-z0-9]+)+$`)

// printsNames reports whether a part prints nothing but the names of files below what it reaches, spelled from its
// paths.
func (p *Part) printsNames() bool {
	has := func(list []string, flags ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(list, f) })
	}
	switch p.Argv[0] {
	case "git":
		return len(p.Argv) > 1 && p.Argv[1] == "ls-files" && len(p.given) == 0
	case "grep", "egrep", "fgrep", "rg":
		return has(p.given, "--files", "--files-with-matches", "-l") && !has(p.given, "--label")
	case "find":
		// Without a type or a name it may print a FIFO, and reading that never ends.
		return has(p.Argv, "-type", "-name", "-iname", "-path", "-regex") &&
			!has(p.Argv, "-printf", "-ls", "-exec", "-H", "-L", "-follow")
	case "fd", "fdfind":
		return true
	case "ls":
		return p.whole && len(p.Argv) == 1
	}
	return false
}

// of returns the access to what is below the place of names: reading one name counts as reading all files there.
func (a Access) of(kind Kind) Access {
	only := a.Only
	switch kind {
	case Look:
		only = nil
	case Read:
		kind = Tree
	}
	return Access{Path: cmp.Or(strings.TrimSuffix(a.Path, "/"), a.Path), Kind: kind, Only: only}
}

func isFlag(s string) bool { return strings.HasPrefix(s, "-") }
