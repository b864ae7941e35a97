package shell

import (
	"regexp"
	"slices"
	"strings"
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
