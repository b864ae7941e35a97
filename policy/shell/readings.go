package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Where a program runs what it is told, in a way that nod does not answer for, each of its words, and each text that
// is fed to it, may be a script, and each word may start a command. Rules that deny hold for all of these readings:
// which of them a shell takes depends on its flags, its version and its configuration.

// maxReadings and maxReadText bound how many readings there are of one command, and how long they are together. Where
// there are more, any command may be among them.
const (
	maxReadings = 300
	maxReadText = 64 << 10
)

// readings holds the texts that have been read as scripts, so that each is read once, and counts the rounds of their
// loops.
type readings struct {
	seen   map[string]bool
	size   int
	rounds int
	budget *budget // their own: other readings of a command cost nothing of the command's own budget
}

// runsShell reports whether a program runs commands found among its words or in its input.
func (p *program) runsShell() bool {
	isCode := func(typ *wordType) bool { return typ != nil && (typ.runs || typ.script) }
	for _, f := range p.flags {
		if isCode(f.typ) {
			return true
		}
	}
	return slices.ContainsFunc(p.operands, func(o operand) bool { return isCode(o.typ) })
}

// starts reports whether one of these words may be a flag, or the start of one, whose value is a program to run.
func (p *program) starts(args []string) bool {
	for name, f := range p.flags {
		name = strings.TrimLeft(name, "-")
		if f.typ != nil && f.typ.starts && slices.ContainsFunc(args, func(arg string) bool {
			own, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if len(name) == 1 {
				return (isFlag(arg) && !isLong(arg) || p.traits[traitBundle]) && strings.Contains(arg, name)
			}
			return isFlag(arg) && own != "" && strings.HasPrefix(name, own)
		}) {
			return true
		}
	}
	return false
}

// readOtherwise adds what the words of a call, and the texts that reach it, may mean as commands.
func (w *walk) readOtherwise(words []word, at places, fed []string) {
	all := texts(words)
	for i := range all[1:] {
		w.mayRun(at, all[i+1:], nil)
	}
	for _, text := range slices.Concat(all[1:], w.assigned, fed) {
		w.readText(text, at)
		for i := 2; isFlag(text) && !isLong(text) && i < min(len(text), 8); i++ { // after one or more flags
			w.readText(text[i:], at)
		}
		for _, value, ok := strings.Cut(text, "="); ok; _, value, ok = strings.Cut(value, "=") {
			w.readText(strings.TrimPrefix(value, "!"), at) // git runs the value of an alias after ! in a shell
			if all[0] == "git" {
				w.mayRun(at, append([]string{"git"}, strings.Fields(value)...), nil)
			}
		}
	}
}

func (w *walk) mayRun(at places, words, more []string) {
	if len(w.Readings) > maxReadings || len(more) > 0 && !w.spend(len(words)+len(more)) {
		w.runsAnything()
		return
	}
	if len(more) > 0 {
		words = slices.Concat(words, more)
	}
	w.Readings = append(w.Readings, Part{Argv: words, In: at, Within: true})
}

// readText adds what a text does as a script. A text that is not valid shell is read line by line.
func (w *walk) readText(text string, at places) {
	if w.texts == nil {
		w.texts = &readings{seen: map[string]bool{}, budget: newBudget(text)}
	}
	if w.texts.seen[text] {
		return
	}
	w.texts.seen[text] = true
	w.texts.size += len(text)
	w.texts.budget.spend(stepsParse * len(text))
	if w.texts.budget.isSpent() || w.texts.size > maxReadText || len(w.Readings) > maxReadings || w.nested > maxNested {
		w.runsAnything()
		return
	}
	for _, piece := range pieces(text) {
		own := walk{source: piece.text, nested: w.nested + 1, rounds: w.texts.rounds, texts: w.texts,
			budget: w.texts.budget}
		own.statements(piece.file.Stmts, at)
		w.texts.rounds = own.rounds
		w.Readings = slices.Concat(w.Readings, own.Parts, own.Readings)
	}
}

// runsAnything notes that any command may run, with any file.
func (w *walk) runsAnything() {
	if len(w.Readings) == 0 || !w.Readings[len(w.Readings)-1].varies {
		w.Readings = append(w.Readings, Part{Accesses: []Access{anywhere}, Within: true, varies: true})
	}
}

// say notes the texts of a command that another one may run: each word, and all arguments together.
func (w *walk) say(words []word) {
	if len(words) == 0 {
		return
	}
	all := texts(words)
	for _, text := range all {
		if strings.ContainsAny(text, " ;&|\n") {
			w.said = append(w.said, text)
		}
	}
	w.said = append(w.said, strings.Join(all[1:], " "))
}

// hear joins the texts that reach a command.
func (w *walk) hear(piped, own []string) []string {
	if len(own) == 0 && len(w.heard) == 0 || !w.spend(len(piped)+len(own)+len(w.heard)) {
		return piped
	}
	return slices.Concat(w.heard, piped, own)
}

// overhear notes the texts that redirections feed.
func (w *walk) overhear(list []*syntax.Redirect) {
	for _, r := range list {
		if w.said = append(w.said, w.readWord(r.Word).text); r.Hdoc != nil {
			w.said = append(w.said, literal(r.Hdoc.Parts))
		}
		syntax.Walk(r, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				var words []word
				for _, arg := range c.Args {
					words = append(words, w.readWord(arg))
				}
				w.say(words)
			}
			return true
		})
	}
}
