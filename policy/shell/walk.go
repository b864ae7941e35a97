package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walk goes through a command in the order in which it runs.
type walk struct {
	Analysis
	source  string
	trusted bool
	refused bool

	programs      int  // simple commands so far
	inPipe        int  // depth of pipelines: cd there may or may not last
	nested        int  // depth of scripts inside words
	changesFolder bool // a cd is there
	git           bool // git is there
	bothOutputs   bool // &> is there
	interprets    bool // a program is there that runs what it is given
}

// places are the folders that the shell may be in at some point, relative to where it started; "" is there
// itself. There are several when it depends on whether a cd worked.
type places []string

// outcome is where the shell may be after a command that worked, and after one that failed.
type outcome struct{ ok, failed places }

// maxPlaces bounds how many places a cd is followed from: each cd may double them.
const maxPlaces = 8

func (p places) and(q places) places {
	out := slices.Clone(p)
	for _, place := range q {
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return out
}

// file judges a whole script.
func (w *walk) file(f *syntax.File) {
	if len(f.Stmts) == 0 {
		w.refuse("It holds no command.")
	}
	if strings.ContainsRune(w.source, '#') {
		w.comments(f)
	}
	w.statements(f.Stmts, places{""})
	w.findScreen()
}

// comments refuses comments: what they hide differs between an interactive shell and a script.
func (w *walk) comments(f *syntax.File) {
	syntax.Walk(f, func(node syntax.Node) bool {
		if _, ok := node.(*syntax.Comment); ok {
			w.refuse("It holds a comment.")
		}
		return true
	})
}

func (w *walk) statements(list []*syntax.Stmt, at places) places {
	for _, s := range list {
		after := w.statement(s, at)
		at = after.ok.and(after.failed)
	}
	return at
}

func (w *walk) statement(s *syntax.Stmt, at places) outcome {
	switch {
	case s.Background, s.Coprocess, s.Disown:
		w.refuse("It leaves a program running in the background.")
	case s.Negated:
		w.refuse("It negates a result with !.")
	}
	for _, r := range s.Redirs {
		w.redirect(r, s, at)
	}
	switch cmd := s.Cmd.(type) {
	case nil:
		w.refuse("It redirects without a program.")
	case *syntax.CallExpr:
		return w.simple(cmd, at)
	case *syntax.BinaryCmd:
		return w.binary(cmd, at)
	default:
		w.refuse(describeCommand(cmd))
		return w.compound(cmd, at)
	}
	return outcome{at, at}
}

func (w *walk) binary(b *syntax.BinaryCmd, at places) outcome {
	switch b.Op {
	case syntax.AndStmt:
		x := w.statement(b.X, at)
		y := w.statement(b.Y, x.ok)
		return outcome{y.ok, x.failed.and(y.failed)}
	case syntax.OrStmt:
		x := w.statement(b.X, at)
		y := w.statement(b.Y, x.failed)
		return outcome{x.ok.and(y.ok), y.failed}
	case syntax.Pipe:
	default:
		w.refuse("It joins commands in a form that nod does not read.")
	}
	w.inPipe++
	w.statement(b.X, at)
	w.statement(b.Y, at)
	w.inPipe--
	return outcome{at, at}
}

// compound looks into loops, conditions, functions and the like, none of which is read-only.
func (w *walk) compound(node syntax.Node, at places) outcome {
	syntax.Walk(node, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok {
			return true
		}
		after := w.statement(s, at)
		at = at.and(after.ok)
		return false
	})
	return outcome{at, at}
}

func describeCommand(cmd syntax.Command) string {
	switch cmd.(type) {
	case *syntax.Subshell, *syntax.Block:
		return "It groups commands in brackets."
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return "It holds a condition or a loop."
	case *syntax.FuncDecl:
		return "It defines a function, which may take the name of a harmless program."
	case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd:
		return "It sets variables or computes, which changes later commands."
	case *syntax.TestClause:
		return "It tests with [[ ]], which can run commands."
	case *syntax.TimeClause:
		return "It measures the time of another command."
	}
	return "It holds a form that nod does not read."
}

// redirect judges one redirection. Only throwing output away and joining outputs are read-only.
func (w *walk) redirect(r *syntax.Redirect, s *syntax.Stmt, at places) {
	target := readWord(r.Word)
	w.look(r.Word, target, at)
	if r.Hdoc != nil {
		w.compound(r.Hdoc, at)
	}
	if w.harmlessRedirect(r, s) {
		w.bothOutputs = w.bothOutputs || r.Op == syntax.RdrAll || r.Op == syntax.AppAll
		return
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		w.refuse("It feeds a program text that stands in the command.")
		return
	case syntax.RdrIn, syntax.DplIn:
		w.refuse("It redirects input.")
		w.reads(at, target.text)
		return
	case syntax.DplOut:
		if digits(target.text) || target.text == "-" {
			w.refuse("It redirects a file descriptor that nod does not know.")
			return
		}
	}
	if strings.HasPrefix(target.text, "/dev/tcp/") || strings.HasPrefix(target.text, "/dev/udp/") {
		w.Network = true
	}
	w.refuse("It writes its output to " + quote(target.text) + ".")
	if target.known && target.text != "/dev/null" {
		w.writes(at, target.text)
	}
}

// harmlessRedirect reports whether r throws output away or joins standard output and error.
func (w *walk) harmlessRedirect(r *syntax.Redirect, s *syntax.Stmt) bool {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" {
		return false
	}
	switch target := r.Word.Lit(); r.Op {
	case syntax.RdrOut, syntax.AppOut:
		return target == "/dev/null"
	case syntax.DplOut:
		// dash and zsh read ">&1>" as ">&" and "1>".
		return (target == "1" || target == "2") && !w.arrowAt(r.Word.End())
	case syntax.RdrAll, syntax.AppAll:
		// zsh reads "0&>" as a redirection of 0, bash as the word 0. dash reads "a &>/dev/null b" as "a &", then
		// "b": nothing may follow.
		return target == "/dev/null" && !w.digitBefore(r.OpPos) && !slices.ContainsFunc(callWords(s), func(word *syntax.Word) bool { return word.Pos().After(r.OpPos) })
	}
	return false
}

// digitBefore reports whether a digit stands right before a place of the source. A script inside a word has
// other places, but is never read-only.
func (w *walk) digitBefore(at syntax.Pos) bool {
	i := int(at.Offset()) - 1
	return i >= 0 && i < len(w.source) && digit(w.source[i])
}

// arrowAt reports whether another redirection stands right at a place of the source.
func (w *walk) arrowAt(at syntax.Pos) bool {
	i := int(at.Offset())
	return i < len(w.source) && (w.source[i] == '>' || w.source[i] == '<')
}

func callWords(s *syntax.Stmt) []*syntax.Word {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		return c.Args
	}
	return nil
}

// simple judges one simple command: a program and its words.
func (w *walk) simple(c *syntax.CallExpr, at places) outcome {
	if len(c.Assigns) > 0 {
		w.refuse("It sets a variable, which can change what programs do.")
		for _, a := range c.Assigns {
			w.compound(a, at)
		}
	}
	if len(c.Args) == 0 {
		return outcome{at, at}
	}
	words := make([]word, len(c.Args))
	fine := true
	for i, arg := range c.Args {
		words[i] = readWord(arg)
		w.look(arg, words[i], at)
		fine = fine && words[i].problem == ""
	}
	return w.call(words, fine, at)
}

// look notes what stands in the way of a word being literal, and goes through the commands inside it.
func (w *walk) look(from *syntax.Word, read word, at places) {
	w.refuse(read.problem)
	if !read.known {
		w.Opaque = true
		w.compound(from, at)
	}
}

// call judges a program with its words. fine says that every word is one a read-only command may hold.
func (w *walk) call(words []word, fine bool, at places) outcome {
	w.programs++
	program := newProgram(words)
	w.Programs = append(w.Programs, program)
	name := words[0]
	switch {
	case !name.known || program.Name == "":
		w.refuse("The program's name is known only when it runs.")
		return outcome{at, at}
	case name.glob:
		w.refuse("The program's name is a pattern.")
		return outcome{at, at}
	case !ascii(name.text):
		w.Unreadable = true
		w.refuse("The program's name " + quote(name.text) + " holds letters outside ASCII.")
	case name.text == "cd":
		return w.cd(words[1:], at)
	}
	accepted := w.judge(words, at)
	if !accepted || !fine {
		w.survey(words, at)
	}
	return outcome{at, at}
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

// judge looks a call up in the tables and reports whether it is accepted.
func (w *walk) judge(words []word, at places) bool {
	name := words[0].text
	if !words[0].plain {
		w.refuse("It spells the program's name " + quote(name) + " with quotes.")
		return false
	}
	var c *call
	var problem string
	if name == "git" {
		w.git = true
		c, problem = readGit(words[1:], w.trusted)
	} else if t, ok := tools()[name]; ok {
		c, problem = t.read(name, words[1:])
	} else {
		w.refuse(describeProgram(words))
		return false
	}
	w.refuse(problem)
	w.Deep = w.Deep || c.deep
	for _, p := range c.paths {
		w.refuse(specialPath(p, c.deep))
		w.reads(at, p)
	}
	return problem == ""
}

// cd follows the shell into a folder below. Anything else would leave the folder that the human knows.
func (w *walk) cd(words []word, at places) outcome {
	w.changesFolder = true
	to := "~"
	switch {
	case len(words) == 1 && words[0].known && !words[0].glob && words[0].text != "-":
		to = words[0].text
	case len(words) > 0:
		w.Opaque = true
		w.refuse("It changes the folder in a way that nod does not follow.")
		return outcome{at, at}
	}
	if len(at) > maxPlaces {
		w.Opaque = true
		w.refuse("It changes the folder too often to follow.")
		return outcome{at, at}
	}
	if w.inPipe > 0 {
		w.refuse("It changes the folder inside a pipeline, which lasts in some shells only.")
	}
	if to == "" || strings.ContainsAny(to[:1], "-+~/") {
		w.refuse("It changes to " + quote(to) + ", which is not a folder below this one.")
	}
	var ok places
	for _, place := range at {
		next := path.Clean(join(place, to))
		if next == ".." || strings.HasPrefix(next, "../") {
			w.refuse("It changes to a folder outside this one.")
		}
		if next == "." {
			next = ""
		}
		ok = ok.and(places{next})
	}
	return outcome{ok, at}
}

// join puts a path behind the folder that it is relative to. It does not clean it.
func join(place, p string) string {
	if place == "" || strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	return strings.TrimSuffix(place, "/") + "/" + p
}

func (w *walk) reads(at places, p string) { w.Reads = addPath(w.Reads, at, p) }

func (w *walk) writes(at places, p string) { w.Writes = addPath(w.Writes, at, p) }

func addPath(list []string, at places, p string) []string {
	if p == "" {
		return list
	}
	for _, place := range at {
		full := join(place, p)
		if p == "." && place != "" {
			full = place
		}
		if !slices.Contains(list, full) {
			list = append(list, full)
		}
	}
	return list
}
