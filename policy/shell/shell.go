// Package shell reads a shell command line without running it and says what it would do.
//
// [Analyze] answers one question with certainty: does this command only read? The answer is yes only when
// every byte, every word, every program, every flag and every operand is on a list of what is known to be
// harmless, in bash, zsh and dash, with the GNU and the BSD tools. There is no list of what is dangerous:
// whatever is missing from the lists is not read-only, with a reason that a person can read. Asking is
// cheap; a command that was wrongly taken for harmless is not.
//
// The lists are data in table.go. Everything else that an [Analysis] tells of a command which is not
// read-only (programs, paths, network) is best effort, for prompts and for rules that ask or deny.
package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxLength is the longest command that is looked at, in bytes.
const MaxLength = 10_000

// maxPrograms is how many programs one command may start and still be read-only.
const maxPrograms = 50

// maxReasons is how many reasons are kept: nobody reads more.
const maxReasons = 8

// Analysis is what [Analyze] found.
//
// A path in Reads and Writes is as the command spells it, joined to the literal folders that cd went to
// before; it is relative to where the shell starts, absolute, or starts with "~/". It is not cleaned:
// "link/../x" is not "x" when link is a symbolic link. A path with *, ? or [ stands for every file that it
// matches. When ReadOnly is true, Reads names every file and folder that the command is told to read.
type Analysis struct {
	ReadOnly bool      // certain to change nothing, run nothing else, reach no network and end by itself
	Programs []Program // in the order of the command, with those that a wrapper such as sudo or sh -c starts
	Reads    []string  // paths that are read
	Deep     bool      // folders in Reads are read with all files in them, as grep -r does, not only listed
	Writes   []string  // paths that are written, made or removed
	Deletes  bool      // something is removed
	Network  bool      // a program that reaches the network is started
	Reasons  []string  // why it is not read-only, one sentence each; empty when it is

	// Opaque means that Programs, Reads or Writes lack something that is known only when the command runs:
	// a variable, a substitution, a script that is not spelled out, or a text that could not be read at all.
	Opaque bool
	// Unreadable means that the text could not be read: hidden characters, a program name in look-alike
	// letters, too long, or no valid shell. No rule should allow it.
	Unreadable bool

	screen bool
}

// Program is one program that a command starts.
type Program struct {
	Name  string   // as the command spells it; empty when it is known only when the command runs
	Argv  []string // its words from the name on, as far as they are literal
	Whole bool     // Argv is all of them
}

// Analyze reads command, as given to a shell with -c. trusted says that the human trusts the folder it
// runs in; only then are git's reading sub-commands read-only, because a repository's configuration can
// make git run programs. Analyze runs nothing and opens no file.
func Analyze(command string, trusted bool) Analysis {
	return analyze(command, trusted, syntax.LangBash)
}

func analyze(command string, trusted bool, lang syntax.LangVariant) Analysis {
	w := walk{trusted: trusted, source: command}
	if problem := unreadable(command); problem != "" {
		return unread(problem)
	}
	w.refuse(doubtful(command))
	parser := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(command), "")
	if err != nil {
		return unread("The command is not valid shell, or not in a form that nod can read.")
	}
	w.file(file)
	return w.finish()
}

func unread(problem string) Analysis {
	return Analysis{Unreadable: true, Opaque: true, Reasons: []string{problem}}
}

// refuse notes why the command is not read-only. An empty problem is none.
func (w *walk) refuse(problem string) {
	if problem == "" {
		return
	}
	w.refused = true
	if len(w.Reasons) < maxReasons && !slices.Contains(w.Reasons, problem) {
		w.Reasons = append(w.Reasons, problem)
	}
}

// finish draws the conclusions that need the whole command.
func (w *walk) finish() Analysis {
	if w.programs > maxPrograms {
		w.refuse("It starts more than 50 programs.")
	}
	if w.changesFolder && w.git {
		w.refuse("It changes the folder and runs git, which may run programs that the other folder names.")
	}
	if w.changesFolder && w.bothOutputs {
		w.refuse("It changes the folder and uses &>, which some shells read as running in the background.")
	}
	w.ReadOnly = !w.refused
	return w.Analysis
}
