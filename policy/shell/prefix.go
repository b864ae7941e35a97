package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// subcommand matches a word that names what a program does: no flag, no path, no value.
var subcommand = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

// Prefix returns the words that a grant for every command like this one may be bound to: the program and its
// sub-command, all literal. It returns nil when there are none, because such a grant would be one for
// anything: an interpreter, a wrapper, a shell, a program that writes wherever it is told, or a program alone.
func (p Program) Prefix() []string {
	if len(p.Argv) < 2 {
		return nil
	}
	words := 2
	if deepPairs[p.Argv[0]+":"+p.Argv[1]] {
		words = 3
	}
	if len(p.Argv) < words || BannedPrefix(p.Argv[:words]) {
		return nil
	}
	return slices.Clone(p.Argv[:words])
}

// Simple returns the words of a command that is one program with literal words and nothing beside it: no other
// command, no redirection, no assignment, nothing that a shell replaces or reads in two ways.
func Simple(command string) (words []string, ok bool) {
	if unreadable(command) != "" || doubtful(command) != "" || strings.ContainsRune(command, '#') {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, isCall := s.Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown || s.Semicolon.IsValid() {
		return nil, false
	}
	for _, arg := range call.Args {
		w := readWord(arg)
		if !w.known || w.glob || w.problem != "" {
			return nil, false
		}
		words = append(words, w.text)
	}
	return words, len(words) > 0
}

// BannedPrefix reports whether a grant for every command that starts with words would be one for anything.
func BannedPrefix(words []string) bool {
	if len(words) < 2 || slices.ContainsFunc(words[1:], func(w string) bool { return !subcommand.MatchString(w) }) {
		return true
	}
	name := words[0]
	if name == "" || strings.TrimLeft(name, ordinary) != "" || strings.ContainsAny(name, "/=") || name != strings.ToLower(name) {
		return true
	}
	name = strings.TrimSuffix(name, ".exe")
	pair := name + ":" + words[1]
	if bannedPairs[pair] || deepPairs[pair] && (len(words) < 3 || bannedThird[words[2]]) {
		return true
	}
	return !namedTasks[name] && (bannedProgram(name) || bannedProgram(unversioned(name)))
}

func bannedProgram(name string) bool {
	_, wraps := wrappers[name]
	_, writes := writers[name]
	_, multiplexes := multiplexers[name]
	return wraps || writes || multiplexes || shells[name] || interpreters[name] || bannedPrograms[name] || screenPrograms[name]
}
