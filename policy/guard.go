package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	own  []string // absolute, clean and also with links followed; slashes forward
	home string
}

func newGuard(p Places) guard {
	g := guard{home: fold(filepath.ToSlash(filepath.Clean(p.Home)))}
	for _, own := range p.Own {
		own = filepath.Clean(own)
		g.own = append(g.own, fold(filepath.ToSlash(own)))
		if real, ok := resolve(own); ok && real != own {
			g.own = append(g.own, fold(filepath.ToSlash(real)))
		}
	}
	return g
}

// judge says why a change of a path must be asked about, or nothing.
func (g guard) judge(p place) (id, reason string) {
	if p.lost {
		return builtinLost, reasonLost
	}
	if p.afloat { // at best somewhere below the root
		p.clean = "/" + p.clean
	}
	for _, path := range [...]string{p.clean, p.real} {
		if path == "" {
			continue
		}
		if g.isOwn(path) || g.holdsOwn(path) {
			return builtinOwn, reasonOwn
		}
		if name := guardedBy(path); name != "" {
			return builtinGuarded, "it would change a guarded place: " + strings.TrimPrefix(name, "/")
		}
	}
	return "", ""
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

// guarded are ends of paths, in lower case: settings of agents, hooks of git, what runs at log-in, keys.
var guarded = []string{
	".git/config", ".git/hooks", ".gitconfig", ".config/git", ".husky",
	".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".claude.json", ".mcp.json",
	".codex/config.toml", ".codex/hooks.json", ".codex/rules",
	".gemini/settings.json", ".gemini/policies", ".gemini/extensions",
	".config/opencode", ".opencode", "opencode.json", "opencode.jsonc",
	".cursor/mcp.json", ".cursor/hooks.json", ".vscode/settings.json", ".vscode/tasks.json",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".config/fish", ".xprofile", ".xinitrc", ".xsession",
	".config/autostart", ".config/systemd", ".config/environment.d", ".local/share/systemd", ".pam_environment",
	"library/launchagents", "library/launchdaemons", "start menu/programs/startup",
	".ssh", ".gnupg", "/etc", "/var/spool/cron",
}

// guardedBy returns the guarded name that a path ends in or lies within, or "".
func guardedBy(p string) string {
	p = strings.ToLower(p)
	for _, name := range guarded {
		if strings.HasPrefix(name, "/") {
			if isWithin(p, name) {
				return name
			}
			continue
		}
		for rest := p; ; {
			i := strings.Index(rest, "/"+name)
			if i < 0 {
				break
			}
			if rest = rest[i+1:]; isWithin(rest, name) {
				return name
			}
		}
	}
	return ""
}

func fold(s string) string {
	if foldsCase {
		return strings.ToLower(s)
	}
	return s
}
