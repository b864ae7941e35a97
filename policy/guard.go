package policy

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"golang.org/x/text/unicode/norm"

	"nod/ownfile"
	"nod/policy/git"
	"nod/policy/shell"
	"nod/policy/shell/language"
)

// Places are the folders of this machine that the policy must know by name.
type Places struct {
	Home string   // what "~" means
	Own  []string // where nod keeps its configuration, grants, token and log: files or whole folders
}

// DefaultPlaces returns the places of the user that runs the program.
func DefaultPlaces() Places {
	return Places{Home: homeFolder(), Own: []string{
		filepath.Join(xdg.ConfigHome, "nod"), filepath.Join(xdg.DataHome, "nod"),
		filepath.Join(xdg.StateHome, "nod"), filepath.Join(xdg.RuntimeDir, "nod"),
	}}
}

func homeFolder() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	return xdg.Home
}

// A guard knows the files through which an agent could grant itself permission, or reach further than the user who
// approved the write intended. No rule and no grant lets one of them change without a prompt.
type guard struct {
	own   []string // absolute, clean and also with links followed; slashes forward
	home  string
	named string // home, as names are compared
}

func newGuard(p Places) guard {
	home := filepath.ToSlash(filepath.Clean(p.Home))
	g := guard{home: fold(home), named: foldName(home)}
	for _, own := range p.Own {
		own = filepath.Clean(own)
		g.own = append(g.own, fold(filepath.ToSlash(own)))
		if real, _ := resolve(own); real != "" && real != own { // as far as nod can look
			g.own = append(g.own, fold(filepath.ToSlash(real)))
		}
	}
	return g
}

func (g guard) judge(a *access) Decision {
	for _, path := range a.paths() {
		if g.isOwn(path) || (a.source != fromWords && g.holdsOwn(path)) {
			return askOwn
		}
		e := guarded().find(path, g.named)
		if e == nil && a.source != fromWords {
			e = guarded().holds(path, g.named, true)
		}
		if e != nil {
			return ask("builtin:guarded", "it would change a protected path: "+e.text)
		}
	}
	if a.lost && a.source != fromWords {
		return askLost
	}
	return Decision{}
}

func (g guard) isOwn(p string) bool {
	p = fold(p)
	return slices.ContainsFunc(g.own, func(own string) bool { return isWithin(p, own) })
}

func (g guard) holdsOwn(p string) bool {
	p = fold(p)
	return slices.ContainsFunc(g.own, func(own string) bool { return isWithin(own, p) })
}

func (g guard) holdsHome(p string) bool { return isWithin(g.home, fold(p)) }

// mentionsOwn reports whether a text that nod cannot read, such as a shell command, names one of nod's own files or
// folders, spelled out or relative to the home folder.
func (g guard) mentionsOwn(text string) bool {
	if foldsCase {
		text = strings.ToLower(text)
	}
	return slices.ContainsFunc(g.own, func(own string) bool {
		tail, below := strings.CutPrefix(own, g.home+"/")
		return strings.Contains(text, own) || (below && strings.Contains(text, tail))
	})
}

// GuardedIn returns a test whether a path is, or is inside, a guarded place. It goes by names, and by what git's
// configuration and settings of agents name in the project, of which it may miss some if there is an error. A link also
// counts if such a place can be below it.
func GuardedIn(project string) (test func(path string, isLink bool) bool, err error) {
	obeyed, err := GitObeys(project)
	files, failed := agentsRun(project)
	obeyed, home := append(obeyed, files...), homeName()
	return func(path string, isLink bool) bool {
		name := filepath.ToSlash(path)
		return guarded().find(name, home) != nil || isLink && guarded().holds(name, home, true) != nil ||
			slices.ContainsFunc(obeyed, func(place string) bool {
				return isWithin(path, place) || isLink && isWithin(place, path)
			})
	}, errors.Join(err, failed)
}

// GitObeys returns the places in a project that git obeys: see [git.Obeyed].
func GitObeys(project string) ([]string, error) { return git.Obeyed(project, homeFolder()) }

// fold returns a path in the one form that stands for all that open the same file here.
func fold(s string) string {
	if !foldsCase {
		return s
	}
	if runtime.GOOS == "windows" {
		s = asWindowsOpens(s)
	}
	return strings.ToLower(norm.NFC.String(s))
}

// IsSecret reports whether a path is, or is inside, a place that keeps keys, passwords or tokens, going by its names
// alone.
func IsSecret(path string) bool { return secrets().find(filepath.ToSlash(path), homeName()) != nil }

// homeName returns the home folder in the form in which names are compared.
func homeName() string { return foldName(filepath.ToSlash(homeFolder())) }

// narrowsToSecrets reports whether a pattern that narrows a search is meant for files that keep secrets. A pattern for
// all files narrows nothing.
func narrowsToSecrets(glob string) bool { return secrets().mayMatch(glob, false) }

// Leaks reports whether an access may reveal secrets, going by its text alone. The path is relative to an unknown
// folder, absolute, or starts with "~/".
func Leaks(a shell.Access) bool {
	path := filepath.ToSlash(filepath.Clean(a.Path))
	if isWild(path) || strings.Contains(path, "[") {
		if a.Kind != shell.Look && strings.Contains(path, "**") && secrets().mayMatch(path, true) || narrowsToSecrets(path) {
			return true
		}
	}
	return leaksByName(path, homeName(), a.Kind) != nil || slices.ContainsFunc(a.Only, narrowsToSecrets)
}

func leaksByName(path, home string, kind shell.Kind) *nameEntry {
	if e := secrets().find(path, home); e != nil || kind != shell.Tree {
		return e
	}
	return secrets().holds(path, home, false)
}

// maxConfig is how many bytes of a file are searched for secrets; a larger file counts as having some.
const maxConfig = 64 << 10

var confidential = language.Compiled(
	`(?i)://[^/\s@]+@|extraheader|passw|secret|token|_auth|api_?key|credential|private`)

// IsConfidential reports whether a file of settings holds secrets. A file that cannot be read counts as such.
func IsConfidential(path string) bool {
	text, err := ownfile.ReadPlain(filepath.FromSlash(path), maxConfig)
	return err != nil || confidential().Match(text)
}
