package agent

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// programFolders are the folders in which agents' commands are installed, below the home folder or not. The PATH of the
// calling program, which the desktop may have started, may lack them.
var programFolders = []string{
	"~/.local/bin", "~/bin", "~/.bun/bin", "~/.opencode/bin", "~/.amp/bin", "~/.volta/bin", "~/.npm-global/bin",
	"~/.nvm/versions/node/*/bin", "~/.local/share/fnm/node-versions/*/installation/bin",
	"~/.local/share/mise/installs/*/*/bin",
	"/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin",
}

// Is reports whether an executable is the agent's own: the file that its command leads to, links followed, another
// version next to that, or, if the command is a script, the program of the same npm package. The program that runs a
// script is not the agent: it would run any.
func (a Agent) Is(m Machine, exe string) bool {
	exe = strings.TrimSuffix(exe, " (deleted)") // an update replaces what runs
	return a.Program != "" && exe != "" && slices.ContainsFunc(m.commands(a.Program), func(command string) bool {
		target, err := filepath.EvalSymlinks(command)
		return err == nil && isSameProgram(exe, target, a.Program)
	})
}

func (m Machine) commands(name string) []string {
	var found []string
	if path, err := m.Look(name); err == nil {
		found = append(found, path)
	}
	for _, folder := range programFolders {
		if rest, ok := strings.CutPrefix(folder, "~"); ok {
			folder = m.Home + rest
		}
		paths, _ := filepath.Glob(filepath.Join(folder, name)) // fails for bad patterns only
		found = append(found, paths...)
	}
	return found
}

// version returns the version of a program: that of its npm package, its file's name if that is a version, or otherwise
// what the program itself reports, which may take seconds.
func (m Machine) version(program string) string {
	target, err := filepath.EvalSymlinks(program)
	if err == nil && isVersion().MatchString(filepath.Base(target)) {
		return filepath.Base(target)
	}
	if version := packageVersion(target); version != "" {
		return version
	}
	out, err := m.Run(program, "--version")
	if err != nil {
		return ""
	}
	return versionNumber().FindString(out)
}

func packageVersion(program string) string {
	for folder := filepath.Dir(program); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		text, err := read(filepath.Join(folder, "package.json"))
		if err != nil || text == nil {
			continue
		}
		var p struct {
			Version string
			Bin     any // a path, or paths by name
		}
		if json.Unmarshal(text, &p) != nil || !isVersion().MatchString(p.Version) {
			return ""
		}
		bins, ok := p.Bin.(map[string]any)
		if !ok {
			bins = map[string]any{"": p.Bin}
		}
		for _, path := range bins {
			if path, ok := path.(string); ok && filepath.Join(folder, filepath.FromSlash(path)) == program {
				return p.Version
			}
		}
		return ""
	}
	return ""
}

var (
	isVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+(\.\d+)+[-\w.]*$`) })
	npmPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.*/node_modules/(@[^/]+/)?[^/]+`) })
)

// isSameProgram reports whether an executable is the target of a command, another version of it, or the program of its
// npm package or of one for this system, such as codex-linux-x64 next to codex.
func isSameProgram(exe, target, program string) bool {
	folder, name := filepath.Split(exe)
	if exe == target {
		return true
	}
	if isVersion().MatchString(filepath.Base(target)) {
		return folder == filepath.Dir(target)+string(filepath.Separator) && isVersion().MatchString(name)
	}
	npm := npmPrefix().FindString(filepath.ToSlash(target))
	return npm != "" && strings.TrimSuffix(name, ".exe") == program && strings.HasPrefix(filepath.ToSlash(exe), npm)
}
