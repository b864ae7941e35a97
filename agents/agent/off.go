package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"nod/policy"
)

// Session is how an agent was started, or would be.
type Session struct {
	PID  int    // 0: it does not run
	Dir  string // the folder that it works in; empty: unknown
	Args []string
	Env  func(string) string
}

// Switch turns an agent's hooks off.
type Switch struct {
	Key string // of a setting, with dots; without Files a flag or an environment variable

	// Off is the value that turns them off, alone or in a list.
	Off any

	// Files may have the setting: the last one with it counts; for lists, all. One that begins with { is the text itself.
	Files []string
}

type switchedOff struct {
	key  string
	file string // the file with the setting
	pid  int    // the session that was started that way
}

func (o switchedOff) Error() string {
	switch {
	case o.file != "":
		return fmt.Sprintf("Hooks are switched off in %s (%s): nod isn't asked. Remove that key.", o.file, o.key)
	case o.pid != 0:
		return fmt.Sprintf("Process %d was started with %s: nod isn't asked. Start it without.", o.pid, o.key)
	}
	return fmt.Sprintf("Hooks are switched off by %s in the environment: nod isn't asked. Unset it.", o.key)
}

const maxOff = 5

// off says why a session in the machine's folder, or a running one, does not run nod's hooks.
func (a Agent) off(m Machine) (found []error) {
	if a.Off == nil {
		return nil
	}
	sessions := []Session{{Dir: m.Dir, Env: m.Env}}
	if m.Sessions != nil {
		sessions = append(sessions, m.Sessions(a.Program)...)
	}
	for _, s := range sessions {
		for _, w := range a.Off(m, s) {
			o, is := s.isOff(w)
			o.file = strings.Replace(o.file, m.Home+string(filepath.Separator), "~"+string(filepath.Separator), 1)
			if is && !slices.Contains(found, error(o)) && len(found) < maxOff {
				found = append(found, o)
			}
		}
	}
	return found
}

func (s Session) isOff(w Switch) (o switchedOff, is bool) {
	o = switchedOff{key: w.Key, pid: s.PID}
	switch {
	case strings.HasPrefix(w.Key, "-"):
		_, is = s.Flag(w.Key)
		return o, is
	case w.Files == nil:
		value := strings.ToLower(strings.TrimSpace(s.Env(w.Key)))
		return o, slices.Contains([]string{"1", "true", "yes", "on"}, value)
	}
	for _, file := range w.Files {
		switch value := setting(file, w.Key).(type) {
		case nil:
		case []any:
			if slices.Contains(value, w.Off) {
				o.file, is = file, true
			}
		default:
			o.file, is = file, value == w.Off
		}
	}
	if strings.HasPrefix(o.file, "{") {
		o.file = "--settings"
	}
	if o.file != "" {
		o.pid = 0
	}
	return o, is
}

// Flag returns the value of a flag of the session's command line: after = or in the next word.
func (s Session) Flag(name string) (value string, is bool) {
	for i, arg := range s.Args {
		if arg == "--" {
			break
		}
		if rest, ok := strings.CutPrefix(arg, name+"="); ok {
			value, is = rest, true
		} else if arg == name {
			value, is = strings.Join(s.Args[i+1:min(i+2, len(s.Args))], ""), true
		}
	}
	return value, is
}

// Project returns the paths of a file of the session's project: in the repository around the folder, and then in the
// folder.
func (s Session) Project(names ...string) (paths []string) {
	if !filepath.IsAbs(s.Dir) {
		return nil
	}
	folders := []string{s.Dir}
	for folder := s.Dir; ; folder = filepath.Dir(folder) {
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			folders = []string{folder, s.Dir}
		} else if folder != filepath.Dir(folder) {
			continue
		}
		break
	}
	for _, folder := range slices.Compact(folders) {
		for _, name := range names {
			paths = append(paths, filepath.Join(folder, filepath.FromSlash(name)))
		}
	}
	return paths
}

// System returns a path of settings for all users, on Linux and similar systems, on macOS or on Windows.
func (m Machine) System(linux, darwin, windows string) string {
	path := linux
	switch runtime.GOOS {
	case "darwin":
		path = darwin
	case "windows":
		path = windows
	}
	if m.Root != "" {
		path = filepath.Join(m.Root, path)
	}
	return path
}

// setting returns the value of a key in a settings file; nil if the file lacks it or cannot be read, as for the agent.
func setting(file, key string) (value any) {
	text := []byte(file)
	if !strings.HasPrefix(file, "{") {
		var err error
		if text, err = read(file); err != nil {
			return nil
		}
	}
	table, err := policy.ReadSettings(file, text)
	if err != nil {
		return nil
	}
	value = table
	for part := range strings.SplitSeq(key, ".") {
		inner, _ := value.(map[string]any)
		value = inner[part]
	}
	return value
}

// runningSessions lists this user's processes by /proc, if there is one, as if each were an agent.
func runningSessions() (all []Session) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // fails for bad patterns only
	for _, line := range lines {
		folder := filepath.Dir(line)
		dir, err := os.Readlink(filepath.Join(folder, "cwd"))
		if err != nil {
			continue // another user's
		}
		text, _ := os.ReadFile(line)
		environ, _ := os.ReadFile(filepath.Join(folder, "environ"))
		pid, _ := strconv.Atoi(filepath.Base(folder))
		all = append(all, Session{PID: pid, Dir: dir, Args: strings.Split(string(text), "\x00"),
			Env: func(name string) string { return variable(string(environ), name) }})
	}
	return all
}

func (s Session) runs(program string) bool {
	started := s.Args[:min(2, len(s.Args))]
	if !slices.Contains([]string{"node", "bun"}, filepath.Base(s.Args[0])) {
		started = started[:1]
	}
	return slices.ContainsFunc(started, func(path string) bool { return filepath.Base(path) == program })
}

func variable(environ, name string) string {
	for entry := range strings.SplitSeq(environ, "\x00") {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
