package shell

import (
	"slices"
	"strings"

	"nod/policy/shell/language"
)

// Part is one simple command of a command line: a program and its words.
type Part struct {
	Text string   // as written in the command, with its input
	Argv []string // its words, as far as they are literal
	In   []string // folders that it may run in, relative to where the shell starts ("") or as cd spells them

	// Understood means that Accesses is all that it does; Reads, that it is understood and only reads. With
	// Repository, both hold only where the git repository of the folder names no programs.
	Understood, Reads, Repository bool

	Accesses []Access // what it reads and writes: all of it when Understood, otherwise what its words show
	Output   []Access // files that its output is redirected to, or that the flags of a task say it writes

	// Outside says why it cannot do its work in a sandbox; empty where nod knows of no reason.
	Outside string
	Commits bool // it is git, and changes what the repository holds
	Fed     bool // something is piped into it
	serves  bool // Outside says that it is a server, whose clients are outside
	asks    bool // it asks a server of this computer
	starts  bool // it continues in the background
	ends    bool // its running time is limited

	Why    string // why it does not only read; empty when Reads
	Within bool   // another part runs it and is judged in its place
	At     int    // the byte of the command where it starts; only of [Assess]

	words    Pattern   // what remembering it covers
	examples []example // its words that others may replace
	exact    []string  // with examples, the flags of a pattern for these words only
	free     []string  // those of its flags that nod knows to be harmless
	entry    *program  // the entry it was read with
	args     []string
	lead     []string // the leading words, if an entry says which they are
	bound    string   // why it cannot be remembered by itself
	given    []string // its flags, without values
	names    []string // patterns of the names that it prints
	whole    bool     // Argv is all of its words

	removes bool // something is removed that is not among Accesses

	varies bool // shells disagree on its words; without an Argv it may be any command
}

// Name returns the program with the word for what it does, as in "git push", and the plain words that directly follow;
// empty if the program is not known.
func (p Part) Name() string {
	isValue := func(word string) bool {
		at := slices.Index(p.Argv, word)
		return at > 0 && (choosers.Has(p.Argv[at-1]) || p.entry != nil && p.entry.flags[p.Argv[at-1]].typ != nil)
	}
	words := slices.DeleteFunc(slices.Clone(p.words.Words), isValue)
	for i := 1; i < len(words); i++ {
		after := slices.Index(p.Argv, words[i-1]) + 1
		follows := i == 1 || after < len(p.Argv) && p.Argv[after] == words[i]
		if !follows || !subcommand(words[i]) {
			return strings.Join(words[:i], " ")
		}
	}
	return strings.Join(words, " ")
}

// choosers are the flags whose next word says where or as whom a program works.
const choosers language.Words = "-C -n -u --context --kube-context --profile --region --project --subscription " +
	"--chdir --cwd --directory --prefix --namespace --proxy"

// Work returns the kind of work, as work.txt names it, that a part does without doing more: it is found by the part's
// leading words, and every flag must be known to be harmless. It returns "" if there is none.
func (p Part) Work() string {
	if p.bound != "" || p.words.Text != "" || len(p.words.Words) == 0 {
		return ""
	}
	words := slices.Clone(p.words.Words)
	for _, folder := range []string{"node_modules/.bin/", ".venv/bin/", "venv/bin/"} {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(words[0], "./"), folder); ok {
			words[0] = name
		}
	}
	kind, last := programs().work[strings.Join(words, " ")], len(words)-1
	if kind == "" && workName().MatchString(words[last]) && !strings.Contains(words[last], "..") {
		words[last] = anyName
		kind = programs().work[strings.Join(words, " ")]
	}
	isOdd := func(flag string) bool {
		changes := kind == "builds" && programs().changes.Has(strings.TrimPrefix(flag, markOperand))
		return !changes && !slices.Contains(p.free, flag)
	}
	if slices.ContainsFunc(p.words.Flags, isOdd) {
		return ""
	}
	return kind
}

// anyName stands for the name of a branch, of a tag or of a service.
const anyName = "NAME"

var workName = language.Compiled(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*){0,9}$`)

// Removes reports whether something is removed.
func (p Part) Removes() bool {
	return p.removes && !p.Reads || slices.ContainsFunc(p.Accesses, isRemoved)
}
