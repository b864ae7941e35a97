package policy

import (
	_ "embed"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"nod/ownfile"
	"nod/policy/shell"
)

//go:embed names/secrets.txt
var secretNames string

var secrets = sync.OnceValue(func() *nameList { return newNameList(secretNames) })

// holdsSecrets reports whether a path is, or is inside of, something that keeps keys, passwords or tokens, going
// by its names alone.
func holdsSecrets(path string) bool { return secrets().find(filepath.ToSlash(path), homeName()) != nil }

// homeName is the home folder in the form in which names are compared.
func homeName() string { return foldName(filepath.ToSlash(homeFolder())) }

// mayMatchSecret reports whether a pattern of paths may select a file that keeps secrets, at whatever depth: a
// wildcard stands for names that are not there yet. A pattern for all files of an ordinary kind, such as *.json,
// is not taken for one that does.
func mayMatchSecret(glob string) bool { return secrets().mayMatch(glob, true) }

// narrowsToSecrets reports whether a pattern that narrows a search is meant for files that keep secrets. One for
// all files narrows nothing.
func narrowsToSecrets(glob string) bool { return secrets().mayMatch(glob, false) }

// Leaks reports whether an access may bring secrets to light, going by its text alone: by the names of places
// that keep them, of folders that have them inside, and by what its patterns may match. A path is relative to a
// folder that nobody knows, absolute, or starts with "~/".
func Leaks(a shell.Access) bool {
	path := filepath.ToSlash(filepath.Clean(a.Path))
	if isWild(path) || strings.Contains(path, "[") {
		if a.Kind != shell.Look && strings.Contains(path, "**") && mayMatchSecret(path) || narrowsToSecrets(path) {
			return true
		}
	}
	return leaksByName(path, homeName(), a.Kind) != nil || slices.ContainsFunc(a.Only, narrowsToSecrets)
}

// leaksByName finds the name by which an access to a path brings secrets to light.
func leaksByName(path, home string, kind shell.Kind) *nameEntry {
	if e := secrets().find(path, home); e != nil || kind != shell.Tree {
		return e
	}
	return secrets().holds(path, home, false)
}

// maxConfig is how much of a file is looked at for secrets, in bytes; a larger one counts as having some.
const maxConfig = 64 << 10

// confidential finds what is not for everybody's eyes in settings of git and package managers.
var confidential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)://[^/\s@]+@|extraheader|passw|secret|token|_auth|api_?key|credential|private`)
})

// isConfidential reports whether a file of settings holds secrets. One that cannot be read counts as such.
func isConfidential(path string) bool {
	text, err := ownfile.ReadPlain(filepath.FromSlash(path), maxConfig)
	return err != nil || confidential().Match(text)
}
