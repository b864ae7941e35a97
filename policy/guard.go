package policy

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/adrg/xdg"
)

// Places are the folders of this machine that the policy must know by name.
type Places struct {
	Home string   // what "~" means
	Own  []string // where nod keeps its configuration, grants, token and log: files or whole folders
}

// DefaultPlaces are those of the user that runs the program.
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

// A guard knows the files through which an agent could give itself leave, or reach further than a person
// who approved the write had in mind. No rule and no grant lets a change of one pass without a prompt.
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
		if real, ok := resolve(own); ok && real != own {
			g.own = append(g.own, fold(filepath.ToSlash(real)))
		}
	}
	return g
}

// judge says why a change of a path must be asked about; the zero Decision when it need not.
func (g guard) judge(a *access) Decision {
	if a.lost && a.source != fromWords {
		return askLost
	}
	for _, path := range a.paths() {
		if g.isOwn(path) || (a.source != fromWords && g.holdsOwn(path)) {
			return askOwn
		}
		e := guarded().find(path, g.named)
		if e == nil && a.source != fromWords {
			e = guarded().holds(path, g.named, true)
		}
		if e != nil {
			return ask("builtin:guarded", "it would change a guarded place: "+e.text)
		}
	}
	return Decision{}
}

// isOwn reports whether a path is one of nod's own, or in one.
func (g guard) isOwn(p string) bool {
	p = fold(p)
	return slices.ContainsFunc(g.own, func(own string) bool { return isWithin(p, own) })
}

// holdsOwn reports whether a path is a folder with one of nod's own somewhere below.
func (g guard) holdsOwn(p string) bool {
	p = fold(p)
	return slices.ContainsFunc(g.own, func(own string) bool { return isWithin(own, p) })
}

// holdsHome reports whether a path is the home folder or a folder with the home folder somewhere below.
func (g guard) holdsHome(p string) bool { return isWithin(g.home, fold(p)) }

// mentionsOwn reports whether a text that nod cannot read, such as a shell command, names one of nod's own
// files or folders, spelled out or below the home folder.
func (g guard) mentionsOwn(text string) bool {
	text = fold(text)
	return slices.ContainsFunc(g.own, func(own string) bool {
		tail, below := strings.CutPrefix(own, g.home+"/")
		return strings.Contains(text, own) || (below && strings.Contains(text, tail))
	})
}

//go:embed names/guarded.txt
var guardedNames string

// guarded are settings of agents, hooks of git, what runs at log-in, keys.
var guarded = sync.OnceValue(func() *nameList { return newNameList(guardedNames) })

// guardedBy returns the guarded name that a path ends in or lies within, or "".
func guardedBy(p string) string {
	if e := guarded().find(p, homeName()); e != nil {
		return e.text
	}
	return ""
}

func fold(s string) string {
	if foldsCase {
		return strings.ToLower(s)
	}
	return s
}
