package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"nod/policy/shell/language"
)

type walk struct {
	Analysis
	source  string
	refused bool
	vars    map[string]word // variables whose values are known here
	exports []word          // NAME=value for all commands from here on
	out     listing         // what the last command prints

	calls      int  // simple commands so far
	rounds     int  // of loops so far
	nested     int  // depth of scripts inside words
	within     bool // inside a command that is judged as a whole
	interprets bool // a program runs what it is given
	moves      bool // the command contains cd
	joins      bool // the command contains &>
	lines      bool // inside a loop over text known only when it runs
	piped      bool // the enclosing brackets or loop have input

	// How many times longer than what was read the input and the output of the commands here may be.
	fedGrown, grown float64

	said     []string  // texts that a command may be fed or told: the words of all commands so far
	assigned []string  // all values that variables had
	heard    []string  // texts that the enclosing brackets or loop are fed
	listed   []Access  // where all names lie that commands have listed for others
	unseen   places    // where programs read files whose names are known only when they run
	texts    *readings // of texts that may be scripts

	*budget
	*watch // notes what a user should see; nil: nothing is noted
}

// places are the folders that the shell may be in at some point, relative to where it started ("" is that folder).
// There are several when it depends on whether a cd worked.
type places []string

type outcome struct{ ok, failed places }

func same(at places) outcome { return outcome{at, at} }

const maxPlaces = 8

func (p places) and(q places) places {
	out := slices.Clone(p)
	for _, place := range q {
		out = appendNew(out, place)
	}
	return out
}

// pipe is the input of a command in a pipeline.
type pipe struct {
	fed  bool    // something is piped into it
	from listing // what is piped in
	here bool    // a redirection of its own feeds it
	text *string // the redirected text, if it is written in the command and no shell changes it

	programs []string // the programs to its left
	said     []string // texts that they may print
}

func (w *walk) file(f *syntax.File) {
	if len(f.Stmts) == 0 {
		w.refuse("It contains no command.")
	}
	if strings.ContainsRune(w.source, '#') {
		w.comments(f)
	}
	w.statements(f.Stmts, places{""})
	if w.interprets || w.opaque {
		w.DrivesScreen = w.DrivesScreen || namesScreen(w.source)
	}
}

var plainComment = language.Compiled(`^[A-Za-z0-9 ,.:/_#=-]*$`)

// comments refuses comments that an interactive shell, which may not know comments, would read as something else: after
// a command they are more of its words.
func (w *walk) comments(f *syntax.File) {
	syntax.Walk(f, func(node syntax.Node) bool {
		c, ok := node.(*syntax.Comment)
		if !ok {
			return true
		}
		start := int(c.Pos().Offset())
		line := w.source[strings.LastIndexByte(w.source[:start], '\n')+1 : start]
		if strings.TrimSpace(line) != "" || !plainComment().MatchString(c.Text) {
			w.refuse("It contains a comment, which an interactive shell may take for more words.")
		}
		if strings.ContainsAny(c.Text, ";&|`$<>(){}\\\"'*?[]!") {
			w.bind("A shell without comments would run the text of one.")
		}
		return true
	})
}

func (w *walk) statements(list []*syntax.Stmt, at places) places {
	for _, s := range list {
		at = w.statement(s, at, pipe{}).all()
	}
	return at
}

func (o outcome) all() places { return o.ok.and(o.failed) }

func (w *walk) statement(s *syntax.Stmt, at places, in pipe) outcome {
	switch {
	case !w.spend(1):
		return same(at)
	case s.Background:
		w.refuse("It leaves a program running in the background.")
		w.Lingers = true
		own, first := *s, len(w.Parts)
		own.Background = false
		w.apart(func() { w.statement(&own, at, in) })
		for i := first; i < len(w.Parts); i++ {
			w.Parts[i].starts = true
		}
		return same(at)
	case s.Coprocess, s.Disown:
		w.bind("It leaves a program running in the background.")
	case s.Negated:
		own := *s
		own.Negated = false
		out := w.statement(&own, at, in)
		return outcome{out.failed, out.ok}
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if test, is := s.Cmd.(*syntax.TestClause); is {
		call, ok = asCall(test)
	}
	if ok {
		return w.simple(call, s, at, in)
	}
	w.redirectAll(s, nil, at)
	defer w.watchFed(in.programs)()
	said := len(w.said)
	w.overhear(s.Redirs)
	defer func(was bool, heard []string) { w.piped, w.heard = was, heard }(w.piped, w.heard)
	w.heard = w.hear(in.said, w.said[said:])
	w.piped = w.piped || in.fed || slices.ContainsFunc(s.Redirs, feeds)
	switch cmd := s.Cmd.(type) {
	case nil:
		w.refuse("It redirects without a program.")
		return same(at)
	case *syntax.BinaryCmd:
		return w.binary(cmd, at, in)
	default:
		return w.compound(cmd, at)
	}
}

func (w *walk) binary(b *syntax.BinaryCmd, at places, in pipe) outcome {
	switch b.Op {
	case syntax.AndStmt:
		list := chain(b)
		out := w.statement(list[0], at, in)
		w.perhaps(func() {
			for _, s := range list[1:] {
				y := w.statement(s, out.ok, in)
				out = outcome{y.ok, out.failed.and(y.failed)}
			}
		})
		return out
	case syntax.OrStmt:
		x := w.statement(b.X, at, in)
		var y outcome
		w.perhaps(func() { y = w.statement(b.Y, x.failed, in) })
		return outcome{x.ok.and(y.ok), y.failed}
	case syntax.Pipe, syntax.PipeAll:
	default:
		w.bind("It joins commands in a form that nod can't read.")
	}
	if b.Op == syntax.PipeAll {
		w.refuse("It joins commands with |&, which some shells read as running in the background.")
	}
	w.out = listing{}
	var x, y outcome
	first, said := len(w.Programs), len(w.said)
	fed, grown := w.fedGrown, w.grown
	w.grown = 0
	w.perhaps(func() { x = w.statement(b.X, at, in) })
	w.fedGrown, w.grown = w.grown, 0
	defer func() { w.fedGrown, w.grown = fed, max(grown, w.grown) }()
	w.noteListed(w.out.below)
	right := pipe{fed: true, from: w.out, programs: w.Programs[first:], said: w.said[said:]}
	w.perhaps(func() { y = w.statement(b.Y, at, right) })
	if !slices.Equal(x.all(), at) || !slices.Equal(y.all(), at) {
		w.bind("It changes the folder inside a pipeline, which lasts in some shells only.")
	}
	return same(at)
}

// chain returns the commands that && joins: each runs when all before it worked.
func chain(b *syntax.BinaryCmd) []*syntax.Stmt {
	if x, ok := b.X.Cmd.(*syntax.BinaryCmd); ok && x.Op == syntax.AndStmt {
		return append(chain(x), b.Y)
	}
	return []*syntax.Stmt{b.X, b.Y}
}

// asCall returns the call of test that means the same as [[ ]] with one operator and one word.
func asCall(c *syntax.TestClause) (call *syntax.CallExpr, ok bool) {
	unary, ok := c.X.(*syntax.UnaryTest)
	for ok && unary.Op == syntax.TsNot { // whether it is met does not count
		unary, ok = unary.X.(*syntax.UnaryTest)
	}
	if !ok {
		return nil, false
	}
	operand, ok := unary.X.(*syntax.Word)
	call = &syntax.CallExpr{Args: []*syntax.Word{wordOf("test", c.Left), wordOf(unary.Op.String(), unary.OpPos), operand}}
	return call, ok
}

func wordOf(text string, at syntax.Pos) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: at, ValueEnd: at, Value: text}}}
}

// compound judges brackets, conditions and loops. A command with a form it does not know can only be judged as a whole.
func (w *walk) compound(cmd syntax.Command, at places) outcome {
	defer func() { w.out = listing{} }()
	switch cmd := cmd.(type) {
	case *syntax.Subshell:
		w.apart(func() { w.statements(cmd.Stmts, at) })
		return same(at)
	case *syntax.FuncDecl:
		w.watchFunction(cmd)
	case *syntax.Block:
		return same(w.statements(cmd.Stmts, at))
	case *syntax.IfClause:
		return same(w.condition(cmd, at))
	case *syntax.ForClause:
		return same(w.loop(cmd, at))
	case *syntax.DeclClause:
		w.watchSet(cmd.Args)
		if cmd.Variant.Value == "export" && w.export(cmd.Args, at) {
			return same(at)
		}
		for _, a := range cmd.Args {
			w.assigned = append(w.assigned, w.elements(a.Array)...)
			if a.Name != nil && a.Value != nil {
				value := w.readWord(a.Value)
				value.text = a.Name.Value + "=" + value.text
				w.hold(value)
			}
		}
	case *syntax.WhileClause:
		if names, ok := readsLines(cmd); ok {
			return same(w.eachLine(cmd.Do, names, at))
		}
	case *syntax.TimeClause:
		if cmd.Stmt == nil {
			w.bind("It times no command.")
			return same(at)
		}
		if c, ok := cmd.Stmt.Cmd.(*syntax.CallExpr); !ok || len(c.Assigns) > 0 {
			w.refuse("It times words that only some shells treat as a command.")
		}
		return w.statement(cmd.Stmt, at, pipe{})
	}
	w.bind(describe(cmd))
	return same(w.survive(cmd, at))
}

func (w *walk) export(list []*syntax.Assign, at places) bool {
	for _, a := range list {
		value := w.setting(a, at)
		if !value.known || value.problem() != "" || value.glob {
			return false
		}
		w.spend(len(w.exports))
		w.exports = append(slices.Clone(w.exports), value)
		w.hold(value)
	}
	w.refuse("It sets variables, which change what later commands do.")
	return true
}

func (w *walk) condition(c *syntax.IfClause, at places) places {
	if len(c.Cond) == 0 { // else
		return w.statements(c.Then, at)
	}
	at = w.statements(c.Cond, at)
	before := w.vars
	then := w.statements(c.Then, at)
	after := w.vars
	w.vars = before
	if c.Else == nil {
		w.vars = common(before, after)
		return at.and(then)
	}
	out := then.and(w.condition(c.Else, at))
	w.vars = common(after, w.vars)
	return out
}

const maxLoop = 20

// maxRounds bounds the rounds of all loops together: nesting multiplies them.
const maxRounds = 200

// loopName matches variable names that mean nothing to shells and programs, except for shellNames.
var loopName = language.Compiled(`^[a-z][a-z0-9]{0,20}$`)

// shellNames are the lower-case variables that mean something to zsh or to programs.
const shellNames language.Words = "aliases argv builtins cdpath commands fignore fpath functions histchars " +
	"history keymap keymaps mailpath manpath modules options parameters path pipestatus prompt psvar signals " +
	"status watch widgets zsh ftp http https all no proxy rsync random seconds nameddirs userdirs dirstack " +
	"epochtime galiases saliases"

func isLoopName(name string) bool { return loopName().MatchString(name) && !shellNames.Has(name) }

func (w *walk) loop(c *syntax.ForClause, at places) places {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || !words.InPos.IsValid() || !isLoopName(words.Name.Value) {
		w.bind("It contains a loop that nod can't follow.")
		return w.survive(c, at)
	}
	if len(words.Items) > maxLoop {
		w.bind("It contains a loop that runs more often than nod follows.")
		return w.survive(c, at)
	}
	before := w.vars
	defer func() { w.vars = common(before, w.vars) }()
	for i, item := range words.Items {
		if w.rounds++; i > 0 && (w.rounds > maxRounds || w.calls > maxPrograms) {
			w.bind("It contains loops that run more often than nod follows.")
			break
		}
		value := w.readWord(item)
		w.look(item, &value, at)
		if value.splits && value.doubt == "" && len(item.Parts) == 1 {
			at = w.eachLine(c.Do, []string{words.Name.Value}, at)
			continue
		}
		if !value.known || value.hat || value.glob && strings.Contains(value.text, "**") {
			w.bind("It contains a loop over words that are known only when it runs.")
		}
		w.set(words.Name.Value, value)
		at = at.and(w.statements(c.Do, at))
	}
	return at
}

// readsLines reports whether a loop runs once for each line of its input, and returns the variables it sets.
func readsLines(c *syntax.WhileClause) (names []string, ok bool) {
	if c.Until || len(c.Cond) != 1 || len(c.Cond[0].Redirs) > 0 || c.Cond[0].Negated {
		return nil, false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "read" {
		return nil, false
	}
	for _, a := range call.Assigns {
		if a.Name.Value != "IFS" || a.Value != nil && len(a.Value.Parts) > 0 {
			return nil, false
		}
	}
	for _, arg := range call.Args[1:] {
		name := arg.Lit()
		if name == "-r" {
			continue
		}
		if !isLoopName(name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, len(names) > 0
}

// eachLine judges the commands of a loop over lines or words, whose contents are not known.
func (w *walk) eachLine(list []*syntax.Stmt, names []string, at places) places {
	for _, name := range names {
		w.set(name, word{})
	}
	w.eachAssign(list, func(a *syntax.Assign) {
		if _, isSet := w.vars[a.Name.Value]; isSet {
			w.set(a.Name.Value, word{})
		}
	})
	if w.lines {
		w.refuse("It contains loops that run more often than nod follows.")
	}
	if w.multiplies(list) {
		w.refuse(growsInto)
	}
	var after places
	defer func(fed float64, was bool) { w.fedGrown, w.lines = fed, was }(w.fedGrown, w.lines)
	w.lines = true
	length := list[len(list)-1].End().Offset() - list[0].Pos().Offset()
	w.fedGrown = max(w.fedGrown, 1) * max(linesGrow, float64(length))
	w.perhaps(func() { after = w.statements(list, at) })
	if !slices.Equal(at, at.and(after)) {
		w.bind("It changes the folder in a loop that nod can't follow.")
	}
	return at.and(after)
}

// multiplies reports whether what a loop sets may grow by a factor in each round: its assignments use the variables it
// sets more than once.
func (w *walk) multiplies(loop []*syntax.Stmt) bool {
	sets, held := map[string]bool{}, 0
	w.eachAssign(loop, func(a *syntax.Assign) { sets[a.Name.Value] = true })
	w.eachAssign(loop, func(a *syntax.Assign) {
		if a.Append {
			held++
		}
		if a.Value == nil {
			return
		}
		syntax.Walk(a.Value, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && sets[p.Param.Value] {
				held++
			}
			_, isNumber := n.(*syntax.ArithmExp)
			return w.spend(1) && !isNumber
		})
	})
	return held > 1
}

// eachAssign visits each assignment to a name in the statements, at any depth.
func (w *walk) eachAssign(list []*syntax.Stmt, visit func(a *syntax.Assign)) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
				visit(a)
			}
			return w.spend(1)
		})
	}
}

const maxVariables = 50

func (w *walk) set(name string, value word) {
	w.spend(stepsWord * (1 + len(w.vars)))
	next := map[string]word{}
	maps.Copy(next, w.vars)
	next[name] = value
	w.vars = next
}

// survive walks through a form that nod does not follow and judges the statements in it.
func (w *walk) survive(node syntax.Node, at places) places {
	syntax.Walk(node, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		at = at.and(w.statement(s, at, pipe{}).ok)
		return false
	})
	return at
}

// describe says why nod does not follow a form of the shell.
func describe(node syntax.Node) string {
	switch node.(type) {
	case *syntax.WhileClause, *syntax.CaseClause:
		return "It contains a condition or a loop."
	case *syntax.FuncDecl:
		return "It defines a function, which may take the name of a harmless program."
	case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd:
		return "It sets variables or evaluates numbers, which changes later commands."
	case *syntax.TestClause:
		return "It tests with [[ ]], which can run commands."
	case *syntax.ProcSubst:
		return "It runs a command and passes its output as a file."
	case *syntax.ArithmExp:
		return "It evaluates a number, and evaluation can run commands."
	case *syntax.ExtGlob:
		return "It uses an extended pattern, and patterns can run commands in zsh."
	}
	return "It contains a form that nod can't read."
}

// redirectAll judges the redirections of a statement. Those of a simple command belong to its part; others form a part
// of their own.
func (w *walk) redirectAll(s *syntax.Stmt, p *Part, at places) {
	if p == nil && len(s.Redirs) > 0 {
		own := Part{Argv: []string{}, In: at, Understood: true, Reads: true, Within: w.within}
		if w.watch != nil {
			w.standAt(s)
			own.At = w.watch.at
		}
		w.redirectAll(s, &own, at)
		w.Parts = append(w.Parts, own)
		return
	}
	for _, r := range s.Redirs {
		w.redirect(r, s, p, at)
	}
}

func (w *walk) redirect(r *syntax.Redirect, s *syntax.Stmt, p *Part, at places) {
	if r.Hdoc != nil {
		w.document(r, p, at)
		return
	}
	target := w.readWord(r.Word)
	w.look(r.Word, &target, at)
	w.surveyUnseen([]word{target}, Write, at)
	if isSocket(target.text) {
		w.Network = true
		w.Readings = append(w.Readings, Part{Argv: []string{target.text}, In: at, Within: true}) // for rules about hosts
		w.risk(Danger, riskSocket, "")
	}
	if w.harmlessRedirect(r, s) {
		w.joins = w.joins || r.Op == syntax.RdrAll || r.Op == syntax.AppAll
		return
	}
	if r.N != nil && !digits(r.N.Value) {
		w.bind("It redirects a file descriptor that nod doesn't know.")
		return
	}
	switch r.Op {
	case syntax.WordHdoc:
		w.refuse("It feeds a program text written in the command.")
	case syntax.RdrIn:
		isRange := strings.Trim(target.text, "0123456789-") == "" && w.byteAt(int(r.End().Offset())) == '>'
		target.glob, target.wild = target.glob || isRange, target.wild || isRange // <1-9> is a pattern to zsh
		w.input(target, p, at)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		w.output(target, p, at)
	default:
		w.bind("It redirects a file descriptor that nod doesn't know.")
	}
}

// document judges a text that is fed to a program, <<END.
func (w *walk) document(r *syntax.Redirect, p *Part, at places) {
	if p == nil || !p.Understood {
		w.refuse("It feeds a program text written in the command.")
	}
	w.survive(r.Hdoc, at)
	for i, part := range r.Hdoc.Parts {
		switch part := part.(type) {
		case *syntax.CmdSubst:
		case *syntax.Lit:
			var text word
			if text.dollars(r.Hdoc.Parts[i:]); text.varies && !isVerbatim(r) {
				w.bind(text.doubt)
			}
		case *syntax.ParamExp:
			var value word
			w.variable(&value, part, true, false)
			w.fed(p, value.problem())
		default:
			w.fed(p, describe(part))
		}
	}
}

// fed judges a part of a here-document that the shell fills in. A program that is not understood may run it.
func (w *walk) fed(p *Part, problem string) {
	switch {
	case problem != "":
		w.bind(problem)
	case p == nil || !p.Understood:
		w.bind("It feeds a program text that is known only when it runs.")
	}
}

func isSocket(path string) bool {
	return strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/")
}

func (w *walk) input(target word, p *Part, at places) {
	if target.varies && p != nil {
		p.Accesses = append(p.Accesses, anywhere)
	}
	if !target.isName() && !target.isHeld() || p == nil {
		w.bind("It redirects input in a way that nod can't follow.")
		return
	}
	w.checkPath(target.text, false)
	p.Accesses = w.reachFrom(p.Accesses, at, Access{Path: target.text, Kind: Read})
}

func (w *walk) output(target word, p *Part, at places) {
	w.refuse("It writes its output to " + quote(target.text) + ".")
	switch {
	case target.text == "/dev/null":
	case !target.isName() || p == nil || target.problem() != "":
		if target.varies && p != nil {
			p.Accesses = append(p.Accesses, anywhere)
		}
		w.bind("It writes its output where nod can't follow.")
	default:
		p.Output = w.reachFrom(p.Output, at, Access{Path: target.text, Kind: Write})
	}
}

// harmlessRedirect reports whether r throws output away or joins standard output and error.
func (w *walk) harmlessRedirect(r *syntax.Redirect, s *syntax.Stmt) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" && !(r.Op == syntax.RdrIn && r.N.Value == "0") {
		return false
	}
	switch target := r.Word.Lit(); r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return target == "/dev/null"
	case syntax.DplOut:
		// dash and zsh read ">&1>" as ">&" and "1>".
		next := w.byteAt(int(r.Word.End().Offset()))
		return (target == "1" || target == "2") && next != '>' && next != '<'
	case syntax.RdrAll, syntax.AppAll:
		// zsh reads "0&>" as a redirection of 0, bash as the word 0. dash reads "a &>/dev/null b" as "a &", then
		// "b": nothing may follow.
		after := func(word *syntax.Word) bool { return word.Pos().After(r.OpPos) }
		c, ok := s.Cmd.(*syntax.CallExpr)
		before := w.byteAt(int(r.OpPos.Offset()) - 1)
		return target == "/dev/null" && (before < '0' || before > '9') && !(ok && slices.ContainsFunc(c.Args, after))
	}
	return false
}

// byteAt returns the byte at an offset in the source, or 0. Offsets in a script inside a word are different, but such a
// command is never read-only.
func (w *walk) byteAt(offset int) byte {
	if offset < 0 || offset >= len(w.source) {
		return 0
	}
	return w.source[offset]
}

// look notes why a word cannot be read as written, and judges the commands inside it.
func (w *walk) look(from *syntax.Word, read *word, at places) {
	w.refuse(read.unfit)
	if read.doubt != "" {
		w.bind(read.doubt)
	}
	if read.known {
		return
	}
	w.opaque = w.opaque || read.doubt != ""
	if w.watch != nil {
		w.open = true
	}
	first := len(w.Parts)
	w.apart(func() {
		fed, grown := w.fedGrown, w.grown
		w.out, w.fedGrown, w.grown = listing{}, 0, 0
		w.survive(from, at)
		if w.grown >= maxKept {
			w.refuse(growsInto)
		}
		w.fedGrown, w.grown = fed, grown
		if len(from.Parts) == 1 && read.splits && isPipeline(from.Parts[0]) {
			read.below, read.spelled = w.out.below, w.out.spelled
			w.noteListed(read.below)
		}
		w.out = listing{}
	})
	if first+1 == len(w.Parts) && read.doubt == "" {
		read.sample = w.Parts[first].sample(read.text, from)
	}
}

// behindSample and beforeSample match the text that may follow, or precede, a word that may be missing.
var behindSample, beforeSample = language.Compiled(`^([~^:]|\.\.|$)`), language.Compiled(`(^[^-]*\.\.|^)$`)

// sample returns an example of a word's value when the part is the only command inside it, or "".
func (p *Part) sample(text string, from *syntax.Word) string {
	parts := from.Parts
	if q, ok := parts[0].(*syntax.DblQuoted); ok && len(q.Parts) > 0 {
		parts = q.Parts
	}
	_, isFirst := parts[0].(*syntax.CmdSubst)
	switch {
	case !p.Reads || len(p.Output) > 0 || p.entry == nil || p.entry.output == "": // $(<file) runs no program
		return ""
	case isFirst && behindSample().MatchString(text):
		return p.entry.output + text
	case !isFirst && beforeSample().MatchString(text):
		return text + p.entry.output
	}
	return ""
}

// How many times longer than what was read a text may get in a pipeline (maxGrown), where a program keeps it
// (maxKept), and where one keeps a line (maxLine); how many times longer a loop over its lines may make it (linesGrow).
const (
	maxGrown  = 100_000
	maxKept   = 1000
	maxLine   = 10_000
	linesGrow = 32
)

const growsInto = "It may lengthen text until it fills memory or disk."

func (w *walk) grow(r *reading) {
	fed := max(w.fedGrown, 1)
	w.grown = max(w.grown, fed*r.growth())
	keeps := fed >= maxKept && r.program.traits[traitHoards] || fed >= maxLine && r.program.traits[traitWhole]
	if w.grown > maxGrown || keeps {
		w.refuse(growsInto)
	}
}

// isPipeline reports whether a substitution runs one command or one pipeline of them, and nothing else that prints.
func isPipeline(part syntax.WordPart) bool {
	sub, ok := part.(*syntax.CmdSubst)
	if !ok || len(sub.Stmts) != 1 {
		return false
	}
	_, isCall := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	binary, _ := sub.Stmts[0].Cmd.(*syntax.BinaryCmd)
	return isCall || binary != nil && binary.Op == syntax.Pipe
}

// perhaps runs a part of the walk for commands that may not run: variables that they set differently are unknown
// afterwards.
func (w *walk) perhaps(walk func()) {
	before := w.vars
	walk()
	w.vars = common(before, w.vars)
}

// common returns the variables that are set in both maps; a variable whose values differ is unknown.
func common(one, other map[string]word) map[string]word {
	out := map[string]word{}
	for name, a := range one {
		b, ok := other[name]
		switch {
		case !ok:
		case a.known && b.known && a.text == b.text && a.glob == b.glob && a.plain == b.plain:
			out[name] = a
		default:
			out[name] = word{}
		}
	}
	return out
}

// apart runs a part of the walk for a subshell: what it sets is gone afterwards.
func (w *walk) apart(walk func()) {
	vars, exports := w.vars, w.exports
	walk()
	w.vars, w.exports = vars, exports
}

func (w *walk) cd(words []word, at places) outcome {
	w.moves = true
	to := "~"
	switch {
	case len(words) == 1 && words[0].known && !words[0].glob && words[0].text != "-" && words[0].text != "":
		to = words[0].text
	case len(words) > 0:
		w.opaque = true
		w.bind("It changes the folder in a way that nod can't follow.")
		return same(at)
	}
	if len(at) > maxPlaces {
		w.bind("It changes the folder too often to follow.")
		return same(at)
	}
	if strings.ContainsAny(to[:1], "-+") || len(words) == 1 && words[0].hat {
		w.bind("It changes to " + quote(to) + ", which shells read differently.")
		return same(at)
	}
	var ok places
	for _, place := range at {
		next := path.Clean(join(place, to))
		if next == ".." || strings.HasPrefix(next, "../") || strings.ContainsAny(next[:1], "/~") {
			w.Folders = appendNew(w.Folders, next)
		}
		if next == "." {
			next = ""
		}
		ok = ok.and(places{next})
	}
	return outcome{ok, at}
}

func appendNew[S ~[]string](list S, s string) S {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func join(place, p string) string {
	if place == "" || strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	return strings.TrimSuffix(place, "/") + "/" + p
}

// maxAccesses bounds the accesses kept for a part. A command with as many is judged as a whole.
const maxAccesses = 2000

func (w *walk) reachFrom(list []Access, at places, a Access) []Access {
	for _, place := range at {
		if len(list) == maxAccesses || !w.spend(stepsAccess+len(list)/8) {
			break
		}
		full := a
		full.Path = join(place, a.Path)
		if a.Path == "." && place != "" {
			full.Path = place
		}
		is := func(b Access) bool {
			return b.Path == full.Path && b.Kind == full.Kind && b.Past == full.Past && slices.Equal(b.Only, full.Only)
		}
		if full.Path != "" && !slices.ContainsFunc(list, is) {
			list = append(list, full)
		}
	}
	return list
}
