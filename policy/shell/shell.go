// Package shell reads a shell command line without running it and says what it would do.
//
// [Analyze] answers one question with certainty: does this command only read? The answer is yes only when every byte,
// every word, every program, every flag and every operand is known to be harmless, in bash, zsh and dash, with the GNU
// and the BSD tools. There is no list of what is dangerous: whatever is missing from the lists is not read-only, with a
// reason that a user can read. Asking is cheap; wrongly treating a command as harmless is not.
//
// What nod knows about programs is data, in the folder programs. A command that does more than read is split into its
// parts, so that a user can allow each of them separately. Everything else that an [Analysis] says about such a
// command (paths, network) is best effort, for prompts and for rules that ask or deny.
package shell

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxPrograms bounds the programs that a read-only command may start.
const maxPrograms = 50

// maxReasons bounds the reasons that are kept: users do not read more.
const maxReasons = 8

// Analysis is what [Analyze] found.
type Analysis struct {
	// ReadOnly means that the command certainly changes nothing, runs nothing else, reaches no network and ends by
	// itself, if the git repositories of Repositories name no programs. Then Parts tell all that it reads.
	ReadOnly bool

	Parts        []Part   // its simple commands, in order, including those that a wrapper such as env or sh -c starts
	Readings     []Part   // for rules that ask or deny: what else its words may mean, and so run
	Repositories []string // folders whose git repositories it reads; like those in Folders, as cd spells them
	Remotes      bool     // it prints the addresses of remotes, and only reads where those hold no password or token
	Folders      []string // folders that cd goes to and that do not lie below the one where the shell starts
	Reasons      []string // why it is not read-only, one sentence each; empty when it is

	// Whole says why the command can only be allowed as a whole: more than its parts matters. Empty when
	// it may run as soon as all of its parts may.
	Whole string

	// Programs are the names of the programs that it starts, in the order of the command, with those that a wrapper
	// starts. One that is known only when the command runs is empty.
	Programs []string
	Deletes  bool // something is removed
	Lingers  bool // a program is left running that nothing waits for or ends
	Network  bool // a program that reaches the network is started
	Near     bool // it contacts a server on this computer that it has not started

	// opaque means that Parts lack something that is known only when the command runs: a variable, a
	// substitution, a script that is not spelled out, or a text that could not be read at all.
	opaque bool
	// Unreadable means that the text could not be read: hidden characters, a program name in look-alike
	// letters, too long, or no valid shell. No rule should allow it.
	Unreadable bool

	// DrivesScreen means that a program is started that presses keys, moves the pointer, clicks, types into another
	// terminal or speaks on the session bus. It could answer nod's own prompts, so no rule should allow it. Where the
	// command runs a script in another language, or a program that runs others, the name alone counts, anywhere in the
	// text.
	DrivesScreen bool

	Risks []Risk // what a user should see; only of [Assess]
}

// Analyze reads command, as given to a shell with -c, of at most [language.MaxLength] bytes. It runs nothing and opens
// no file.
func Analyze(command string) Analysis { return analyze(command, syntax.LangBash) }

func analyze(command string, lang syntax.LangVariant) Analysis {
	w := walk{source: command, budget: newBudget(command)}
	if problem := unreadable(command); problem != "" {
		return unread(problem)
	}
	w.refuse(doubtful(command))
	if joins(command) {
		w.bind(isJoined)
	}
	parser := parsers.Get().(*syntax.Parser)
	syntax.Variant(lang)(parser)
	file, err := parser.Parse(strings.NewReader(command), "")
	parsers.Put(parser)
	if err != nil {
		return unread("The command is not valid shell, or nod can't read its form.")
	}
	w.file(file)
	return w.finish()
}

// parsers are reused, because their buffers are most of the memory that a short command takes.
var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.KeepComments(true)) }}

func unread(problem string) Analysis {
	return Analysis{Unreadable: true, opaque: true, Whole: problem, Reasons: []string{problem}}
}

// refuse notes why the command is not read-only. It ignores an empty problem.
func (w *walk) refuse(problem string) {
	if problem == "" {
		return
	}
	w.refused = true
	if len(w.Reasons) < maxReasons && !slices.Contains(w.Reasons, problem) {
		w.Reasons = append(w.Reasons, problem)
	}
}

// bind notes why the command can only be judged as a whole.
func (w *walk) bind(problem string) {
	w.refuse(problem)
	w.Whole = cmp.Or(w.Whole, problem)
}

// checkPath refuses a path that is not an ordinary file, and returns why.
func (w *walk) checkPath(p string, deep bool) string {
	problem := specialPath(p, deep)
	w.refuse(problem)
	return problem
}

// finish draws the conclusions that need the whole command.
func (w *walk) finish() Analysis {
	if w.moves && w.joins {
		w.refuse("It changes the folder and uses &>, which some shells read as running in the background.")
	}
	var more []*Part // parts that do more than read
	for i := range w.Parts {
		p := &w.Parts[i]
		if len(p.Accesses) == maxAccesses || len(p.Output) == maxAccesses {
			w.bind("It names more files than nod can follow.")
		}
		if !p.Within && !p.Reads {
			more = append(more, p)
			w.Whole = cmp.Or(w.Whole, p.bound)
		}
		w.Deletes = w.Deletes || p.Removes()
	}
	slices.SortStableFunc(more, func(a, b *Part) int { return cmp.Compare(b.weight(), a.weight()) })
	others := w.Reasons
	w.Reasons = nil // the worst come first
	for _, p := range more {
		w.refuse(p.Why)
	}
	for _, problem := range others {
		w.refuse(problem)
	}
	if len(w.unseen) > 0 {
		w.readNames()
	}
	if w.isSpent() {
		w.Unreadable, w.opaque = true, true
		w.bind("It would cost nod too much time or memory to read.")
		w.runsAnything()
	}
	w.settle()
	w.ReadOnly = !w.refused
	return w.Analysis
}

// A budget bounds the cost of reading a command, in steps; one step is about the time to copy a few dozen bytes.
// Counting steps rather than time makes the result the same each time.
type budget struct{ left int }

// The steps allowed for any command and for each of its bytes, and what reading costs: a program, a word, a byte of a
// script, a path, which is then looked up on the disk, and a pattern.
const (
	stepsAtLeast = 100_000
	stepsPerByte = 100
	stepsCall    = 150
	stepsWord    = 20
	stepsParse   = 10
	stepsAccess  = 100
	stepsPattern = 2000 // of names, which is compared with all that keep secrets
)

func newBudget(command string) *budget { return &budget{stepsAtLeast + stepsPerByte*len(command)} }

func (b *budget) spend(steps int) bool {
	b.left -= steps
	return !b.isSpent()
}

func (b *budget) isSpent() bool { return b.left < 0 }

// weight orders the reasons why parts are asked about: first what cannot be undone, then what reaches further, then
// what nod knows nothing of.
func (p *Part) weight() int {
	switch {
	case p.removes, slices.ContainsFunc(p.Accesses, isRemoved):
		return 5
	case p.entry == nil:
		return 2
	case p.entry.traits[traitNetwork]:
		return 4
	case p.entry.kind == told:
		return 3
	case p.entry == unknown:
		return 2
	}
	return 1
}
