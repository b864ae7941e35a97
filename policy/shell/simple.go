package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

// maxNested is how deep commands inside commands are read.
const maxNested = 4

// simple judges one simple command: a program and its words.
func (w *walk) simple(c *syntax.CallExpr, s *syntax.Stmt, at places, in pipe) outcome {
	if len(c.Args) == 0 {
		w.assignments(c.Assigns, at)
		w.redirectAll(s, nil, at)
		return same(at)
	}
	var words []word
	for _, arg := range c.Args {
		all := braced(arg)
		for _, each := range all {
			read := w.readWord(each)
			if len(all) > 1 {
				read.refuse("It holds braces outside quotes, which some shells expand.")
			}
			w.look(each, &read, at)
			words = append(words, read)
		}
	}
	var settings []word
	for _, a := range c.Assigns {
		settings = append(settings, w.setting(a, at))
	}
	if slices.ContainsFunc(s.Redirs, feeds) {
		in.from = nil
	}
	first := len(w.Parts)
	out := w.call(words, settings, w.textOf(c, s), at, in)
	w.out = nil
	if first == len(w.Parts) {
		w.redirectAll(s, nil, at)
		return out
	}
	p := w.Parts[first]
	w.redirectAll(s, &p, at)
	w.Parts[first] = p
	if first+1 == len(w.Parts) && len(p.Output) == 0 {
		w.out = p.lines(in)
	}
	return out
}

// feeds reports whether a redirection takes the place of what is piped in.
func feeds(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	return false
}

// maxBraced is how many words one word with braces may become.
const maxBraced = 20

// braced are the words that bash and zsh make of one with braces, such as {a,b}.go. For dash it is one word, which
// names no file of note.
func braced(from *syntax.Word) []*syntax.Word {
	if !slices.ContainsFunc(from.Parts, hasBrace) || multiplies(from) {
		return []*syntax.Word{from}
	}
	split := syntax.Word{Parts: slices.Clone(from.Parts)}
	if !syntax.SplitBraces(&split) {
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

// multiplies reports whether a word may become far too many: each pair of braces multiplies them.
func multiplies(from *syntax.Word) bool {
	pairs, commas := 0, 0
	for _, part := range from.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			pairs += strings.Count(lit.Value, "{")
			commas += strings.Count(lit.Value, ",")
		}
	}
	return pairs > 4 || commas > maxBraced
}

func hasBrace(p syntax.WordPart) bool {
	lit, ok := p.(*syntax.Lit)
	return ok && strings.Contains(lit.Value, "{") && strings.Contains(lit.Value, ",") &&
		!strings.Contains(lit.Value, "..") && !strings.ContainsRune(lit.Value, '\\')
}

// textOf is the text of a command as it stands in the source, with what is fed to it.
func (w *walk) textOf(c *syntax.CallExpr, s *syntax.Stmt) string {
	start, end := int(c.Pos().Offset()), int(c.End().Offset())
	if end > len(w.source) || start > end {
		return ""
	}
	text := w.source[start:end]
	for _, r := range s.Redirs {
		if r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Op == syntax.RdrIn {
			text += " " + w.source[r.Pos().Offset():min(int(r.Word.End().Offset()), len(w.source))]
		}
		if r.Hdoc != nil {
			text += "\n" + w.source[r.Hdoc.Pos().Offset():min(int(r.Hdoc.End().Offset()), len(w.source))]
		}
	}
	return text
}

// assignments judges NAME=value without a program behind it.
func (w *walk) assignments(list []*syntax.Assign, at places) {
	for _, a := range list {
		value := w.setting(a, at)
		name, text, _ := strings.Cut(value.text, "=")
		switch {
		case value.doubt != "", !loopName.MatchString(name), shellNames[name], value.glob, len(w.vars) > maxVariables:
			w.bind("It sets a variable, which can change what programs do.")
		default:
			value.text, value.plain = text, value.plain && ordinaryText(text)
			w.set(name, value)
		}
	}
}

func ordinaryText(s string) bool { return s != "" && strings.Trim(s, ordinary) == "" }

// setting evaluates NAME=value as one word.
func (w *walk) setting(a *syntax.Assign, at places) word {
	if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Name == nil {
		out := word{}
		out.unknown("It sets a variable in a way that nod does not follow.")
		return out
	}
	out := word{known: true, plain: true}
	if a.Value != nil {
		out = w.readWord(a.Value)
		w.look(a.Value, &out, at)
	}
	out.text = a.Name.Value + "=" + out.text
	return out
}

// call judges a program with its words and the variables that are set for it.
func (w *walk) call(words, settings []word, text string, at places, in pipe) outcome {
	if w.calls++; w.calls > maxPrograms {
		w.bind("It starts more than 50 programs.")
	}
	program := newProgram(words)
	w.Programs = append(w.Programs, program)
	name := words[0]
	p := Part{Text: text, Argv: program.Argv, In: at, Within: w.within, whole: program.Whole}
	switch {
	case !name.known || program.Name == "":
		p.Why = "The program's name is known only when it runs."
	case name.glob:
		p.Why = "The program's name is a pattern."
	case !ascii(name.text):
		w.Unreadable = true
		p.Why = "The program's name " + quote(name.text) + " holds letters outside ASCII."
	case name.text == "cd" && len(settings) == 0:
		return w.cd(words[1:], at)
	}
	if p.Why != "" {
		w.Opaque = true
		w.bind(p.Why)
		w.Parts = append(w.Parts, p)
		return same(at)
	}
	w.judge(&p, words, settings, at, in)
	return same(at)
}

func newProgram(words []word) Program {
	p := Program{Whole: true}
	for _, word := range words {
		if !word.known || word.glob {
			p.Whole = false
			break
		}
		p.Argv = append(p.Argv, word.text)
	}
	if len(p.Argv) > 0 {
		p.Name = p.Argv[0]
	}
	return p
}

// judge reads a call by the program's entry, and the commands that it runs.
func (w *walk) judge(p *Part, words, settings []word, at places, in pipe) {
	r, problem := w.resolve(words)
	p.words = Pattern{Words: r.lead, Flags: sorted(r.seen)}
	if p.args = r.args; problem == "" && r.program != unknown {
		p.lead = r.lead
	}
	w.settings(p, r, settings)
	for _, word := range words {
		if problem == "" && word.problem() != "" && r.program.kind == understood {
			problem = word.problem()
		}
	}
	if problem == "" && !words[0].plain {
		problem = "It spells the program's name " + quote(words[0].text) + " with quotes."
	}
	if problem != "" && r.program != unknown && !strings.Contains(words[0].text, "/") {
		r.fix(problem)
	}
	w.describe(p, r, problem)
	p.In, p.given, p.names = w.from(r, at), r.given, r.found()
	for _, a := range r.accesses {
		p.Accesses = reachFrom(p.Accesses, p.In, a)
		if problem = w.checkPath(a.Path, a.Kind == Tree); problem != "" && p.Why == "" {
			p.Reads, p.Why = false, problem
		}
	}
	if p.Repository {
		p.Accesses = reachFrom(p.Accesses, p.In, Access{Path: ".", Kind: Look})
		for _, place := range p.In {
			w.Repositories = appendNew(w.Repositories, place)
		}
	}
	w.remember(p, r, words, in)
	w.inside(p, r, words, at, in)
}

// from are the places that a program works in, which its own flag may change.
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

// resolve finds the entry that the words of a call are read by, and reads them.
func (w *walk) resolve(words []word) (*reading, string) {
	name := words[0].text
	if strings.Contains(name, "/") && programs().find(name) == nil {
		return byPath(words)
	}
	p, head := programs().find(name), programs().heads[name]
	for n := min(len(words), maxName); head.named && n > 1; n-- {
		if sub := programs().find(joined(words[:n])); sub != nil {
			return newReading(sub, words[:n]).run(words[n:])
		}
	}
	switch {
	case p == nil:
		return unknownProgram(words)
	case !head.subs:
		return newReading(p, words[:1]).run(words[1:])
	}
	r := newReading(p, words[:1])
	rest := words[1:]
	for len(rest) > 0 && !r.isOperand(rest[0]) {
		taken, problem := r.word(rest, 0)
		if problem != "" {
			return r, problem
		}
		rest = rest[taken:]
	}
	for n := min(len(rest), maxName-1); n > 0; n-- {
		if sub := programs().find(name + " " + joined(rest[:n])); sub != nil {
			s := newReading(sub, append(words[:1:1], rest[:n]...))
			s.seen, s.fixed, s.folder, s.args, s.accesses = r.seen, r.fixed, r.folder, r.args, r.accesses
			return s.run(rest[n:])
		}
	}
	if len(rest) > 0 && len(p.operands) == 0 && p.kind != told {
		u, problem := unknownProgram(append(words[:1:1], rest...))
		u.seen, u.fixed = append(r.seen, u.seen...), r.fixed
		return u, problem
	}
	if len(rest) == 0 && len(p.operands) == 0 {
		return r, quote(name) + " needs a word that says what to do."
	}
	return r.run(rest)
}

// maxName is how many words the name of a program may have.
const maxName = 4

func joined(words []word) string {
	var out []string
	for _, w := range words {
		if !w.plain || !w.known || w.glob {
			return ""
		}
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

func newReading(p *program, name []word) *reading {
	r := &reading{program: p, dashes: -1}
	for _, w := range name {
		r.lead = append(r.lead, w.text)
	}
	r.name = strings.Join(r.lead, " ")
	return r
}

func (r *reading) run(args []word) (*reading, string) { return r, r.read(args) }

// subcommand matches a word that names what a program does: no flag, no path, no value.
func subcommand(s string) bool {
	return plainWord.MatchString(s) && !strings.ContainsAny(s, ".") && !digits(s)
}

// byPath reads a call of a program that is named by its path. It may be any program, but a person who allows it saw
// the path: then the words mean what they mean to the program of that name.
func byPath(words []word) (*reading, string) {
	named := slices.Clone(words)
	named[0].text = lastPart(words[0].text)
	if p := programs().find(named[0].text); p == nil || p.kind == understood || !words[0].plain {
		return unknownProgram(words)
	}
	r, problem := new(walk).resolve(named)
	r.lead[0] = words[0].text
	if problem != "" {
		r.fix(problem)
	}
	return r, describeProgram(words)
}

// unknown is the entry of all programs that nod knows nothing of.
var unknown = &program{kind: task, why: ""}

// unknownProgram reads a call of a program that nod does not know: its name and perhaps a sub-command lead.
func unknownProgram(words []word) (*reading, string) {
	r := newReading(unknown, words[:1])
	rest := words[1:]
	if len(rest) > 0 && rest[0].known && !rest[0].glob && subcommand(rest[0].text) {
		r.lead, rest = append(r.lead, rest[0].text), rest[1:]
	}
	problem := r.read(rest)
	if problem != "" {
		r.fix(problem)
	}
	return r, describeProgram(words)
}

// settings judges the variables that are set for one command. A person who allows one sees its value.
func (w *walk) settings(p *Part, r *reading, settings []word) {
	for _, s := range slices.Concat(w.exports, settings, r.settings) {
		name, _, _ := strings.Cut(s.text, "=")
		switch {
		case s.doubt != "" || !s.known:
			w.bind("It sets a variable to a value that is known only when it runs.")
		case !harmlessSetting(name):
			r.changed = true
			p.Why = "It sets the variable " + quote(name) + ", which can change what programs do."
			p.words.Flags = sorted(append(p.words.Flags, s.text))
		}
	}
}

// harmlessSettings are variables of the environment that change how programs write, never what they do.
var harmlessSettings = set("LANG LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES CI " +
	"PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE GIT_OPTIONAL_LOCKS MIX_ENV CGO_ENABLED GOOS GOARCH")

func harmlessSetting(name string) bool {
	return harmlessSettings[name] || strings.HasPrefix(name, "LC_")
}

// describe says what a reading makes of a part.
func (w *walk) describe(p *Part, r *reading, problem string) {
	p.Repository = r.program.traits[traitRepo] && problem == ""
	w.Network = w.Network || r.program.traits[traitNetwork]
	if problem == "" && r.program.kind == understood {
		p.Understood = true
		p.Reads = p.Why == "" && !slices.ContainsFunc(r.accesses, func(a Access) bool { return a.Kind >= Write })
		if !p.Reads && p.Why == "" {
			p.Why = quote(r.name) + " writes files."
			if slices.ContainsFunc(r.accesses, func(a Access) bool { return a.Kind == Delete }) {
				p.Why = quote(r.name) + " removes files."
			}
		}
		return
	}
	if p.Why == "" {
		p.Why = problem
	}
	if p.Why == "" {
		p.Why = r.program.why
	}
	if p.Why == "" {
		p.Why = quote(r.name) + " does more than read."
	}
}

// remember works out what a rule or grant for this part would cover.
func (w *walk) remember(p *Part, r *reading, words []word, in pipe) {
	if p.Understood { // then every flag counts: rm -rf is not rm
		p.words.Flags = sorted(append(p.words.Flags, r.given...))
		for _, a := range r.accesses {
			p.args = append(p.args, a.Path)
		}
	}
	if r.program.kind == told || r.fixed != "" || !words[0].plain {
		p.words = exactly(p)
		p.args = nil
	}
	for _, word := range words {
		if word.doubt != "" || !word.known && p.words.Text != "" {
			p.bound = "A word of it is known only when it runs."
		}
	}
	if r.program.traits[traitInput] && len(r.operands) == 0 && in.fed {
		p.bound = "It runs what is piped into it."
	}
	if p.Text == "" {
		p.bound = "It cannot be spelled in one way."
	}
}

// exactly is the pattern that covers a part's text only. Its words and flags serve rules that ask or deny.
func exactly(p *Part) Pattern {
	t := Pattern{Text: p.Text}
	for _, word := range p.Argv {
		if isFlag(word) {
			t.Flags = append(t.Flags, word)
		} else {
			t.Words = append(t.Words, word)
		}
	}
	return t
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// inside goes through the commands that a part runs, and adds them behind it.
func (w *walk) inside(p *Part, r *reading, words []word, at places, in pipe) {
	if len(r.inner) == 0 && r.script == nil {
		place := len(w.Parts)
		w.Parts = append(w.Parts, *p)
		if !p.Understood {
			w.survey(p, words, at)
			w.Parts[place] = *p
		}
		return
	}
	w.interprets = true
	if w.nested == maxNested {
		w.bind("It runs commands inside commands deeper than nod reads.")
		w.Parts = append(w.Parts, *p)
		return
	}
	inFull := r.script != nil && r.fixed == "" && len(r.seen) == 0
	through := !r.changed && (r.program.kind != told && p.bound == "" || inFull)
	w.nested++
	defer func(was bool) { w.nested--; w.within = was }(w.within)
	if through && r.script != nil { // the wrapper itself does nothing but run them
		p.Understood, p.Reads, p.Why = true, true, ""
	}
	if !through {
		p.Understood, p.Reads, w.within = false, false, true
		p.words, p.args = exactly(p), nil
	}
	w.Parts = append(w.Parts, *p)
	if r.script != nil {
		w.script(*r.script, at)
	}
	for _, inner := range r.inner {
		w.innerCall(r, inner, at, in)
	}
}

// innerCall goes through a command that another one runs, for names that it finds or is fed.
func (w *walk) innerCall(r *reading, words []word, at places, in pipe) {
	if len(words) == 0 {
		return
	}
	if words[0].text == "cd" {
		w.bind("It changes the folder in a way that nod does not follow.")
	}
	words = marked(words, r.mark)
	var below []Access // where the names lie that stand for {} or are added
	switch {
	case r.fed && r.takesLines():
		below = in.from
	case r.fed:
	case slices.ContainsFunc(words, isName):
		below = narrowed(r.accesses, r.found())
	default:
		w.call(words, nil, spelled(words), at, pipe{fed: in.fed})
		return
	}
	first := len(w.Parts)
	if r.appends {
		words = append(slices.Clone(words), word{text: "{}", known: true, plain: true})
	}
	w.call(words, nil, spelled(words), at, pipe{})
	for i := first; i < len(w.Parts); i++ {
		w.Parts[i].widen(below, r.appends)
		for _, a := range w.Parts[i].Accesses {
			w.checkPath(a.Path, a.Kind == Tree)
		}
	}
}

// marked are the words of an inner command with {} in place of the mark for a name. A word that holds the mark among
// other text is known only when it runs.
func marked(words []word, mark string) []word {
	if mark == "" {
		return words
	}
	words = slices.Clone(words)
	for i, w := range words {
		switch {
		case w.text == mark:
			words[i] = word{text: "{}", known: w.known, plain: w.plain}
		case strings.Contains(w.text, mark):
			words[i].known = false
		}
	}
	return words
}

// takesLines reports whether xargs makes one name of each line that it is fed.
func (r *reading) takesLines() bool {
	delimiter := r.values["-d"] + r.values["--delimiter"]
	return !r.has("-a", "--arg-file") && (delimiter == "" || delimiter == `\n` || delimiter == `\0`)
}

// found are patterns of the names that a call finds; none when it finds all.
func (r *reading) found() []string {
	if r.lead[0] != "fd" && r.lead[0] != "fdfind" {
		return r.names
	}
	var names []string
	for _, pattern := range r.patterns {
		for _, glob := range language.Globs(pattern) {
			names = append(names, "*"+glob+"*")
		}
	}
	if ending := r.values["-e"] + r.values["--extension"]; ending != "" {
		names = append(names, "*."+ending)
	}
	return names
}

// narrowed are places where only some names are looked for.
func narrowed(list []Access, names []string) []Access {
	out := slices.Clone(list)
	for i := range out {
		out[i].Only = slices.Concat(out[i].Only, names)
	}
	return out
}

// isName reports whether a word stands for the names that find finds.
func isName(w word) bool { return w.text == "{}" }

// widen makes the names that stand for {} in a part what they are: all that lies below some folders.
func (p *Part) widen(below []Access, fed bool) {
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
	for i, a := range p.args {
		if a == "{}" {
			p.args = append(p.args[:i:i], p.args[i+1:]...)
			for _, root := range below {
				p.args = append(p.args, strings.TrimSuffix(root.Path, "/")+"/{}")
			}
			break
		}
	}
	switch {
	case len(below) == 0, len(p.Argv) == 0, p.Argv[0] == "{}", p.words.Text != "":
		p.Reads, p.Understood, p.bound = false, false, "It runs with words that are known only when it runs."
	case fed && !programs().find(p.Argv[0]).takesNames():
		p.Reads, p.Understood, p.bound = false, false, "It is given names that could be flags."
	default:
		return
	}
	if p.Why == "" {
		p.Why = "It is given names that could be flags, or that are known only when it runs."
	}
}

// takesNames reports whether any file's name may stand among the words of a program without harm.
func (p *program) takesNames() bool { return p != nil && p.kind == understood && p.traits[traitGlobs] }

// spelled is the text of words that stand inside another command.
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

// filters are programs that print some of the lines that they are fed, whole, and the flags with which they do.
var filters = map[string]map[string]bool{
	"grep": keepLines, "egrep": keepLines, "fgrep": keepLines,
	"head": set("-n --lines -number"), "tail": set("-n --lines -number"),
	"sort": set("-u -r -n -V -f -k --unique --reverse --numeric-sort --version-sort --key"), "uniq": set(""),
}

var keepLines = set("-v -i -E -F -P -w -x -e --invert-match --ignore-case --extended-regexp --fixed-strings " +
	"--perl-regexp --word-regexp --line-regexp --regexp")

// lines are the folders below which all names lie that a part prints, one in a line; nil when it may print
// anything else.
func (p *Part) lines(in pipe) []Access {
	if !p.Reads || len(p.Argv) == 0 {
		return nil
	}
	if keep, ok := filters[p.Argv[0]]; ok && len(p.Accesses) == 0 {
		if slices.ContainsFunc(p.given, func(f string) bool { return !keep[f] }) {
			return nil
		}
		return in.from
	}
	if !p.printsNames() {
		return nil
	}
	var out []Access
	for _, a := range p.Accesses {
		if isFlag(a.Path) {
			return nil
		}
		out = append(out, Access{Path: a.Path, Kind: Tree, Only: slices.Concat(a.Only, p.names)})
	}
	return out
}

// printsNames reports whether a part prints the names of files below what it reaches, as it would spell them, and
// nothing else.
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
		// Without a type or a name a FIFO may be among them, which never ends for who reads it.
		return has(p.Argv, "-type", "-name", "-iname", "-path", "-regex") &&
			!has(p.Argv, "-printf", "-ls", "-exec", "-H", "-L", "-follow")
	case "fd", "fdfind":
		return true
	case "ls":
		return p.whole && len(p.Argv) == 1
	}
	return false
}

// of is the access to what lies below a place that names are from: to all files there where one is read.
func (a Access) of(kind Kind) Access {
	only := a.Only
	switch kind {
	case Look:
		only = nil
	case Read:
		kind = Tree
	}
	return Access{Path: strings.TrimSuffix(a.Path, "/"), Kind: kind, Only: only}
}

func isFlag(s string) bool { return strings.HasPrefix(s, "-") }
