package shell

import (
	"slices"
	"strings"
	"sync"

	"nod/policy/shell/language"
)

// outsideFile is one of the program files; it says which commands need more than a sandbox offers.
const outsideFile = "outside.txt"

// The kinds of rules in outsideFile.
const (
	needsOutside Level = iota
	needsClients       // if the same command ends the server, all its clients are inside
	needsServer        // a command that starts a program may start the server itself
	needsRepository
)

var outsideRules = map[string]Level{
	"outside": needsOutside, "server": needsClients, "client": needsServer, "repository": needsRepository,
}

// needed holds the rules of outsideFile. They decide what is tried in a sandbox: a missing rule costs a command that
// fails there.
var needed = sync.OnceValue(func() riskBook {
	b, _ := readRules(outsideFile, outsideRules)
	return b
})

// newBranch matches git commands that start a branch at the current commit: they change no file.
var newBranch = language.Compiled(`^(checkout -b|switch (-c|--create)) [A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// needs notes why a part cannot do its work in a sandbox, and whether it changes what a git repository holds.
func (p *Part) needs(name string, args []string) {
	if p.Commits = name == "git" && newBranch().MatchString(strings.Join(args, " ")); p.Commits {
		return
	}
	for _, rule := range needed().rulesOf(name, args) {
		switch {
		case rule.level == needsRepository:
			p.Commits = true
		case rule.level == needsServer:
			p.asks = true
		case p.Outside == "" || p.serves && rule.level == needsOutside:
			p.Outside, p.serves = quote(rule.shown(name, args))+" "+rule.text, rule.level == needsClients
		}
	}
}

// settle decides whether a program is left running. Servers that the command ends can run in a sandbox, because their
// clients run there too.
func (w *walk) settle() {
	isStarted, isKilled := w.Lingers, slices.Contains(w.Programs, "kill")
	w.Lingers = w.Lingers && !isKilled && !slices.Contains(w.Programs, "wait")
	for i := range w.Parts {
		p := &w.Parts[i]
		w.Near = w.Near || p.asks && !isStarted
		if p.serves && (p.ends || p.starts && isKilled) {
			p.Outside = ""
		}
	}
}

// shown returns a program's name, with the first word that the rule is about.
func (r *riskRule) shown(name string, args []string) string {
	for _, arg := range args {
		if len(r.words) > 0 && oneIn(r.words[0], arg, []string{name}) {
			return name + " " + arg
		}
	}
	return name
}
